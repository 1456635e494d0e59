-- Claims members of an agenda that are due, for the time of a lease. If the caller stops before the
-- end of the lease, another caller claims them after it.
--
-- KEYS  1 sorted set   agenda: member to when it is due, µs since 1970
-- ARGV  1 limit        members claimed at most
--       2 lease        µs from now until a claimed member is due again
-- Result {now in µs since 1970, member, its new time, member, its new time, ...}
-- Cost   O(limit log n)

local agenda = KEYS[1]
local limit, lease = tonumber(ARGV[1]), tonumber(ARGV[2])

local call, format = redis.call, string.format

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local claimed = {format('%.0f', now)}
local due = call('ZRANGEBYSCORE', agenda, '-inf', format('%.0f', now), 'LIMIT', 0, limit)
for i, member in ipairs(due) do
  local till = format('%.0f', now + lease + i)
  call('ZADD', agenda, till, member)
  claimed[#claimed + 1] = member
  claimed[#claimed + 1] = till
end
return claimed
