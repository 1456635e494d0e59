-- Gives up the lock of who builds a board, and takes away what was being built. Begins
-- with lock.lua.
--
-- KEYS  1 string       lock
--       2 sorted set   aside: the result that is being built
--       3 sorted set   aside: its distinct scores
-- ARGV  1 token        of the caller; '' for what was left by one who died
-- Result {'ok'} or {'busy'}: another has it
-- Cost   O(1)

local lock, aside, distinct, token = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

local holder = lock_read(lock)
if holder and holder ~= token then return {'busy'} end
redis.call('UNLINK', lock, aside, distinct)
return {'ok'}
