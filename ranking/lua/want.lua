-- Records that a node takes deliveries of boards. Follows lib/full_hash.lua.
--
-- KEYS  1 hash         definitions
-- ARGV  two for each board:
--         field
--         until        when the record ends, µs since 1970
-- Result {'ok'}
-- Cost   O(1) for each board

redis.call('HSET', KEYS[1], unpack(ARGV))
return {'ok'}
