-- The part of apply.lua that looks up the request ids of the batch. ids.lua does the same with
-- functions. Follows apply_state.lua.

local DIGEST = 11 -- bytes
local BUCKET = 610 * 1000000 -- µs, see ids.lua

local known, kept, nth = {}, {}, 0 -- records of this batch by id; {id, record, id, record, ...}; place of an id in newer and older
local ids, newer, older, has_newer, has_older, bucket, stale -- the hash and the records of the present bucket, and of the one before
local asked = {}
for i = first + 3, #ARGV, STEP do
  if ARGV[i] ~= '' then asked[#asked + 1] = ARGV[i] end
end
if #asked > 0 then
  local even_bucket, odd_bucket = tonumber(call('HGET', KEYS[3], '') or -2), tonumber(call('HGET', KEYS[4], '') or -2)
  bucket = math.max(floor(clock / BUCKET), even_bucket, odd_bucket)
  local other, newer_bucket, older_bucket = KEYS[4], even_bucket, odd_bucket
  ids = KEYS[3]
  if bucket % 2 == 1 then
    other, newer_bucket, older_bucket = KEYS[3], odd_bucket, even_bucket
    ids = KEYS[4]
  end
  has_newer, has_older = newer_bucket == bucket, older_bucket == bucket - 1
  if #asked == 1 then -- HMGET takes three times as long
    newer = has_newer and {call('HGET', ids, asked[1])}
    older = has_older and {call('HGET', other, asked[1])}
  else
    newer = has_newer and call('HMGET', ids, unpack(asked))
    older = has_older and call('HMGET', other, unpack(asked))
  end
  if not has_newer and newer_bucket >= 0 then stale = {ids} end
  if not has_older and older_bucket >= 0 then stale = {other, stale and stale[1]} end
end
