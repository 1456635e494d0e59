-- Reads a page of the instances of a definition, by name, and their number.
--
-- KEYS  1 sorted set   instances of the definition, see list.lua
--       2 sorted set   optional: further instances, the pending ones
-- ARGV  1 from         first name of the page, as ZRANGE BYLEX takes it
--       2 limit        names at most, 1 to 1,001
--       3, 4           first and last name of the whole list, as ZRANGE BYLEX takes them
-- Result {number of names in the whole list, {name, ...}}: so many names of each set, those of the second set behind
-- Cost   O(log n + limit)

local from, limit, first, last = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local call = redis.call

local total, names = 0, {}
for _, instances in ipairs(KEYS) do
  -- ZCARD costs less than a count.
  total = total + (first == '-' and call('ZCARD', instances) or call('ZLEXCOUNT', instances, first, last))
  for _, name in ipairs(call('ZRANGE', instances, from, last, 'BYLEX', 'LIMIT', 0, limit)) do names[#names + 1] = name end
end
return {total, names}
