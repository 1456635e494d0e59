-- The part of apply.lua for boards whose members leave, by limit, member_ttl or removal. Follows
-- apply_head.lua, leaving.lua and order.lua.

local EXPIRE, TRIM = 32, 8 -- members that one batch, and one update beyond its own, removes at most

-- Returns whether the time of a member on the board is over. (More may be due than one batch
-- removes.)
local function is_over(member) return tonumber(call('ZSCORE', entered, member) or now) <= now - ttl end

-- Returns whether a member that comes to a key has no place. On a full board most who come have
-- none, so it reads the last member.
local function is_beyond(member, key)
  if call('ZCARD', members) < limit then return false end
  local last = call('ZRANGE', members, '-1', '-1', 'WITHSCORES')
  local s, t = tonumber(key), tonumber(last[2])
  return s > t or s == t and after(member, last[1])
end

