-- Forgets members of a history that stand in none of its steps. It does so only if no step was recorded
-- since the caller read the steps.
--
-- KEYS  1 hash         meta: epoch; erased, see record.lua
--       2 hash         state of the history
--       3 hash         names, and 4 hash: numbers, see record.lua
-- ARGV  1 epoch        of the board, as the caller found it
--       2 last         time of the last step that the caller has read
--       and for each member:
--       3 number, 4 member
-- Result {'ok'} or {'changed'}: the call has changed nothing
-- Cost   O(members)

local meta, state, names, numbers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local epoch, last = ARGV[1], ARGV[2]
local FIRST, EACH = 3, 2

local call = redis.call

local board = call('HMGET', meta, 'epoch', 'erased')
if board[1] ~= epoch or call('HGET', state, 'last') ~= last then return {'changed'} end
for i = FIRST, #ARGV, EACH do
  call('HDEL', names, ARGV[i])
  call('HDEL', numbers, ARGV[i + 1])
end
call('HSET', meta, 'erased', string.format('%d', tonumber(board[2] or 0) + 1)) -- a node may be about to record one of them
return {'ok'}
