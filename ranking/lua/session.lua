-- Stores what a session is about. An operator can sign in while Redis is at its maxmemory, so the script begins with a
-- removal, see scripts.go.
--
-- KEYS  1 string       session, see session.go
-- ARGV  1 about        with the time at which the session expires
--       2 ttl          in ms
-- Result {'ok'}
-- Cost   O(1)

local session, about, ttl = KEYS[1], ARGV[1], ARGV[2]

redis.call('DEL', session)
redis.call('SET', session, about, 'PX', ttl)
return {'ok'}
