-- Records that a take-back of an event has begun, or has ended. Follows lib/ids.lua and lib/amend.lua.
--
-- KEYS  1, 2 hashes    ids of the event, see begin.lua
-- ARGV  1 id
--       2 state        't': the take-back has begun; 'T': it has ended
--       3 definition   of the event now, see begin.lua
--       4 length       of a span of ids, see ids.lua
--       5 since        when the length last became greater, see begin.lua
-- Result {'ok', state before, fields, began}: see lib/amend.lua. id and began together stand for this
--         occurrence alone.
--         {'none'}: the id is unknown, or about to expire
--         {'other'}: another definition carried out the event
--         {'erased'}: redact.lua has taken the fields out
-- Cost   O(1)

local ids, id, state, definition = {[0] = KEYS[1], [1] = KEYS[2]}, ARGV[1], ARGV[2], ARGV[3]
-- In this time before the id expires, in µs, no take-back begins. The boards could forget their ids
-- before the take-back reaches them, and its updates would stay there.
local LATE = 10 * 1000000

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local length = tonumber(ARGV[4])
local known, held = ids_find(ids, now, length, {id})
local record = known[id]
if not record then return {'none'} end
local ends = math.min(held.ends[held.place[id]], event_until(record, length, tonumber(ARGV[5])))
if ends <= now or state == 't' and ends - now <= LATE then return {'none'} end
if #record == HEAD then return {'erased'} end
if record:sub(HEAD + 1, HEAD + DIGEST) ~= definition then return {'other'} end
local was = record:sub(DIGEST + 1, DIGEST + 1)
if was ~= 'T' then ids_amend(ids, held, id, record:sub(1, DIGEST) .. state .. record:sub(DIGEST + 2)) end
return {'ok', was, record:sub(HEAD + DIGEST + 1), record:sub(DIGEST + 2, HEAD)}
