-- Notes that an event is being taken back, or has been. Begins with ids.lua.
--
-- KEYS  1, 2 hashes    ids of the event, see begin.lua
-- ARGV  1 id
--       2 state        't': it is being taken back, 'T': it has been
-- Result {'ok', state before, fields}, or {'none'}: it is not known, or not any more
-- Cost   O(1)

local ids, id, state = {[0] = KEYS[1], [1] = KEYS[2]}, ARGV[1], ARGV[2]
local DIGEST = 11

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local known, held = ids_find(ids, now, {id})
local record = known[id]
if not record or #record <= DIGEST + 1 then return {'none'} end
local was, fields = record:sub(DIGEST + 1, DIGEST + 1), record:sub(DIGEST + 2)
if was ~= 'T' then ids_keep(ids, held, {id, record:sub(1, DIGEST) .. state .. fields}) end
return {'ok', was, fields}
