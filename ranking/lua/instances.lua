-- Reads a page of the instances of a definition, by name, and their number.
--
-- KEYS  1 sorted set   instances of the definition, see list.lua
-- ARGV  1 from         first name, as ZRANGE BYLEX takes it
--       2 limit        names at most, 1 to 1,001
-- Result {total, {name, ...}}
-- Cost   O(log n + limit)

local instances = KEYS[1]
local from, limit = ARGV[1], ARGV[2]

return {redis.call('ZCARD', instances), redis.call('ZRANGE', instances, from, '+', 'BYLEX', 'LIMIT', 0, limit)}
