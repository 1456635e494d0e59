-- Records a look at a board-period in its history: a step, if the first entries have changed since the
-- last one. It does so only if the history and the board are as the caller found them by look.lua.
--
-- KEYS  1 sorted set   members
--       2 hash         meta: epoch; erased, which counts the erasures of members
--       3 sorted set   hidden members
--       4 stream       steps: their field 's' holds the step, see ranking/history
--       5 hash         state: last (time of the last step), seen (the last look), epoch and seq of the
--                      board at that look; state (the last step as a keyframe), since (steps after the
--                      last keyframe of the stream), next (number of the next new member), step (by
--                      which the looks go); times in ms since 1970, step in ms
--       6 hash         names: number to member
--       7 hash         numbers: member to 'number rank at': its best rank, and when it first had it
-- ARGV  1 epoch        of the board, as the caller found it
--       2 erased       likewise
--       3 last         likewise; 0: there is no step yet
--       4 seen, 5 seq  of the look
--       6 step         of the history, in ms
--       7 kept         steps that stay at least; the stream may have about 100 more
--       8 at           time of a new step; 0: the first entries are the same
--       9 encoded      the new step
--      10 state, 11 since, 12 next    after it
--         and for each member that has no number yet, or has a better rank than before:
--      13 member, 14 number, 15 rank, 16 'new' or ''
-- Result {'ok', members that the history names, 0 without a new step} or {'changed'}: the call has
--         changed nothing, because another node has recorded a step, a member was erased, the board is
--         another one, or a new member has left it since
-- Cost   O(log n) for each new member

local members, meta, hiddens, steps, state, names, numbers = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local epoch, erased, last, seen, seq, step, kept = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local at, encoded, whole, since, next_number = ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]
local FIRST, EACH = 13, 4

local call = redis.call

local board = call('HMGET', meta, 'epoch', 'erased')
if board[1] ~= epoch or (board[2] or '0') ~= erased then return {'changed'} end
if (call('HGET', state, 'last') or '0') ~= last then return {'changed'} end
-- An erasure looks for the member on the board and in the history at one moment, see seek.lua. So the script names no
-- member that is not on the board now: the erasure may have passed.
for i = FIRST, #ARGV, EACH do
  if ARGV[i + 3] == 'new' and not call('ZSCORE', members, ARGV[i]) and not call('ZSCORE', hiddens, ARGV[i]) then return {'changed'} end
end
if at == '0' then
  call('HSET', state, 'epoch', epoch, 'seq', seq, 'seen', seen, 'step', step)
  return {'ok', 0}
end
call('XADD', steps, 'MAXLEN', '~', kept, at .. '-0', 's', encoded)
for i = FIRST, #ARGV, EACH do
  local member, number = ARGV[i], ARGV[i + 1]
  call('HSET', numbers, member, number .. ' ' .. ARGV[i + 2] .. ' ' .. at)
  if ARGV[i + 3] == 'new' then call('HSET', names, number, member) end
end
call('HSET', state, 'last', at, 'epoch', epoch, 'seq', seq, 'seen', seen, 'step', step, 'state', whole, 'since', since, 'next', next_number)
return {'ok', call('HLEN', names)}
