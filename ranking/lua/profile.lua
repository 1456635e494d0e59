-- Sets or deletes the profile of a member, and publishes the change to all nodes. Where one Redis holds all
-- keys, it changes the index of names too. Follows lib/names.lua.
--
-- KEYS  1 string       the profile, as JSON
--       2 hash         names of the index; without it, the index stays, as do the next keys
--       3 sorted set   entries of the index
--       4 hash         pending, see begin_indexing.lua. A caller that has read the profile to index it must
--                      read it again.
-- ARGV  1 channel      of changed profiles
--       2 message      to publish: kind, unit separator, member
--       3 profile      as JSON; '': delete it
--       4 member       for the index
--       5 record       likewise; '': remove the member
-- Result {1 if there was a profile before, else 0}
-- Cost   O(log n) for each of at most 64 entries, before and after; and the message to each node

local key, names, entries, pending = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local channel, message, profile, member, record = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local call = redis.call

-- The script writes nothing that it may not publish, see board.lua.
local allowed = redis.acl_check_cmd
if allowed and not allowed('PUBLISH', channel, '') then return redis.error_reply('NORIGHT the Redis user may not PUBLISH') end

local there = call('EXISTS', key)
if profile ~= '' then
  call('SET', key, profile)
elseif there == 1 then
  call('DEL', key)
end
if names then
  names_put(names, entries, member, record)
  call('HDEL', pending, member)
end
if profile ~= '' or there == 1 then call('PUBLISH', channel, message) end
return {there}
