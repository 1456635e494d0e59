-- Changes when a claimed delivery is due, or removes it from its line, unless its time has changed
-- since the claim. Follows lib/turn.lua.
--
-- KEYS  1 sorted set   turns, see await.lua
--       2 to 4         line, undelivered and failed, see await.lua. failed holds the number of attempts that have failed,
--                      a space, and the reason of the last one
-- ARGV  1 slot         of the definition
--       2 period       with the board's name
--       3 claimed      the time that serve.lua gave the delivery
--       4 next         when it is due, µs since 1970; '': remove it
--       5 reason       why the attempt has failed; '': it has not, or there was none
-- Result {'ok'} or {'changed'}: the delivery has another time, or is gone
-- Cost   O(log n)

local turns, line, undelivered, failed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local slot, period, claimed, due, reason = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

local call = redis.call

local at = call('ZSCORE', line, period)
if not at or tonumber(at) ~= claimed then return {'changed'} end
if due then
  call('ZADD', line, string.format('%.0f', due), period)
  if reason ~= '' then
    local attempts = tonumber((call('HGET', failed, period) or '0'):match('^%d+')) + 1
    call('HSET', failed, period, string.format('%.0f ', attempts) .. reason)
  end
else
  turn_drop(line, undelivered, failed, period)
end
turn_note(turns, line, slot)
return {'ok'}
