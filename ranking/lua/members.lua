-- Reads several members' places.
--
-- KEYS  1 sorted set   member by key
-- ARGV  members, 1 to 100
-- Result {key, rank, key, rank, ...} in the order asked; key is '' and rank -1
--        for a member that is not on the board; ranks are 0-based
-- Cost   O(log n) a member

local members = KEYS[1]

local found = {}
for i = 1, #ARGV do
  local key = redis.call('ZSCORE', members, ARGV[i])
  found[#found + 1] = key or ''
  found[#found + 1] = key and redis.call('ZRANK', members, ARGV[i]) or -1
end
return found
