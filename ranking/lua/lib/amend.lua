-- Records of events, and changes of the record of a request id. Follows ids.lua.
--
-- A record of an event begins with a head: 11 bytes of a digest, a state, and when the event began and the length of
-- a span of ids then, in s, as 8 and 5 hexadecimal digits. The scripts forget an event no later than its boards do,
-- whatever became of the length since. A hash can be kept for longer than that.
local HEAD, DIGEST = 25, 11
local IDS_LEAST = 610 * 1000000 -- the least length, in µs: definition.LeastIDSpan

-- Returns the end of a head. now and length are in µs.
local function event_began(now, length)
  return string.format('%08x%05x', math.floor(now / 1000000), math.floor(length / 1000000))
end

-- Returns until when the scripts know an event, in µs since 1970. since is when the length last became greater: only
-- later ids are known for the length.
local function event_until(record, length, since)
  local began = tonumber(record:sub(DIGEST + 2, DIGEST + 9), 16) * 1000000
  local was = tonumber(record:sub(DIGEST + 10, HEAD), 16) * 1000000
  if began < since then return began + IDS_LEAST end
  if length ~= was then return began + math.min(length, was) end
  return began - began % length + 2 * length -- as the boards: the event and the boards forget together
end

-- Replaces the record of an id. The id is kept no longer than before.
local function ids_amend(hashes, held, id, record)
  redis.call('HSET', hashes[held.place[id] or held.newer], id, record)
end
