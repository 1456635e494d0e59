-- Reschedules a claimed member of an agenda, or removes it, unless its time has changed since the
-- claim. With a listing since the claim, the member stays on the agenda: a caller may have created a
-- board-period that the housekeeping of this claim has not seen.
--
-- KEYS  1 sorted set   agenda
--       2 sorted set   listing, see list.lua; optional, as is the next key
--       3, 4 sorted sets   instances, and pending ones, from which the script removes the member with the agenda
-- ARGV  1 member
--       2 claimed      the time that claim.lua or assign.lua gave the member
--       3 since        when a node claimed the member, µs since 1970
--       4 next         when the member is due, µs since 1970; '': remove it
-- Result {'ok'} or {'changed'}: the member has another time, or is gone
-- Cost   O(log n)

local agenda, listing = KEYS[1], KEYS[2]
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
  for i = 3, #KEYS do call('ZREM', KEYS[i], member) end
end
return {'ok'}
