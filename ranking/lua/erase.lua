-- Removes a member and all its data from a board-period. Follows lib/board.lua, lib/changes.lua,
-- lib/order.lua, lib/rank_tied.lua and lib/leaving.lua.
--
-- KEYS  1 to 10        see board.lua
--       11 to 14       with a window, see window.lua; a builder of the board loses its lock
-- ARGV  1 to 5         see board.lua
--       6 shape        of the definition
--       7 member
-- Result {'ok', 1 if the member was there, else 0, n: events of the member up to this n may remain, 0
--         for none} or {'shape'}: the board-period has the shape of another definition
-- Cost   O(log n)

local shape, member = ARGV[6], ARGV[7]
local tallies, forgotten, lock = KEYS[12], KEYS[13], KEYS[14]

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'shape')
if not state[4] then return {'ok', 0, 0} end
if state[4] ~= shape then return {'shape'} end
local key = call('ZSCORE', members, member)
local there = key or call('ZSCORE', hiddens, member)
clock = math.max(now, tonumber(state[3]) + 1)
local counted = tallies and call('HDEL', tallies, member) == 1
local events = counted or forgotten and call('ZSCORE', forgotten, member)
if events then
  call('ZADD', forgotten, format('%.0f', clock - 1), member)
end
if lock and (events or there) then call('UNLINK', lock) end -- the result in the making may count the member
remove(member, key)
if key or events then publish(state[1], tonumber(state[2]), clock + 1) end
return {'ok', (there or counted) and 1 or 0, events and format('%.0f', clock - 1) or 0}
