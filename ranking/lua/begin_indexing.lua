-- Records that the profiles of members are about to change, or to be indexed. On a cluster, no script can change
-- a profile and the index of names together. A member stays recorded until end_indexing.lua has indexed its profile.
--
-- Each change gives the member a new token. A caller that then reads the profile and calls end_indexing.lua with that token
-- knows that no other change has begun since. A token that ends with ' +' was given while an earlier change was under way.
-- The earlier change may still write its profile. So such a member stays recorded for a while, and housekeeping
-- indexes it again.
--
-- KEYS  1 hash         pending: member to its token
-- ARGV  three for each member, 1 to 32 members:
--         member
--         token        µs since 1970, a space and a random word
--         when         'always': also where another change is under way; 'idle': only where none is
-- Result {the token that the member has now; '': another change is under way, ...}
-- Cost   O(1) a member

local pending = KEYS[1]
local STEP = 3

local call = redis.call

local tokens = {}
for i = 1, #ARGV, STEP do
  local member, token, when = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local held = call('HEXISTS', pending, member) == 1
  if held then token = when == 'always' and token .. ' +' or '' end
  if token ~= '' then call('HSET', pending, member, token) end
  tokens[#tokens + 1] = token
end
return tokens
