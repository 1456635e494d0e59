-- Replaces the present result by the result in the making, as a whole, and publishes that. If both are
-- the same, it only records that the result is up to date. Follows lib/lock.lua.
--
-- KEYS  1 string       lock
--       2 sorted set   present result
--       3 sorted set   its distinct scores
--       4 hash         meta: epoch, seq, clock, from, span, shape, built, moderated
--       5 hash         the board's periods
--       6 sorted set   aside: the result in the making; without members it does not exist
--       7 sorted set   aside: its distinct scores
--       8 sorted set   members hidden since the present result was built, by sort key; the new
--                      result has no hidden members, so the script deletes the set
--       9 sorted set   with a window: forgotten, see window.lua
--      10 hash         with a window: tallies, see window.lua
-- ARGV  1 token        of the caller
--       2 epoch        of the present result that the caller knows; '': there is none
--       3 next         epoch of the new result; '': it is the same as the present one
--       4 built        when the build began
--       5 clock        of the build
--       6 from, 7 span of which the tie fraction of a sort key is a fraction; span in µs
--       8 shape        of the definition
--       9 channel      to publish on, see board.lua
--      10 board        name, for the message
--      11 revision     of the moderation that the caller knows
--      12 was          when the present result was built, as hold.lua returned it
--      13 gathered     members of the result in the making
--      14 due          with a window: replaces built if an update has set a member during the build,
--                      so that the next build is due at once
--      15 after        with a window: the last n in forgotten that the call before has handled; absent
--                      in the first call
--      16 set          absent likewise; '1': an update has set one of the members handled so far
--         Times are in µs since 1970.
-- Result {'ok', built}
--         {'more', after, set}: forgotten has more members than one call handles; call again with both
--         {'lost'}: the call has changed nothing, because the caller does not hold the lock, the
--         present result or the number of gathered members is another one, or the moderation in
--         force is later than revision
-- Message (byte 31 separates) board 31 31 epoch 31 1: the result was replaced
-- Cost   O(1), and O(log n) for each member in forgotten since the build began; UNLINK frees the
--        former result in the background

local lock, members, distinct, meta, periods = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local aside, aside_distinct, hiddens, forgotten = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local tallies = KEYS[10]
local token, epoch, next_epoch, built, clock = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local from, span, shape, channel, board, revision, was = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]

local MOST = 250 -- members of forgotten that one call handles

local call, format, floor = redis.call, string.format, math.floor

-- The script writes nothing that it may not publish, see board.lua.
local allowed = redis.acl_check_cmd
if allowed and not allowed(PUBLISH, channel, '') then return redis.error_reply('NORIGHT the Redis user may not ' .. PUBLISH) end

local state = call('HMGET', meta, 'epoch', 'moderated', 'built', 'clock')
if lock_read(lock) ~= token or (state[1] or '') ~= epoch or (state[3] or '0') ~= was then return {'lost'} end
if tonumber(state[2] or 0) > tonumber(revision) then return {'lost'} end
if next_epoch ~= '' and not ARGV[15] and call('ZCARD', aside) ~= tonumber(ARGV[13]) then return {'lost'} end

local set_meanwhile = ARGV[16] == '1'

-- Gives a member the sort key in the new result that it has in the present one, or removes it. The
-- build may have counted events that no longer count.
local function keep_present(member)
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
    if next_epoch ~= '' then keep_present(some[i]) end
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
-- RENAME would free the former result within this call, and a million members would block Redis for
-- that time. So UNLINK comes first.
call('UNLINK', members, distinct)
if call('EXISTS', aside) == 1 then call('RENAME', aside, members) end
if call('EXISTS', aside_distinct) == 1 then call('RENAME', aside_distinct, distinct) end
call('HSET', meta, 'epoch', next_epoch, 'seq', '1', 'clock', format('%.0f', math.max(tonumber(clock), tonumber(state[4] or 0))),
  'from', from, 'span', span, 'shape', shape, 'built', built)
if not state[2] and revision ~= '0' then call('HSET', meta, 'moderated', revision) end
call('HSET', periods, '', '0 0')
call(PUBLISH, channel, board .. '\31\31' .. next_epoch .. '\31' .. '1')
return {'ok', built}
