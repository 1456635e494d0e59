-- Releases the lease of a stream, if the caller holds it.
--
-- KEYS  1 string       lease: the token of its holder
-- ARGV  1 token        of the caller
-- Result {'ok'}
-- Cost   O(1)

local lease, token = KEYS[1], ARGV[1]

if redis.call('GET', lease) == token then redis.call('DEL', lease) end
return {'ok'}
