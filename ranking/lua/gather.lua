-- Adds members to a result in the making. A member that has the same score in the present result
-- keeps its sort key. Extends the lock. Follows lib/lock.lua and lib/sort_key.lua.
--
-- KEYS  1 string       lock
--       2 sorted set   present result: member by sort key
--       3 sorted set   aside: the result in the making, member by sort key
--       4 sorted set   aside: with ties dense, its distinct scores, negated for desc
-- ARGV  1 token        of the caller
--       2 lease        µs from now until the lock ends
--       3 ties         'member': a key is the score alone; 'dense': KEYS 4 gets the distinct scores
--       4 clock        of the build, µs since 1970
--       5 from, 6 span time, and length in µs, of the span of which the tie fraction is a fraction
--       7 gathered     members that the result in the making has already
--       then two for each member, in the order of s:
--         member
--         s            score, negated for desc
-- Result {'ok'} or {'lost'}: the caller does not hold the lock, or the result in the making has
--         another number of members
-- Cost   O(log n) a member: ZMSCORE, ZADD; and one look-up more for each distinct s with a new key

local lock, members, aside, distinct = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, lease, ties = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local age, span = tonumber(ARGV[4]) - tonumber(ARGV[5]), tonumber(ARGV[6])
local FIRST, STEP = 8, 2

local call = redis.call

local holder, _, since = lock_read(lock)
if holder ~= token or call('ZCARD', aside) ~= tonumber(ARGV[7]) then return {'lost'} end
lock_keep(lock, token, lease, since)

local asked = {}
for i = FIRST, #ARGV, STEP do asked[#asked + 1] = ARGV[i] end
local keys = call('ZMSCORE', members, unpack(asked))
local rows, scores, last, fresh = {}, {}, nil, nil
for i, member in ipairs(asked) do
  local text = ARGV[FIRST + (i - 1) * STEP + 1]
  local s, key = tonumber(text), keys[i]
  if text ~= last then
    last, fresh = text, nil
    scores[#scores + 1], scores[#scores + 2] = text, text
  end
  if not key or math.floor(tonumber(key)) ~= s then
    -- All members that reach a score in one build reach it at the same time, so they share a key.
    fresh = fresh or ties == 'member' and text or key_of(members, nil, s, age, span)
    key = fresh
  end
  rows[#rows + 1], rows[#rows + 2] = key, member
end
call('ZADD', aside, unpack(rows))
if ties == 'dense' then call('ZADD', distinct, unpack(scores)) end
return {'ok'}
