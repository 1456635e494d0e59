-- Sets or deletes profiles of members of one part of a kind, with their entries in the index of names, and publishes
-- each change to all nodes. The caller computes the entries from the profile that it believes to be stored. Where
-- another profile is stored, the script changes nothing of that member, and the caller computes them again.
--
-- An element of the index is a folded text, RecordSep for a whole name or FieldSep for any other text, and the member.
--
-- KEYS  1 hash         profiles of the part: member to profile, as JSON
--       2 sorted set   index of names of the part, all with the score 0
-- ARGV  1 channel      of changed profiles
--       2 kind
--       and for each member, 1 to 32 members:
--         member
--         believed     the stored profile, as the caller believes; '': none
--         profile      the new one; '': delete it; the believed one: only the index changes
--         leaving      number of elements that leave the index, at most 256
--         entering     number of elements that the index is to have, at most 64
--         and these elements
-- Result for each member two values:
--         'changed', number of elements that left or entered the index
--         'other', the stored profile: it is not the believed one
-- Cost   O(log n) for each element; and a message to each node for each profile that changes

local profiles, names = KEYS[1], KEYS[2]
local channel, kind = ARGV[1], ARGV[2]
local FIRST, EACH = 3, 5

local call = redis.call

-- The script writes nothing that it may not publish, see board.lua.
local allowed = redis.acl_check_cmd
if allowed and not allowed('PUBLISH', channel, '') then return redis.error_reply('NORIGHT the Redis user may not PUBLISH') end

local outcomes, at = {}, FIRST
while at <= #ARGV do
  local member, believed, profile, leaving, entering = unpack(ARGV, at, at + EACH - 1)
  local leave_at = at + EACH
  local enter_at = leave_at + tonumber(leaving)
  at = enter_at + tonumber(entering)
  local stored = call('HGET', profiles, member) or ''
  if stored ~= believed then
    outcomes[#outcomes + 1] = 'other'
    outcomes[#outcomes + 1] = stored
  else
    local moved, scored = 0, {}
    for i = enter_at, at - 1 do
      scored[#scored + 1] = 0
      scored[#scored + 1] = ARGV[i]
    end
    -- The writes that may take memory come first: a Redis at its maxmemory refuses them before any change.
    if profile ~= stored and profile ~= '' then call('HSET', profiles, member, profile) end
    if #scored > 0 then moved = call('ZADD', names, unpack(scored)) end
    if profile ~= stored and profile == '' then call('HDEL', profiles, member) end
    if enter_at > leave_at then moved = moved + call('ZREM', names, unpack(ARGV, leave_at, enter_at - 1)) end
    if profile ~= stored then call('PUBLISH', channel, kind .. '\31' .. member) end
    outcomes[#outcomes + 1] = 'changed'
    outcomes[#outcomes + 1] = string.format('%d', moved)
  end
end
return outcomes
