-- Changes when a claimed delivery is due, or removes it from its line, unless its time has changed
-- since the claim. Follows lib/turn.lua.
--
-- KEYS  1 sorted set   turns, see await.lua
--       2 sorted set   line, see await.lua
-- ARGV  1 slot         of the definition
--       2 period       with the board's name
--       3 claimed      the time that serve.lua gave the delivery
--       4 next         when it is due, µs since 1970; '': remove it
-- Result {'ok'} or {'changed'}: the delivery has another time, or is gone
-- Cost   O(log n)

local turns, line = KEYS[1], KEYS[2]
local slot, period, claimed, due = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local call = redis.call

local at = call('ZSCORE', line, period)
if not at or tonumber(at) ~= claimed then return {'changed'} end
if due then
  call('ZADD', line, string.format('%.0f', due), period)
else
  call('ZREM', line, period)
end
turn_note(turns, line, slot)
return {'ok'}
