-- Notes that there are profiles of a kind, before the first of them is set, so that
-- nobody looks for those of the other kinds.
--
-- KEYS  1 hash         definitions
-- ARGV  1 field        of the kind
--       2 next         version, for after a change
-- Result {1 where that was not known, else 0}
-- Cost   O(1)

local definitions = KEYS[1]
local field, next_version = ARGV[1], ARGV[2]

local call = redis.call

local new = call('HSETNX', definitions, field, '1')
-- Without a version all was lost, which nodes that still know it must see; so whoever
-- defines it anew gives it one.
if new == 1 and call('HEXISTS', definitions, 'version') == 1 then
  call('HSET', definitions, 'version', next_version)
end
return { new }
