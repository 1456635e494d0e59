-- Takes all that there is of a member from a board-period. Begins with order.lua and
-- board.lua.
--
-- KEYS  1 to 7         see board.lua
-- ARGV  1 to 5         see board.lua
--       6 shape        of the definition
--       7 member
-- Result {'ok', 1 or 0: whether it was there}, or {'shape'}: the board-period is of
--         another definition
-- Cost   O(log n)

local shape, member = ARGV[6], ARGV[7]

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'shape')
if not state[4] then return {'ok', 0} end
if state[4] ~= shape then return {'shape'} end
local key = call('ZSCORE', members, member)
local there = key or call('ZSCORE', hiddens, member)
clock = math.max(now, tonumber(state[3]) + 1)
local remove = going()
remove(member, key)
if key then publish(state[1], tonumber(state[2]), clock + 1) end
return {'ok', there and 1 or 0}
