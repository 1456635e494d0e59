-- Lists an instance among those of its definition, and has it looked after, before a
-- board-period of it is created.
--
-- KEYS  1 sorted set   instances of the definition, by name
--       2 sorted set   agenda: instance to when it is looked after next, µs since 1970
--       3 sorted set   listing: instance to when this listing may be forgotten, likewise
--       4 hash         definitions
-- ARGV  1 instance
--       2 max          instances there may be
--       3 definition   that the caller knows, of the field 4, where there is no field 5
--       6 counts       µs from now for which a board-period may be created
--       7 margin       µs that clocks of masters may differ
--       8 wait         µs from now until it is looked after, at the latest
--       9 closes       when its period does, µs since 1970; 0 for never
-- Result {'ok', until when a board-period may be created}, {'stale'} (it is defined
--         otherwise) or {'full'}
-- Cost   O(log n)

local instances, agenda, listing, definitions = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local instance, max = ARGV[1], tonumber(ARGV[2])
local definition, field, leaving = ARGV[3], ARGV[4], ARGV[5]
local counts, margin, wait, closes = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])

local call, format = redis.call, string.format

-- So that nothing comes to be by a definition that was changed because there was
-- nothing of it.
local held = call('HMGET', definitions, field, leaving)
if held[1] ~= definition or held[2] then return {'stale'} end
if not call('ZSCORE', instances, instance) then
  if call('ZCARD', instances) >= max then return {'full'} end
  call('ZADD', instances, 0, instance)
end
local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local look = now + wait
if closes > 0 and closes < look then look = closes end
-- What is due sooner, of an older period, stays so; plan.lua sees to the rest.
call('ZADD', agenda, 'LT', format('%.0f', look), instance)
call('ZADD', listing, 'GT', format('%.0f', now + counts + margin), instance)
return {'ok', format('%.0f', now + counts)}
