-- Puts a claimed member back on its agenda, or takes it off, unless its time has been
-- changed since it was claimed. What came to be of an instance after it was looked
-- after is not missed: it was listed before.
--
-- KEYS  1 sorted set   agenda
--       2 sorted set   listing: instance to when that may be forgotten, µs since 1970;
--                      this and what follows may be missing
--       3 sorted set   instances that the member leaves with the agenda
-- ARGV  1 member
--       2 claimed      its time, as claim.lua gave it
--       3 since        when it was claimed, µs since 1970
--       4 next         when it is due, likewise; '' takes it off
-- Result {'ok'} or {'changed'}
-- Cost   O(log n)

local agenda, listing, instances = KEYS[1], KEYS[2], KEYS[3]
local member, claimed, since, due = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local call = redis.call

local at = call('ZSCORE', agenda, member)
if not at or tonumber(at) ~= claimed then return {'changed'} end
local listed = listing and call('ZSCORE', listing, member)
if listed and tonumber(listed) > since then
  due = math.min(due or math.huge, tonumber(listed))
elseif listed then
  call('ZREM', listing, member)
end
if due then
  call('ZADD', agenda, string.format('%.0f', due), member)
else
  call('ZREM', agenda, member)
  if instances then call('ZREM', instances, member) end
end
return {'ok'}
