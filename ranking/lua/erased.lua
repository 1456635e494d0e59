-- Notes how far it has come that a member is erased, unless something else is noted
-- meanwhile.
--
-- KEYS  1 hash         erasures: kind and member to JSON, see erase.go
-- ARGV  1 field        of the erasure
--       2 was          what the caller has read
--       3 next         what is noted; '' takes it away
-- Result {'ok'} or {'other', what is noted, or ''}
-- Cost   O(1)

local erasures, field, was, next = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

local call = redis.call

local noted = call('HGET', erasures, field) or ''
if noted ~= was then return {'other', noted} end
if next == '' then call('HDEL', erasures, field) else call('HSET', erasures, field, next) end
return {'ok'}
