-- Indexes the names of members whose profiles a caller has read, unless a change has begun since. Follows
-- lib/names.lua.
--
-- KEYS  1 hash         names of the index: member to record
--       2 sorted set   entries of the index
--       3 hash         pending, see begin_indexing.lua
-- ARGV  four for each member, 1 to 32 members:
--         member
--         token        that the member had before the caller read the profile
--         next         the token of a member that stays recorded, without ' +'; '': none stays
--         record       of the profile; '': there is none
-- Result an outcome for each member:
--         'changed'    the index has another record than before
--         'same'       the index had this record before
--         'other'      the member has another token or none, so the caller reads again
-- Cost   O(log n) for each of at most 64 entries of a member, before and after

local names, entries, pending = KEYS[1], KEYS[2], KEYS[3]
local STEP = 4

local call = redis.call

local outcomes = {}
for i = 1, #ARGV, STEP do
  local member, token, following, record = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if call('HGET', pending, member) ~= token then
    outcomes[#outcomes + 1] = 'other'
  else
    local changed = names_put(names, entries, member, record)
    if following ~= '' and token:sub(-2) == ' +' then
      call('HSET', pending, member, following .. ' +')
    else
      call('HDEL', pending, member)
    end
    outcomes[#outcomes + 1] = changed and 'changed' or 'same'
  end
end
return outcomes
