-- Changes definitions, unless another caller has changed them since this caller read them. The first
-- definition writes the layout.
--
-- KEYS  1 hash         definitions
--       2 sorted set   agenda: item to when its housekeeping is due, µs since 1970
--       3 stream       audit
--       4 ...          sorted sets of instances that must be empty
-- ARGV  1 version      that the caller has read
--       2 next         version after the change
--       3 before       deadline: the script refuses the change from then on, µs since 1970; 0: none
--       4 wait         µs from now until the housekeeping of the given items is due
--       5 kept         lines that the audit keeps, approximately
--       6 layout       of the caller
--       7 m            number of lines for the audit
--       8 n            number of items for the agenda
--       then m lines, JSON, see audit.go, then n items, then two for each field:
--         field
--         value        '' deletes the field; 'now' stands for now in µs since 1970
-- Result {'ok'}, {'changed'} (there is another version, or another layout), {'late', now in µs since 1970} (the deadline
--         has passed) or {'busy', i}: the i-th of the sorted sets, from 0, is not empty
-- Cost   O(lines + items log n + fields)

local definitions, agenda, audit = KEYS[1], KEYS[2], KEYS[3]
local version, next_version = ARGV[1], ARGV[2]
local before, wait = tonumber(ARGV[3]), tonumber(ARGV[4])
local kept, layout, m, n = ARGV[5], ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local EMPTY, FIRST, STEP = 4, 9, 2

local call = redis.call

local known = call('HMGET', definitions, 'version', 'layout')
if (known[1] or '0') ~= version or known[1] and known[2] ~= layout then return {'changed'} end
local time = call('TIME')
local at = tonumber(time[1]) * 1000000 + tonumber(time[2])
local now = string.format('%.0f', at)
if before > 0 and at >= before then return {'late', now} end
for i = EMPTY, #KEYS do
  if call('ZCARD', KEYS[i]) > 0 then return {'busy', i - EMPTY} end
end
-- The lines come first: if Redis refuses the first of them, the call has changed nothing.
for i = FIRST, FIRST + m - 1 do
  call('XADD', audit, 'MAXLEN', '~', kept, '*', 'line', ARGV[i])
end
for i = FIRST + m, FIRST + m + n - 1 do
  call('ZADD', agenda, string.format('%.0f', at + wait), ARGV[i])
end
for i = FIRST + m + n, #ARGV, STEP do
  local field, value = ARGV[i], ARGV[i + 1]
  if value == '' then
    call('HDEL', definitions, field)
  else
    call('HSET', definitions, field, value == 'now' and now or value)
  end
end
call('HSET', definitions, 'version', next_version, 'layout', layout)
return {'ok'}
