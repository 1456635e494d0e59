-- Claims due deliveries for the time of a lease, one of each line in turn. If the caller stops before
-- the end of the lease, another caller claims them after it. Follows lib/turn.lua.
--
-- KEYS  1 sorted set       turns, see await.lua
--       2 ... sorted sets  lines, in the order of their turns
-- ARGV  1 limit            deliveries claimed at most
--       2 lease            µs from now until a claimed delivery is due again
--       3 ... slots        of the lines
-- Result {now in µs since 1970, slot, period, its new time, slot, period, its new time, ...}
-- Cost   O((limit + lines) log n)

local turns = KEYS[1]
local limit, lease = tonumber(ARGV[1]), tonumber(ARGV[2])
local LINE, SLOT = 1, 2 -- the i-th line has the key LINE + i, and its slot is the argument SLOT + i

local call, format = redis.call, string.format

local claimed, n, round, served = {format('%.0f', now)}, 0, -1, {}
while n < limit and n > round do
  round = n
  for i = 1, #KEYS - LINE do
    local line = KEYS[LINE + i]
    local period = n < limit and call('ZRANGEBYSCORE', line, '-inf', format('%.0f', now), 'LIMIT', 0, 1)[1]
    if period then
      n = n + 1
      served[i] = now + n
      local till = format('%.0f', now + lease + n)
      call('ZADD', line, till, period)
      claimed[#claimed + 1] = ARGV[SLOT + i]
      claimed[#claimed + 1] = period
      claimed[#claimed + 1] = till
    end
  end
end
for i = 1, #KEYS - LINE do turn_note(turns, KEYS[LINE + i], ARGV[SLOT + i], served[i]) end
return claimed
