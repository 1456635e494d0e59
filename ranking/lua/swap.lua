-- Puts what was built in the place of the result there is, as a whole, and tells of it;
-- or notes that it would be the same. Begins with lock.lua.
--
-- KEYS  1 string       lock
--       2 sorted set   result
--       3 sorted set   its distinct scores
--       4 hash         meta: epoch, seq, clock, from, span, shape, built
--       5 hash         the board's periods
--       6 sorted set   aside: what was built; none: nobody is on the board
--       7 sorted set   aside: its distinct scores
--       8 sorted set   those who were hidden since the result was built, by key: what is
--                      built has no such keys
-- ARGV  1 token        of the caller
--       2 epoch        of the result that what was built was compared with, '' for none
--       3 next         epoch of what was built; '' where it is the same
--       4 built        when it was begun to be built
--       5 clock        the build's time
--       6 from, 7 span what the fraction of a key is a fraction of
--       8 shape        of the definition
--       9 channel to publish on
--      10 board        name, for the message
--      11 revision     of the moderation that the caller knows
--      12 was          when the result was built, as hold.lua told
--         Times are in µs since 1970.
-- Result {'ok'} or {'lost'}: the caller does not have the lock, or the result is another
--         than it was, or is no good any more, or others are hidden meanwhile; nothing was
--         done
-- Message (byte 31 separates) board 31 31 epoch 31 1: it was replaced
-- Cost   O(1); what there was is freed beside Redis's work

local lock, members, distinct, meta, periods = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local aside, aside_distinct, hiddens = KEYS[6], KEYS[7], KEYS[8]
local token, epoch, next_epoch, built, clock = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local from, span, shape, channel, board, revision, was = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]

local call = redis.call

local state = call('HMGET', meta, 'epoch', 'moderated', 'built')
if lock_read(lock) ~= token or (state[1] or '') ~= epoch or (state[3] or '0') ~= was then return {'lost'} end
if tonumber(state[2] or 0) > tonumber(revision) then return {'lost'} end
call('UNLINK', lock, hiddens)
if next_epoch == '' then
  call('HSET', meta, 'built', built)
  return {'ok'}
end
-- A key that is renamed over would be freed by this call; a million members hold Redis
-- for as long as they are freed.
call('UNLINK', members, distinct)
if call('EXISTS', aside) == 1 then call('RENAME', aside, members) end
if call('EXISTS', aside_distinct) == 1 then call('RENAME', aside_distinct, distinct) end
call('HSET', meta, 'epoch', next_epoch, 'seq', '1', 'clock', clock, 'from', from, 'span', span, 'shape', shape, 'built', built)
if not state[2] and revision ~= '0' then call('HSET', meta, 'moderated', revision) end
call('HSET', periods, '', '0 0')
call('PUBLISH', channel, board .. '\31\31' .. next_epoch .. '\31' .. '1')
return {'ok'}
