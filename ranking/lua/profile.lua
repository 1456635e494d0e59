-- Sets a member's profile, or takes it away, and tells all nodes.
--
-- KEYS  1 string       the profile, as JSON
-- ARGV  1 channel      of profiles that change
--       2 message      what is published there: kind, unit separator, member
--       3 profile      as JSON; '' takes it away
-- Result {1 where there was one before, else 0}
-- Cost   O(1)

local key = KEYS[1]
local channel, message, profile = ARGV[1], ARGV[2], ARGV[3]

local call = redis.call

-- Nothing is written if it cannot be announced, see board.lua.
local allowed = redis.acl_check_cmd
if allowed and not allowed('PUBLISH', channel, '') then return redis.error_reply('NORIGHT the Redis user may not PUBLISH') end

local there = call('EXISTS', key)
if profile ~= '' then
  call('SET', key, profile)
elseif there == 1 then
  call('DEL', key)
end
if profile ~= '' or there == 1 then call('PUBLISH', channel, message) end
return { there }
