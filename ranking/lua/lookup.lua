-- Lists entries of an index of names that begin with texts. A member that matches has an entry with each of some
-- prefixes, so the script lists those of the rarest one.
--
-- KEYS  1 sorted set   entries, see lib/names.lua
-- ARGV  1 most         entries listed for the names, at most
--       2 most_ids     entries listed for the ids, at most
--       3 id           the text with which the entries of ids begin
--       4 phrase       a prefix of the entries that are listed first where there are too many
--       5 and more     the prefixes, 1 to 8
-- Result {'1' if there are more entries of names, else '0', the same for ids, {entry, ...} of names,
--         {entry, ...} of ids}
-- Cost   O(log n) a prefix, and O(most + most_ids)

local entries = KEYS[1]
local most, most_ids, id, phrase = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]

local call = redis.call

-- No text holds the byte 255.
local function count(prefix) return call('ZLEXCOUNT', entries, '[' .. prefix, '(' .. prefix .. '\255') end
local function list(prefix, limit) return call('ZRANGE', entries, '[' .. prefix, '(' .. prefix .. '\255', 'BYLEX', 'LIMIT', 0, limit) end

local rarest, least = ARGV[5], count(ARGV[5])
for i = 6, #ARGV do
  local n = count(ARGV[i])
  if n < least then rarest, least = ARGV[i], n end
end
local found
if least > most and phrase ~= rarest then
  local half = math.floor(most / 2)
  found = list(phrase, half)
  for _, entry in ipairs(list(rarest, half)) do found[#found + 1] = entry end
else
  found = list(rarest, most)
end
local ids = list(id, most_ids + 1)
local more_ids = #ids > most_ids
if more_ids then ids[#ids] = nil end
return {least > most and '1' or '0', more_ids and '1' or '0', found, ids}
