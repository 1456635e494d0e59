-- What the scripts share that change a board-period. They begin with this one. (Each
-- function costs time in each call of a script, the more the more locals it uses; so those
-- that most calls do not need are made when they are needed.)
--
-- KEYS  1 sorted set   members, by key: s + f, s the score (negated for desc),
--                      0 <= f < 1 rising with the time the score was reached
--       2 hash         meta: epoch, seq, clock and more, see apply.lua
--       3 hash         data: member to JSON, of those that have any
--       4 sorted set   with ties dense, the distinct s, each with itself as its score
--       5 sorted set   with a member_ttl, members by when they entered, µs since 1970
--       6 sorted set   those who are hidden, and not among the members, by key
--       7 sorted set   those who were taken away a while ago, to the board's clock then;
--                      by digest, for of whom is erased no name stays
-- ARGV  1 channel to publish on
--       2 board, 3 period: names, for the message
--       4 ties         'first': by arrival, 'shared' and 'dense': likewise, with one rank,
--                      'member': f is 0
--       5 sign         1: the lower score ranks higher, -1: the higher
-- Message (bytes 31 and 30 separate)
--         board 31 period 31 epoch 31 seq of the first change
--         { 30 member 31 old key 31 new key 31 place [31 data] }   no key: empty
--         place of one that is on the board: rank [' ' position [' ' flags]], of one that
--         is not: flags; 'b': nobody had the new score before, 'g': nobody has the old one

local members, meta, datas, distinct, entered, hiddens, left = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local channel, board, period, ties, sign = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local shared, dense = ties == 'shared', ties == 'dense'

local call, format, floor = redis.call, string.format, math.floor

-- A Redis user may lose a right while the node runs. Without these checks, an update would count
-- and then fail at HSET or PUBLISH: without its request id, or without its message. (Redis 7 has
-- this function. The embedded store has neither the function nor users.)
local allowed = redis.acl_check_cmd
if allowed and not (allowed('PUBLISH', channel, '') and allowed('HSET', meta, '', '')) then
  return redis.error_reply('NORIGHT the Redis user may not PUBLISH or HSET')
end

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local clock = now -- the board's; who writes brings it past all that was written

local LEFT = 2 * 610 * 1000000 -- µs for which it counts that a member left: as ids live, see ids.lua
local LET_GO = 2 -- of those who left before that, with each who leaves

local changes = {}

local function score_of(key) return sign * floor(tonumber(key)) + 0 end -- +0: never -0

-- What stands for a key's score, where scores are told apart; and, with ties dense,
-- strikes a score off if nobody has it any more.
local tier_of, forsake
if shared or dense then
  tier_of = function(key) return format('%.0f', floor(tonumber(key)) + 0) end
  forsake = function(key)
    local tier = tier_of(key)
    if #call('ZRANGEBYSCORE', members, tier, format('(%.0f', floor(tonumber(key)) + 1), 'LIMIT', 0, 1) > 0 then return '' end
    call('ZREM', distinct, tier)
    return 'g'
  end
end

-- The rank of a member that has a key.
local function rank_of(member, key)
  if shared then return call('ZCOUNT', members, '-inf', '(' .. tier_of(key)) + 1 end
  if dense then return call('ZRANK', distinct, tier_of(key)) + 1 end
  return call('ZRANK', members, member) + 1
end

-- Has a member come to a key, from an old one or from nowhere; data '' for none.
local function move(member, old, key, data)
  local flags = ''
  if old ~= key then
    call('ZADD', members, key, member)
    if dense then
      local tier = tier_of(key)
      if call('ZADD', distinct, tier, tier) == 1 then flags = 'b' end
      if old then flags = flags .. forsake(old) end
    end
  end
  local position = call('ZRANK', members, member) + 1
  local rank, place = position, position
  if shared or dense then
    rank = rank_of(member, key)
    place = format('%d %d', rank, position)
    if flags ~= '' then place = place .. ' ' .. flags end
  end
  local change = format('%s\31%s\31%s\31%s', member, old or '', key, place)
  if data ~= '' then change = change .. '\31' .. data end
  changes[#changes + 1] = change
  return rank
end

-- Takes a member off the ranks. What is kept of it elsewhere is for the caller.
local function leave(member, old)
  call('ZREM', members, member)
  changes[#changes + 1] = format('%s\31%s\31\31%s', member, old, dense and forsake(old) or '')
end

-- What stands for a member where its name must not stay.
local function digest_of(member) return redis.sha1hex(member):sub(1, 16) end

-- Makes what lets members go.
local function going()
  -- Takes away all that there is of a member, on the board with a key or hidden.
  local function remove(member, old)
    if old then leave(member, old) else call('ZREM', hiddens, member) end
    call('HDEL', datas, member)
    call('ZREM', entered, member)
    local past = call('ZRANGEBYSCORE', left, '-inf', format('%.0f', clock - LEFT), 'LIMIT', 0, LET_GO)
    if #past > 0 then call('ZREM', left, unpack(past)) end
    call('ZADD', left, format('%.0f', clock), digest_of(member))
  end

  -- Has members go whose time is over, now or at another moment, so many at most, and
  -- says how many.
  local function expire(ttl, most, at)
    if ttl == 0 then return 0 end
    local due = call('ZRANGEBYSCORE', entered, '-inf', format('%.0f', (at or now) - ttl), 'LIMIT', 0, most)
    for _, member in ipairs(due) do remove(member, call('ZSCORE', members, member)) end
    return #due
  end

  -- Has the last members go beyond a limit, so many at most, and says how many.
  local function trim(limit, most)
    if limit == 0 then return 0 end
    local over = math.min(call('ZCARD', members) - limit, most)
    for _ = 1, over do
      local last = call('ZRANGE', members, -1, -1, 'WITHSCORES')
      remove(last[1], last[2])
    end
    return math.max(over, 0)
  end

  return remove, expire, trim
end

-- Counts the changes and tells of them; the clock is past all that was written.
local function publish(epoch, seq, clock)
  call('HSET', meta, 'seq', format('%.0f', seq + #changes), 'clock', format('%.0f', clock))
  if #changes == 0 then return end
  call('PUBLISH', channel, format('%s\31%s\31%s\31%.0f\30', board, period, epoch, seq + 1) .. table.concat(changes, '\30'))
end

