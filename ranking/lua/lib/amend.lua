-- More of the ids of requests, for scripts that begin with ids.lua and this one.

-- Keeps what there is to know of an id that was found, for no longer than it would be
-- kept anyway.
local function ids_amend(hashes, held, id, record)
  redis.call('HSET', hashes[held.at[id] % 2], id, record)
end

-- Until when an id that was found is kept, in µs since 1970.
local function ids_until(held, id) return (held.at[id] + 2) * BUCKET end
