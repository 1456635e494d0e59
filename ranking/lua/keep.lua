-- Keeps the lock of who builds a board. Begins with lock.lua.
--
-- KEYS  1 string       lock
-- ARGV  1 token        of the caller
--       2 lease        µs from now for which it has the lock
-- Result {'ok'} or {'lost'}: the caller has it no more
-- Cost   O(1)

local lock, token, lease = KEYS[1], ARGV[1], tonumber(ARGV[2])

local holder, _, since = lock_read(lock)
if holder ~= token then return {'lost'} end
lock_keep(lock, token, lease, since)
return {'ok'}
