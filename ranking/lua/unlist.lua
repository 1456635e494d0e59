-- Removes deleted instances from all lists, while their definition is being deleted.
--
-- KEYS  1 sorted set   instances of the definition
--       2 sorted set   agenda
--       3 sorted set   listing
--       4 hash         definitions
--       5 sorted set   pending instances of the definition
-- ARGV  1 field        of the hash: since when the definition is being deleted
--       2 leaving      the value of the field that the caller knows; with another one, the call
--                      changes nothing
--       3 ...          instances
-- Result {'ok'}
-- Cost   O(log n) an instance

local instances, agenda, listing, definitions, pendings = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local field, leaving = ARGV[1], ARGV[2]
local FIRST = 3

local call = redis.call

if call('HGET', definitions, field) == leaving then
  for i = FIRST, #ARGV do
    call('ZREM', instances, ARGV[i])
    call('ZREM', pendings, ARGV[i])
    call('ZREM', agenda, ARGV[i])
    call('ZREM', listing, ARGV[i])
  end
end
return {'ok'}
