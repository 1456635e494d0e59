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
--       9 sorted set   of a window alone: who is forgotten, see window.lua
--      10 hash         likewise: tallies
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
--      13 aside        members that are aside
--      14 due          of a window: when the result is to count as built where the next is
--                      due at once: some were set meanwhile, who are as they were
--      15 after        of a window: the last n of who is forgotten that was seen to; none:
--                      nobody was
--      16 set          likewise: '1' where some of these were set
--         Times are in µs since 1970.
-- Result {'ok', built}, {'more', after, set} (there are more who are forgotten than one
--         call sees to: call again with these) or {'lost'}: the caller does not have the
--         lock, or not all is aside that was, or the result is another than it was, or is
--         no good any more, or others are hidden meanwhile; nothing was done
-- Message (byte 31 separates) board 31 31 epoch 31 1: it was replaced
-- Cost   O(1), and O(log n) for each who was forgotten meanwhile; what there was is freed
--        beside Redis's work

local lock, members, distinct, meta, periods = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local aside, aside_distinct, hiddens, forgotten = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local tallies = KEYS[10]
local token, epoch, next_epoch, built, clock = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local from, span, shape, channel, board, revision, was = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]

local MOST = 250 -- who are seen to in a call

local call, format, floor = redis.call, string.format, math.floor

-- Nothing is written if it cannot be announced, see board.lua.
local allowed = redis.acl_check_cmd
if allowed and not allowed('PUBLISH', channel, '') then return redis.error_reply('NORIGHT the Redis user may not PUBLISH') end

local state = call('HMGET', meta, 'epoch', 'moderated', 'built', 'clock')
if lock_read(lock) ~= token or (state[1] or '') ~= epoch or (state[3] or '0') ~= was then return {'lost'} end
if tonumber(state[2] or 0) > tonumber(revision) then return {'lost'} end
if next_epoch ~= '' and not ARGV[15] and call('ZCARD', aside) ~= tonumber(ARGV[13]) then return {'lost'} end

local set_meanwhile = ARGV[16] == '1'

-- Has a member be in what was built as in the result there is.
local function as_it_was(member)
  local key, other = call('ZSCORE', members, member), call('ZSCORE', aside, member)
  if key == other then return end
  if key then call('ZADD', aside, key, member) else call('ZREM', aside, member) end
  if shape:sub(-6) ~= ' dense' then return end
  if key then
    local tier = format('%.0f', floor(tonumber(key)) + 0)
    call('ZADD', aside_distinct, tier, tier)
  end
  if other then
    local tier = floor(tonumber(other)) + 0
    if #call('ZRANGEBYSCORE', aside, format('%.0f', tier), format('(%.0f', tier + 1), 'LIMIT', 0, 1) == 0 then
      call('ZREM', aside_distinct, format('%.0f', tier))
    end
  end
end

if forgotten then
  local after = ARGV[15] or format('%.0f', tonumber(clock) - 1)
  local some = call('ZRANGEBYSCORE', forgotten, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, MOST)
  for i = 1, #some, 2 do
    if next_epoch ~= '' then as_it_was(some[i]) end
    if call('HEXISTS', tallies, some[i]) == 1 then set_meanwhile = true end
  end
  if #some == 2 * MOST then return {'more', format('%.0f', tonumber(some[#some])), set_meanwhile and '1' or ''} end
end
if set_meanwhile then built = ARGV[14] end
call('UNLINK', lock, hiddens)
if next_epoch == '' then
  call('HSET', meta, 'built', built)
  return {'ok', built}
end
-- A key that is renamed over would be freed by this call; a million members hold Redis
-- for as long as they are freed.
call('UNLINK', members, distinct)
if call('EXISTS', aside) == 1 then call('RENAME', aside, members) end
if call('EXISTS', aside_distinct) == 1 then call('RENAME', aside_distinct, distinct) end
call('HSET', meta, 'epoch', next_epoch, 'seq', '1', 'clock', format('%.0f', math.max(tonumber(clock), tonumber(state[4] or 0))), 'from', from, 'span', span, 'shape', shape, 'built', built)
if not state[2] and revision ~= '0' then call('HSET', meta, 'moderated', revision) end
call('HSET', periods, '', '0 0')
call('PUBLISH', channel, board .. '\31\31' .. next_epoch .. '\31' .. '1')
return {'ok', built}
