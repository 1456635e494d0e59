-- The lock of the builder of a board: a string 'token until since', times in µs since 1970. The lock
-- ends at until, and Redis deletes the string at that time.

local LEASE = 10 * 1000000 -- µs that a lock lasts at most

local lock_time = redis.call('TIME')
local now = tonumber(lock_time[1]) * 1000000 + tonumber(lock_time[2])

-- Returns the token, the end and the start of a lock that is held, or nil.
local function lock_read(lock)
  local token, till, since = (redis.call('GET', lock) or ''):match('^(%S+) (%d+) (%d+)$')
  -- A lock that lasts longer than LEASE is from before the clock was set back.
  if token and now < tonumber(till) and tonumber(till) - now <= LEASE then return token, till, since end
end

-- Takes or extends a lock for a time from now, in µs.
local function lock_keep(lock, token, lease, since)
  redis.call('SET', lock, string.format('%s %.0f %s', token, now + lease, since), 'PX', string.format('%.0f', lease / 1000))
end
