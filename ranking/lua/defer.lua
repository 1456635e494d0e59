-- Puts a delivery that was taken back into its line, or takes it off, unless its time has
-- been changed since. Begins with turn.lua.
--
-- KEYS  1 sorted set   turns, see await.lua
--       2 sorted set   line
-- ARGV  1 slot
--       2 period       with the board's name
--       3 taken        its time, as serve.lua gave it
--       4 next         when it is due, µs since 1970; '' takes it off
-- Result {'ok'} or {'changed'}
-- Cost   O(log n)

local turns, line = KEYS[1], KEYS[2]
local slot, period, taken, due = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local call = redis.call

local at = call('ZSCORE', line, period)
if not at or tonumber(at) ~= taken then return {'changed'} end
if due then
  call('ZADD', line, string.format('%.0f', due), period)
else
  call('ZREM', line, period)
end
turn_note(turns, line, slot)
return {'ok'}
