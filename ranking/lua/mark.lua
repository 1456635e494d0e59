-- Notes that members of a kind have profiles, before a node sets the first. So nodes look
-- for no profiles of other kinds. After the greatest number of kinds it notes instead that
-- each kind may have profiles.
--
-- KEYS  1 hash         definitions
-- ARGV  1 prefix       of the fields of kinds
--       2 kind
--       3 every        stands for each kind
--       4 most         kinds that may be noted, beside every
--       5 next         version, for after a change
-- Result {1 where that was not known, else 0}
-- Cost   O(fields), or O(1) where it was known

local definitions = KEYS[1]
local prefix, kind, every, most, next_version = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]

local call = redis.call

if call('HEXISTS', definitions, prefix .. kind) == 1 or call('HEXISTS', definitions, prefix .. every) == 1 then return {0} end
local noted = 0
for _, field in ipairs(call('HKEYS', definitions)) do
  if field:sub(1, #prefix) == prefix then noted = noted + 1 end
end
call('HSET', definitions, prefix .. (noted < most and kind or every), '1')
-- Without a version all was lost, which nodes that still know it must see; so whoever
-- defines it anew gives it one.
if call('HEXISTS', definitions, 'version') == 1 then
  call('HSET', definitions, 'version', next_version)
end
return {1}
