-- Reads one member's place and its neighbours.
--
-- KEYS  1 sorted set   member by key
-- ARGV  1 member
--       2 k            neighbours on each side, 0 to 100
-- Result {total, rank, start, {member, key, ...}}
--        rank is the member's 0-based rank, -1 where it is not on the board (then
--        nothing follows); start is the rank of the first entry. The entry above
--        the member is always there, whatever k: the gap to it is asked for
-- Cost   O(log n + k)

local members = KEYS[1]
local member, k = ARGV[1], tonumber(ARGV[2])

local total = redis.call('ZCARD', members)
local rank = redis.call('ZRANK', members, member)
if not rank then return {total, -1, 0, {}} end

local start = math.max(0, rank - math.max(k, 1))
return {total, rank, start, redis.call('ZRANGE', members, string.format('%.0f', start), string.format('%.0f', rank + k), 'WITHSCORES')}
