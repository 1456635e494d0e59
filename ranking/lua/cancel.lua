-- Takes closed periods off the deliveries of their definition. Begins with turn.lua.
--
-- KEYS  1 sorted set   turns, see await.lua
--       2 sorted set   line
-- ARGV  1 slot
--       2 ... periods  with the board's name
-- Result {'ok'}
-- Cost   O(periods log n)

local turns, line, slot = KEYS[1], KEYS[2], ARGV[1]

for i = 2, #ARGV do redis.call('ZREM', line, ARGV[i]) end
turn_note(turns, line, slot)
return {'ok'}
