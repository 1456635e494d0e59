-- The ids of requests, and what came of them, kept for ten to twenty minutes in two
-- hashes by turns, whose field '' holds the bucket of time that they are of. Other
-- scripts begin with this one.

local BUCKET = 610 * 1000000 -- µs; ids live for one to two of these, so for ten minutes at least

-- What is known of some ids, by id, and what the others here need. Now is in µs.
local function ids_find(hashes, now, ids)
  local known = {}
  if #ids == 0 then return known end
  local found = {[0] = redis.call('HMGET', hashes[0], '', unpack(ids)), [1] = redis.call('HMGET', hashes[1], '', unpack(ids))}
  local held = {[0] = tonumber(found[0][1] or -2), [1] = tonumber(found[1][1] or -2)}
  local bucket, stale, live, at = math.max(math.floor(now / BUCKET), held[0], held[1]), {}, {}, {}
  -- the older first: what the newer one has of an id is what came of it last
  for age = 1, 0, -1 do
    local slot = (bucket + age) % 2
    -- this hash is for the bucket of its own parity, the other for the one before
    if held[slot] == bucket - age then
      table.insert(live, 1, slot)
      for i, id in ipairs(ids) do
        if found[slot][i + 1] then known[id], at[id] = found[slot][i + 1], bucket - age end
      end
    elseif held[slot] >= 0 then
      stale[#stale + 1] = hashes[slot]
    end
  end
  return known, {bucket = bucket, stale = stale, live = live, at = at}
end

-- Keeps ids and what there is to know of them: {id, record, id, record, ...}.
local function ids_keep(hashes, held, records)
  if #records == 0 then return end
  if #held.stale > 0 then redis.call('UNLINK', unpack(held.stale)) end
  redis.call('HSET', hashes[held.bucket % 2], '', string.format('%.0f', held.bucket), unpack(records))
end

