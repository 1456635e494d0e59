-- Changes of the record of a request id. Follows ids.lua.

-- Replaces the record of an id. The id is kept no longer than before.
local function ids_amend(hashes, held, id, record)
  redis.call('HSET', hashes[held.place[id] or held.newer], id, record)
end

-- Returns the start of the hash that keeps an id that was found, and until when it keeps it, in µs since 1970.
local function ids_kept(held, id)
  local place = held.place[id]
  return held.start[place], held.ends[place]
end
