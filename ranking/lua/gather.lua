-- Puts members of a result that is being built aside. One whose score is the same as in
-- the result there is keeps its key. Begins with lock.lua and key.lua.
--
-- KEYS  1 string       lock
--       2 sorted set   result: member by key
--       3 sorted set   aside: likewise
--       4 sorted set   aside: distinct scores, negated for desc; with ties dense
-- ARGV  1 token        of the caller
--       2 lease        µs from now for which it has the lock
--       3 ties         'member': a key is the score alone; 'dense'; or another
--       4 clock        the build's time, µs since 1970
--       5 from, 6 span what the fraction of a key is a fraction of
--       7 aside        members that are aside already
--       then two for each member, by s:
--         member
--         s            score, negated for desc
-- Result {'ok'} or {'lost'} (the caller does not have the lock, or not all is aside that
--         was)
-- Cost   O(log n) a member: ZMSCORE, ZADD; for each s that is new up to two look-ups more

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
    -- All that come to a score in one build come to it at the same time.
    fresh = fresh or ties == 'member' and text or key_of(members, nil, s, age, span)
    key = fresh
  end
  rows[#rows + 1], rows[#rows + 2] = key, member
end
call('ZADD', aside, unpack(rows))
if ties == 'dense' then call('ZADD', distinct, unpack(scores)) end
return {'ok'}
