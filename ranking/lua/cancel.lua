-- Removes closed periods from the line of deliveries of their definition. Follows lib/turn.lua.
--
-- KEYS  1 sorted set   turns, see await.lua
--       2 to 4         line, undelivered and failed, see await.lua
-- ARGV  1 slot         of the definition
--       2 ... periods  with the board's name
-- Result {'ok'}
-- Cost   O(periods log n)

local turns, line, undelivered, failed, slot = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1]

for i = 2, #ARGV do turn_drop(line, undelivered, failed, ARGV[i]) end
turn_note(turns, line, slot)
return {'ok'}
