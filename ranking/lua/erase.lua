-- Removes a member and all its data from a board-period, also from its history. Follows lib/board.lua, lib/changes.lua,
-- lib/order.lua, lib/rank.lua and lib/leaving.lua.
--
-- KEYS  1 to 10        see board.lua
--       11 hash        names, and 12 hash: numbers, of the members of the history, see record.lua
--       13 to 16       with a window, see window.lua; a builder of the board loses its lock. Else 13 to 17:
--                      what is pending, see freeze.lua
-- ARGV  1 to 5         see board.lua
--       6 shape        of the definition
--       7 member
--       8 windowed     '1': the board has a window; '0': it has none
-- Result {'ok', 1 if the member was there, else 0, n: events of the member up to this n may remain, 0
--         for none} or {'shape'}: the board-period has the shape of another definition
-- Cost   O(log n)

local shape, member = ARGV[6], ARGV[7]
local names, numbers = KEYS[11], KEYS[12]
local tallies, forgotten, lock
if ARGV[8] == '1' then tallies, forgotten, lock = KEYS[14], KEYS[15], KEYS[16] end

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'shape', 'erased')
if not state[4] then return {'ok', 0, 0} end
if state[4] ~= shape then return {'shape'} end
local key = call('ZSCORE', members, member)
local there = key or call('ZSCORE', hiddens, member)
local number = call('HGET', numbers, member)
if number then
  call('HDEL', names, number:match('^%d+'))
  call('HDEL', numbers, member)
end
call('HSET', meta, 'erased', format('%d', tonumber(state[5] or 0) + 1)) -- a node may be about to record the member
clock = math.max(now, tonumber(state[3] or 0) + 1)
local counted = tallies and call('HDEL', tallies, member) == 1
local events = counted or forgotten and call('ZSCORE', forgotten, member)
if events then
  call('ZADD', forgotten, format('%.0f', clock - 1), member)
end
if lock and (events or there) then call('UNLINK', lock) end -- the result in the making may count the member
if ARGV[8] == '0' then
  local waits = call('ZREM', KEYS[13], member) + call('ZREM', KEYS[14], member)
  call('HDEL', KEYS[15], member)
  call('ZREM', KEYS[16], member)
  call('ZREM', KEYS[17], member)
  there = there or waits > 0
end
remove(member, key)
if key or events then publish(state[1], tonumber(state[2]), clock + 1) end
return {'ok', (there or counted or number) and 1 or 0, events and format('%.0f', clock - 1) or 0}
