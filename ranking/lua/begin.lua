-- Notes events that are about to be carried out, so that an id stands for one of
-- them alone. Begins with ids.lua.
--
-- KEYS  1, 2 hashes    ids of the event: to digest, state and fields; the state is 'b' for
--                      begun, 'p' for published, 't' for being taken back, 'T' for that done
-- ARGV  three for each event:
--         id
--         digest       11 bytes that tell this event from another under the same id
--         fields       JSON
-- Result one string for each: 'n' new, 's' seen before, 'm' the id of another
-- Cost   O(events)

local ids = {[0] = KEYS[1], [1] = KEYS[2]}
local FIRST, STEP, DIGEST = 1, 3, 11

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local asked = {}
for i = FIRST, #ARGV, STEP do asked[#asked + 1] = ARGV[i] end
local known, held = ids_find(ids, now, asked)

local results, records = {}, {}
for i = FIRST, #ARGV, STEP do
  local id, digest, fields = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local record, result = known[id], 's'
  if not record then
    known[id], result = digest .. 'b' .. fields, 'n'
    records[#records + 1] = id
    records[#records + 1] = known[id]
  elseif record:sub(1, DIGEST) ~= digest then
    result = 'm'
  end
  results[#results + 1] = result
end
ids_keep(ids, held, records)
return results
