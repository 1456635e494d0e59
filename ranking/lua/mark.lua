-- Records that members of a kind may have profiles, before a node sets the first one. Nodes read no
-- profiles of other kinds. Beyond the maximum of recorded kinds, it records that any kind may have
-- profiles.
--
-- KEYS  1 hash         definitions
-- ARGV  1 prefix       of the fields of kinds
--       2 kind
--       3 every        stands for every kind
--       4 most         kinds that the hash may have, without every
--       5 next         version of the definitions after a change
-- Result {1 if this call recorded it, else 0}
-- Cost   O(fields), or O(1) if it was recorded before

local definitions = KEYS[1]
local prefix, kind, every, most, next_version = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]

local call = redis.call

if call('HEXISTS', definitions, prefix .. kind) == 1 or call('HEXISTS', definitions, prefix .. every) == 1 then return {0} end
local noted = 0
for _, field in ipairs(call('HKEYS', definitions)) do
  if field:sub(1, #prefix) == prefix then noted = noted + 1 end
end
call('HSET', definitions, prefix .. (noted < most and kind or every), '1')
-- Without a version, Redis has lost the definitions. Nodes that still have them must notice that,
-- so this script adds no version. The node that restores the definitions adds one.
if call('HEXISTS', definitions, 'version') == 1 then
  call('HSET', definitions, 'version', next_version)
end
return {1}
