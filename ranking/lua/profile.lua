-- Sets or deletes the profile of a member, and publishes the change to all nodes.
--
-- KEYS  1 string       the profile, as JSON
-- ARGV  1 channel      of changed profiles
--       2 message      to publish: kind, unit separator, member
--       3 profile      as JSON; '': delete it
-- Result {1 if there was a profile before, else 0}
-- Cost   O(1), and the message to each node

local key = KEYS[1]
local channel, message, profile = ARGV[1], ARGV[2], ARGV[3]

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
if profile ~= '' or there == 1 then call('PUBLISH', channel, message) end
return {there}
