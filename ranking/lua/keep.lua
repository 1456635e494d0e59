-- Extends the lock of a builder. Follows lib/lock.lua.
--
-- KEYS  1 string       lock
-- ARGV  1 token        of the caller
--       2 lease        µs from now until the lock ends
-- Result {'ok'} or {'lost'}: the caller no longer holds the lock
-- Cost   O(1)

local lock, token, lease = KEYS[1], ARGV[1], tonumber(ARGV[2])

local holder, _, since = lock_read(lock)
if holder ~= token then return {'lost'} end
lock_keep(lock, token, lease, since)
return {'ok'}
