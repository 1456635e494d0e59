-- Lists an instance of a definition, and puts it on the agenda of housekeeping. A node calls it
-- before an update or a build creates a board-period of the instance.
--
-- KEYS  1 sorted set   instances of the definition, all with the score 0
--       2 sorted set   agenda: instance to when its housekeeping is due, µs since 1970
--       3 sorted set   listing: instance to when housekeeping may forget this listing, µs since 1970
--       4 hash         definitions
--       5 sorted set   pending instances of the definition, likewise: a frozen board keeps back all that they hold
-- ARGV  1 instance
--       2 max          instances that the definition may have
--       3 definition   that the caller knows, as the hash has it
--       4 field        of the definition
--       5 leaving      field that exists while the definition is being deleted
--       6 counts       µs from now during which a caller may create a board-period
--       7 margin       µs by which the clocks of masters may differ
--       8 wait         µs from now until the first housekeeping, at the latest
--       9 closes       when the period closes, µs since 1970; 0: never
--      10 pending      '1': list it among the pending instances, unless it is listed; '0': among the others
-- Result {'ok', until when a caller may create a board-period, µs since 1970}, {'stale'} (the
--         definition has changed, or is being deleted) or {'full'}
-- Cost   O(log n)

local instances, agenda, listing, definitions, pendings = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local instance, max = ARGV[1], tonumber(ARGV[2])
local definition, field, leaving = ARGV[3], ARGV[4], ARGV[5]
local counts, margin, wait, closes = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local pending = ARGV[10] == '1'

local call, format = redis.call, string.format

-- A caller may change a definition in any way as long as it has no instances. After such a change,
-- no caller may create an instance of the former definition.
local held = call('HMGET', definitions, field, leaving)
if held[1] ~= definition or held[2] then return {'stale'} end
if not call('ZSCORE', instances, instance) then
  local waits = call('ZSCORE', pendings, instance)
  if not waits and call('ZCARD', instances) + call('ZCARD', pendings) >= max then return {'full'} end
  if waits and not pending then call('ZREM', pendings, instance) end
  if not waits or not pending then call('ZADD', pending and pendings or instances, 0, instance) end
end
local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local look = now + wait
if closes > 0 and closes < look then look = closes end
-- LT keeps an earlier time, of an older period. plan.lua then schedules the later one.
call('ZADD', agenda, 'LT', format('%.0f', look), instance)
call('ZADD', listing, 'GT', format('%.0f', now + counts + margin), instance)
return {'ok', format('%.0f', now + counts)}
