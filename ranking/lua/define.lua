-- Changes definitions, unless somebody else has since the caller looked.
--
-- KEYS  1 hash         definitions
--       2 sorted set   agenda: what to look after, to when, µs since 1970
--       3 ...          sorted sets of instances: those that must be empty
-- ARGV  1 version      that the change is made for
--       2 next         version, for after the change
--       3 before       when it is too late for the change, µs since 1970; 0: never
--       4 wait         µs from now until what goes on the agenda is looked after
--       5 n            how much that is
--       then n members for the agenda, then two for each field:
--         field
--         value        '' takes it away, 'now' stands for now in µs since 1970
-- Result {'ok'}, {'changed'} (the version is another), {'late', now in µs since 1970},
--         or {'busy', i}: the i-th of the sorted sets, from 0, is not empty
-- Cost   O(fields)

local definitions, agenda = KEYS[1], KEYS[2]
local version, next_version = ARGV[1], ARGV[2]
local before, wait, n = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local FIRST, STEP = 6, 2

local call = redis.call

if (call('HGET', definitions, 'version') or '0') ~= version then return {'changed'} end
local time = call('TIME')
local at = tonumber(time[1]) * 1000000 + tonumber(time[2])
local now = string.format('%.0f', at)
if before > 0 and at >= before then return {'late', now} end
for i = 3, #KEYS do
  if call('ZCARD', KEYS[i]) > 0 then return {'busy', i - 3} end
end
for i = FIRST, FIRST + n - 1 do
  call('ZADD', agenda, string.format('%.0f', at + wait), ARGV[i])
end
for i = FIRST + n, #ARGV, STEP do
  local field, value = ARGV[i], ARGV[i + 1]
  if value == '' then
    call('HDEL', definitions, field)
  else
    call('HSET', definitions, field, value == 'now' and now or value)
  end
end
call('HSET', definitions, 'version', next_version)
return {'ok'}
