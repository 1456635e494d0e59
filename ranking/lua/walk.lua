-- Begins a walk for the pending erasures of a kind, or returns the walk under way. A walk serves the
-- erasures that began before it. Follows lib/erasure.lua.
--
-- KEYS  1 hash         erasures, see erasing.lua
--       2 sorted set   pending, see erasing.lua
--       3 sorted set   agenda of erasures; without a pending erasure the script removes the kind
-- ARGV  1 kind
-- Result {the walk as JSON, see member_erase_walk.go}; '': no erasure is pending
-- Cost   O(log n)

local erasures, pending, agenda, kind = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

local walk = call('HGET', erasures, kind)
if walk then return {walk} end
local latest = call('ZRANGE', pending, -1, -1, 'WITHSCORES')
if not latest[2] then
  call('ZREM', agenda, kind)
  return {''}
end
-- After a failover, Redis's clock may be behind.
walk = format('{"boards":0,"began":%.0f}', math.max(now, tonumber(latest[2]) + 1))
call('HSET', erasures, kind, walk)
return {walk}
