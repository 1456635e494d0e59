-- Records that a take-back of an event has begun, or has ended. Follows lib/ids.lua and lib/amend.lua.
--
-- KEYS  1, 2 hashes    ids of the event, see begin.lua
-- ARGV  1 id
--       2 state        't': the take-back has begun; 'T': it has ended
--       3 definition   of the event now, see begin.lua
--       4 length       of a span of ids, see ids.lua
-- Result {'ok', state before, fields, start}: of the hash that keeps the id, see ids.lua. Until
--         the id expires, id and start together stand for this occurrence alone.
--         {'none'}: the id is unknown, or about to expire
--         {'other'}: another definition carried out the event
--         {'erased'}: redact.lua has taken the fields out
-- Cost   O(1)

local ids, id, state, definition = {[0] = KEYS[1], [1] = KEYS[2]}, ARGV[1], ARGV[2], ARGV[3]
local DIGEST = 11
-- In this time before the id expires, in µs, no take-back begins. The boards could forget their ids
-- before the take-back reaches them, and its updates would stay there.
local LATE = 10 * 1000000

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local known, held = ids_find(ids, now, tonumber(ARGV[4]), {id})
local record = known[id]
if not record or #record <= DIGEST then return {'none'} end
if #record == DIGEST + 1 then return {'erased'} end
local start, ends = ids_kept(held, id)
if state == 't' and ends - now <= LATE then return {'none'} end
local was, by, fields = record:sub(DIGEST + 1, DIGEST + 1), '', record:sub(DIGEST + 2)
if fields:sub(1, 1) ~= '{' then by, fields = fields:sub(1, DIGEST), fields:sub(DIGEST + 1) end
if by ~= '' and by ~= definition then return {'other'} end
if was ~= 'T' then ids_amend(ids, held, id, record:sub(1, DIGEST) .. state .. by .. fields) end
return {'ok', was, fields, string.format('%.0f', start)}
