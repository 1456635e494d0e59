-- Who builds a board: a string 'token until since', times in µs since 1970, which does
-- not count any more from until on; Redis takes it away then, too. Other scripts begin
-- with this one.

local LEASE = 10 * 1000000 -- µs that a lock lasts at most

local lock_time = redis.call('TIME')
local now = tonumber(lock_time[1]) * 1000000 + tonumber(lock_time[2])

-- Who has it, until when, and since when; nil: nobody.
local function lock_read(lock)
  local token, till, since = (redis.call('GET', lock) or ''):match('^(%S+) (%d+) (%d+)$')
  -- One that lasts longer than any is from before the clock was set back.
  if token and now < tonumber(till) and tonumber(till) - now <= LEASE then return token, till, since end
end

-- Has the token keep it for a time from now, in µs.
local function lock_keep(lock, token, lease, since)
  redis.call('SET', lock, string.format('%s %.0f %s', token, now + lease, since), 'PX', string.format('%.0f', lease / 1000))
end
