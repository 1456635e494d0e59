-- Adds a closed period to the line of deliveries of its definition. In a full line, a fresh period
-- replaces the period that is due first, and any other period is not added. The period that is due
-- first has waited longest, unless a node has tried it. Follows lib/turn.lua.
--
-- KEYS  1 sorted set   turns: slot of a definition to the turn of its line, µs since 1970
--       2 sorted set   line: closed period to when it is due, µs since 1970
--       3 sorted set   undelivered: the periods in all lines to when they were settled, µs since 1970
--       4 hash         failed: those of these that the receiver has refused, see defer.lua
-- ARGV  1 slot         of the definition
--       2 period       with the board's name
--       3 fresh        '1': the period is due now; '': a period in the line keeps its time
--       4 most         periods that may wait in the line
--       5 settled      when the period was settled, µs since 1970
-- Result {'ok'}, or {'dropped', the period that no longer waits}
-- Cost   O(log n)

local turns, line, undelivered, failed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local slot, period, fresh, most, settled = ARGV[1], ARGV[2], ARGV[3] == '1', tonumber(ARGV[4]), ARGV[5]

local call = redis.call

local at = call('ZSCORE', line, period)
-- A dropped period that comes back must not replace another one: the caller records one at a time.
if not at and not fresh and call('ZCARD', line) >= most then return {'dropped', period} end
if not at or fresh and tonumber(at) > now then call('ZADD', line, string.format('%.0f', now), period) end
call('ZADD', undelivered, settled, period)
if fresh then call('HDEL', failed, period) end
local dropped
if call('ZCARD', line) > most then
  local first = call('ZRANGE', line, 0, 1)
  dropped = first[1] ~= period and first[1] or first[2]
  if dropped then turn_drop(line, undelivered, failed, dropped) end
end
turn_note(turns, line, slot)
return dropped and {'dropped', dropped} or {'ok'}
