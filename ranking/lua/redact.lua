-- Cuts the fields off the records of events, so that these name nobody. Their heads stay, so the scripts still recognise
-- a retry. Follows lib/full_hash.lua and lib/amend.lua.
--
-- KEYS  1 hash         ids of the event, see begin.lua
-- ARGV  two for each record: id, and the digest of the record that the caller has read
-- Result {'ok'}: the call has changed the records that still have that digest
-- Cost   O(records)

local ids = KEYS[1]

for i = 1, #ARGV, 2 do
  local id, digest = ARGV[i], ARGV[i + 1]
  local record = redis.call('HGET', ids, id) or ''
  if record:sub(1, DIGEST) == digest then redis.call('HSET', ids, id, record:sub(1, HEAD)) end
end
return {'ok'}
