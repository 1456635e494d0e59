-- The start of each script that changes a board-period. It has no functions: each function costs
-- time in each call of a script, and more time the more locals of the script it uses.
--
-- KEYS  1 sorted set   members, by sort key: s + f, s the score (negated for desc),
--                      0 <= f < 1 rising with the time at which the score was reached
--       2 hash         meta: epoch, seq, clock and more, see apply.lua
--       3, 4 hashes    request ids of even and of odd buckets of time, see apply.lua
--       5 hash         the board's periods, see apply.lua
--       and, except for the plain form of apply.lua:
--       6 hash         data: member to JSON, of the members that have data
--       7 sorted set   with ties dense, the distinct s, each with itself as its score
--       8 sorted set   with a member_ttl, members by the time at which they entered, µs since 1970
--       9 sorted set   hidden members, which are not among the members, by sort key
--      10 sorted set   members that were removed a while ago, to the board's clock then; by
--                      digest, because no name of an erased member stays
-- ARGV  1 channel      to publish on, by PUBLISH; on a cluster by SPUBLISH. The local PUBLISH, which
--                      ranking/internal/script puts first, names the command
--       2 board, 3 period: names, for the message
--       4 ties         'first': by arrival; 'shared' and 'dense': likewise, with one rank for
--                      equal scores; 'member': f is 0
--       5 sign         1: the lower score ranks higher; -1: the higher
-- Message (bytes 31 and 30 separate)
--         board 31 period 31 epoch 31 seq of the first change 31 now, in µs since 1970
--         { 30 member 31 old key 31 new key 31 place [31 data] }   no key: empty
--         The place of a member on the board is: rank [' ' position [' ' flags]]. That of a
--         member that has left is: flags. Flag 'b': nobody had the new score before; 'g':
--         nobody has the old score any more.

local members, meta, datas, distinct, entered, hiddens, left = KEYS[1], KEYS[2], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local channel, board, period, ties, sign = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

local call, format, floor = redis.call, string.format, math.floor

-- A Redis user may lose a right while the node runs. Without these checks, an update would count
-- and then fail at HSET or PUBLISH: without its request id, or without its message. (Redis 7 has
-- this function. The embedded store has neither the function nor users.)
local allowed = redis.acl_check_cmd
if allowed and not (allowed(PUBLISH, channel, '') and allowed('HSET', meta, '', '')) then
  return redis.error_reply('NORIGHT the Redis user may not ' .. PUBLISH .. ' or HSET')
end

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local clock = now -- of the board; each write moves it past all earlier writes

local changes = {}

