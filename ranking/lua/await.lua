-- Adds a closed period to the deliveries of its definition. Where too many wait there,
-- a fresh one takes the place of the one that is due first, which has waited longest
-- unless it was tried; any other is not added. Begins with turn.lua.
--
-- KEYS  1 sorted set   turns: a definition's slot to when its line has its turn
--       2 sorted set   line: closed period to when it is due; both in µs since 1970
--       3 sorted set   the one line of all definitions that older versions had
-- ARGV  1 slot
--       2 period       with the board's name
--       3 fresh        '1' makes it due now; '' leaves one that is there as it is
--       4 most         periods that may wait in the line
-- Result {'ok'}, or {'dropped', the period that does not wait any more}
-- Cost   O(log n)

local turns, line, single = KEYS[1], KEYS[2], KEYS[3]
local slot, period, fresh, most = ARGV[1], ARGV[2], ARGV[3] == '1', tonumber(ARGV[4])

local call = redis.call

call('ZREM', single, period)
local at = call('ZSCORE', line, period)
-- One that gave way is not to push out another before the caller has noted that.
if not at and not fresh and call('ZCARD', line) >= most then return {'dropped', period} end
if not at or fresh and tonumber(at) > now then call('ZADD', line, string.format('%.0f', now), period) end
local dropped
if call('ZCARD', line) > most then
  local first = call('ZRANGE', line, 0, 1)
  dropped = first[1] ~= period and first[1] or first[2]
  if dropped then call('ZREM', line, dropped) end
end
turn_note(turns, line, slot)
return dropped and {'dropped', dropped} or {'ok'}
