-- Reports whether members of a result in the making differ from the present result. Extends the
-- lock. Follows lib/lock.lua.
--
-- KEYS  1 string       lock
--       2 sorted set   present result: member by sort key
-- ARGV  1 token        of the caller
--       2 lease        µs from now until the lock ends
--       then two for each member:
--         member
--         s            score, negated for desc
-- Result {'same'}, {'other'} (a score differs, or a member is missing) or {'lost'}: the caller does
--         not hold the lock
-- Cost   O(1) a member

local lock, members, token, lease = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local FIRST, STEP = 3, 2

local holder, _, since = lock_read(lock)
if holder ~= token then return {'lost'} end
lock_keep(lock, token, lease, since)
local asked = {}
for i = FIRST, #ARGV, STEP do asked[#asked + 1] = ARGV[i] end
local keys = redis.call('ZMSCORE', members, unpack(asked))
for i = 1, #asked do
  local s = tonumber(ARGV[FIRST + (i - 1) * STEP + 1])
  if not keys[i] or math.floor(tonumber(keys[i])) ~= s then return {'other'} end
end
return {'same'}
