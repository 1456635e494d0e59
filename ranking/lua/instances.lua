-- Reads a page of the instances of a definition, by name, and their number.
--
-- KEYS  1 sorted set   instances of the definition, see list.lua
-- ARGV  1 from         first name of the page, as ZRANGE BYLEX takes it
--       2 limit        names at most, 1 to 1,001
--       3, 4           first and last name of the whole list, as ZRANGE BYLEX takes them
-- Result {number of names in the whole list, {name, ...}}
-- Cost   O(log n + limit)

local instances = KEYS[1]
local from, limit, first, last = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local call = redis.call

-- ZCARD costs less than a count.
local total = first == '-' and call('ZCARD', instances) or call('ZLEXCOUNT', instances, first, last)
return {total, call('ZRANGE', instances, from, last, 'BYLEX', 'LIMIT', 0, limit)}
