-- The part of apply.lua that looks up the request ids of the batch. ids.lua does the same with
-- functions, and tells how the hashes take turns. Follows apply_state.lua.

local DIGEST = 11 -- bytes

local known, kept, nth = {}, {}, 0 -- records of this batch by id; {id, record, id, record, ...}; place of an id in newer and older
local ids, other, newer, older -- the hash that takes new ids, the other one, and the records in them
local has_newer, has_older, ids_start, ids_ends, ids_until, other_start, other_until -- see ids.lua; ids_until, other_until: with new ids
local asked = {}
for i = first + 3, #ARGV, STEP do
  if ARGV[i] ~= '' then asked[#asked + 1] = ARGV[i] end
end
local function keep_until(hash, start, ends)
  call('HSET', hash, '', format('%.0f %.0f', start, ends))
  redis.pcall('PEXPIRE', hash, format('%.0f', math.ceil((ends - now) / 1000)))
end
if #asked > 0 then
  local length, at = tonumber(ARGV[14]), clock
  local function span_of(hash)
    local start, ends = (call('HGET', hash, '') or ''):match('^(%d+) (%d+)$')
    ends = tonumber(ends or 0)
    if at >= ends then return -1, 0 end
    return tonumber(start), ends
  end
  local start, ends, hash, span = {}, {}, 3, floor(at / length) * length
  start[3], ends[3] = span_of(KEYS[3])
  start[4], ends[4] = span_of(KEYS[4])
  if start[4] > start[3] then hash = 4 end
  has_newer = start[hash] >= 0
  if has_newer and span > start[hash] and start[7 - hash] < 0 then
    hash = 7 - hash
    has_newer = false
  end
  ids, ids_start, ids_ends = KEYS[hash], has_newer and start[hash] or span, ends[hash]
  other, other_start, has_older = KEYS[7 - hash], start[7 - hash], start[7 - hash] >= 0
  ids_until = math.max(ids_ends, span + 2 * length)
  other_until = has_older and ends[7 - hash] > span + 2 * length and span + 2 * length
  if #asked == 1 then -- HMGET takes three times as long
    newer = has_newer and {call('HGET', ids, asked[1])}
    older = has_older and {call('HGET', other, asked[1])}
  else
    newer = has_newer and call('HMGET', ids, unpack(asked))
    older = has_older and call('HMGET', other, unpack(asked))
  end
end
