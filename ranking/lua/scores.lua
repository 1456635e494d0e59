-- Reads the sort keys of several members.
--
-- KEYS  1 sorted set   member by key
-- ARGV  members, 1 to 1,000
-- Result {key, ...}: false for a member that is not in the set
-- Cost   O(1) a member

local set = KEYS[1]

return redis.call('ZMSCORE', set, unpack(ARGV))
