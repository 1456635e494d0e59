-- Changes of the record of a request id. Follows ids.lua.

-- Returns the bucket of time that keeps an id that was found.
local function ids_bucket(held, id) return held.old[id] and held.bucket - 1 or held.bucket end

-- Replaces the record of an id that was found. The id is kept no longer than before.
local function ids_amend(hashes, held, id, record)
  redis.call('HSET', hashes[ids_bucket(held, id) % 2], id, record)
end

-- Returns until when an id that was found is kept, in µs since 1970.
local function ids_until(held, id) return (ids_bucket(held, id) + 2) * BUCKET end
