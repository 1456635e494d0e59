-- Request ids and what came of them. Two hashes keep them in turns, for ten to twenty minutes. Each
-- hash expires by itself when the last of its ids is too old, also on a board that nobody writes to.
-- The field '' of a hash holds the bucket of time whose ids the hash has: even buckets are in
-- the hash 0, odd ones in the hash 1.

local BUCKET = 610 * 1000000 -- µs; ids live for one to two buckets, so for ten minutes at least

-- Looks up ids. Returns the records that are known, by id, and what the functions below need.
local function ids_find(hashes, now, ids)
  local known = {}
  if #ids == 0 then return known end
  local call = redis.call
  local even_bucket, odd_bucket = tonumber(call('HGET', hashes[0], '') or -2), tonumber(call('HGET', hashes[1], '') or -2)
  local bucket = math.max(math.floor(now / BUCKET), even_bucket, odd_bucket)
  local newer, older = hashes[bucket % 2], hashes[1 - bucket % 2]
  local newer_bucket, older_bucket = even_bucket, odd_bucket
  if bucket % 2 == 1 then newer_bucket, older_bucket = odd_bucket, even_bucket end
  local has_newer, has_older, old, stale = newer_bucket == bucket, older_bucket == bucket - 1, {}, nil
  if not has_newer and newer_bucket >= 0 then stale = {newer} end
  if not has_older and older_bucket >= 0 then stale = {older, stale and stale[1]} end
  newer = has_newer and call('HMGET', newer, unpack(ids))
  older = has_older and call('HMGET', older, unpack(ids))
  for i, id in ipairs(ids) do
    if has_newer and newer[i] then
      known[id] = newer[i] -- it is later than what the older hash has
    elseif has_older and older[i] then
      known[id], old[id] = older[i], true
    end
  end
  return known, {
    bucket = bucket, -- of time now
    left = math.floor(((bucket + 2) * BUCKET - now) / 1000), -- ms until the hash of this bucket expires
    old = old, -- ids whose record is in the hash of the bucket before
    has_newer = has_newer, has_older = has_older, -- whether the hashes are of the bucket and of the one before
    stale = stale -- hashes whose ids are older than these buckets, or nil
  }
end

-- Stores records of ids: {id, record, id, record, ...}.
local function ids_keep(hashes, held, records)
  if #records == 0 then return end
  local hash = hashes[held.bucket % 2]
  if held.stale then redis.call('UNLINK', unpack(held.stale)) end
  if not held.has_newer then redis.call('HSET', hash, '', string.format('%d', held.bucket)) end
  redis.call('HSET', hash, unpack(records))
  -- pcall: nothing may fail once ids are stored, and forget.lua deletes what does not expire.
  if not held.has_newer then redis.pcall('PEXPIRE', hash, string.format('%d', held.left)) end
end

