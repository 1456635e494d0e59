-- Notes events that are about to be carried out, so that an id stands for one of
-- them alone. Begins with ids.lua and amend.lua.
--
-- KEYS  1, 2 hashes    ids of the event: to digest, state, definition and fields; the state
--                      is 'b' for begun, 'p' for published, 't' for being taken back, 'T' for
--                      that done; older versions have noted no definition
-- ARGV  four for each event:
--         id
--         digest       11 bytes that tell this event from another under the same id
--         definition   11 bytes that tell the event's updates from those of another
--                      definition
--         fields       JSON
-- Result one string for each: 'n' new, 's' seen before, 't' likewise, and taken back since,
--         'm' the id of another
-- Cost   O(events)

local ids = {[0] = KEYS[1], [1] = KEYS[2]}
local FIRST, STEP, DIGEST = 1, 4, 11
local SEVERAL = string.rep('*', DIGEST) -- definitions by which one event was carried out

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local asked = {}
for i = FIRST, #ARGV, STEP do asked[#asked + 1] = ARGV[i] end
local known, held = ids_find(ids, now, asked)

local results, records = {}, {}
for i = FIRST, #ARGV, STEP do
  local id, digest, definition, fields = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local record, result = known[id], 's'
  if not record then
    known[id], result = digest .. 'b' .. definition .. fields, 'n'
    records[#records + 1] = id
    records[#records + 1] = known[id]
  elseif record:sub(1, DIGEST) ~= digest then
    result = 'm'
  elseif record:sub(DIGEST + 1, DIGEST + 1):lower() == 't' then
    result = 't'
  elseif #record > DIGEST + 1 and record:sub(DIGEST + 2, DIGEST + 2) ~= '{' and record:sub(DIGEST + 2, 2 * DIGEST + 1) ~= definition then
    ids_amend(ids, held, id, record:sub(1, DIGEST + 1) .. SEVERAL .. record:sub(2 * DIGEST + 2))
  end
  results[#results + 1] = result
end
ids_keep(ids, held, records)
return results
