-- Records events before the caller carries them out, so that one id stands for one event. Follows
-- lib/ids.lua and lib/amend.lua.
--
-- KEYS  1, 2 hashes    ids of the event: to the head, see lib/amend.lua, definition and fields. The state is 'b'
--                      (begun), 'p' (published), 't' (a take-back has begun) or 'T' (it has ended).
-- ARGV  1 length       of a span of ids, see ids.lua
--       2 most         ids that the event may hold
--       3 since        when the length last became greater, in µs since 1970
--       then four for each event:
--         id
--         digest       11 bytes that tell this event from another one under the same id
--         definition   11 bytes that tell the event's updates from those of another definition
--         fields       JSON
-- Result one string for each event: 'n' (new), 's' (seen before), 't' (seen before, and a take-back
--         has begun), 'm' (the id is of another event) or 'i ' µs (there is no room for the id, until so much later)
-- Cost   O(events)

local ids = {[0] = KEYS[1], [1] = KEYS[2]}
local FIRST, STEP = 4, 4
local SEVERAL = string.rep('*', DIGEST) -- stands for two or more definitions that carried out one event

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local asked = {}
for i = FIRST, #ARGV, STEP do asked[#asked + 1] = ARGV[i] end
local length, since = tonumber(ARGV[1]), tonumber(ARGV[3])
local known, held = ids_find(ids, now, length, asked)

local results, records = {}, {}
local room, free
for i = FIRST, #ARGV, STEP do
  local id, digest, definition, fields = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local record, result = known[id], 's'
  if record and event_until(record, length, since) <= now then record = nil end
  if not record and not room then room, free = ids_room(ids, held.ends, tonumber(ARGV[2]), held.keep) end
  if not record and room <= 0 then
    result = string.format('i %.0f', free - now)
  elseif not record then
    room = room - 1
    known[id], result = digest .. 'b' .. event_began(now, length) .. definition .. fields, 'n'
    records[#records + 1] = id
    records[#records + 1] = known[id]
  elseif record:sub(1, DIGEST) ~= digest then
    result = 'm'
  elseif record:sub(DIGEST + 1, DIGEST + 1):lower() == 't' then
    result = 't'
  elseif #record > HEAD and record:sub(HEAD + 1, HEAD + DIGEST) ~= definition then
    ids_amend(ids, held, id, record:sub(1, HEAD) .. SEVERAL .. record:sub(HEAD + DIGEST + 1))
  end
  results[#results + 1] = result
end
ids_keep(ids, held, records, now)
return results
