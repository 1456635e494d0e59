-- Releases the lock of a builder, and deletes the result in the making. Follows lib/lock.lua.
--
-- KEYS  1 string       lock
--       2 sorted set   aside: the result in the making
--       3 sorted set   aside: its distinct scores
-- ARGV  1 token        of the caller; '': delete the result that a stopped builder has left
-- Result {'ok'} or {'busy'}: another caller holds the lock
-- Cost   O(1); UNLINK frees the memory in the background

local lock, aside, distinct, token = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

local holder = lock_read(lock)
if holder and holder ~= token then return {'busy'} end
redis.call('UNLINK', lock, aside, distinct)
return {'ok'}
