-- Applies a batch of updates to one board-period and publishes what changed.
--
-- KEYS  1 sorted set   member by key: s + f, s the score (negated for desc),
--                      0 <= f < 1 rising with the time the score was reached
--       2 hash         meta: epoch, seq, clock, from, span
--       3 hash         request ids of even buckets: id to first result
--       4 hash         request ids of odd buckets
-- ARGV  1 channel to publish on
--       2 board, 3 period: names, for the message
--       4 opens, 5 closes  µs since 1970; updates count within; closes 0: always
--       6 from,  7 span    µs: what f is a fraction of, for a new board-period
--       8 epoch for a new board-period
--       9 sign             1: the lower score ranks higher, -1: the higher
--      10 ties             'first': by arrival, 'member': f is 0
--      then five for each update:
--         op      sum, best, last or remove
--         member
--         score   canonical decimal
--         id      request id, or '' for none
--         digest  11 bytes that tell this update from another under the same id
-- Result  {'turn', now in µs}: now is outside opens..closes, nothing was done
--         {'ok', one string for each update}, each of them
--           'a' period ' ' score ' ' rank ' ' old score ' ' old rank   applied
--           'd' the same, of the first time                            duplicate
--           'm'                                        id of another update
--           'r'                                        score out of range
--         where a member is or was not on the board, '-' stands for both numbers.
-- Message (bytes 31 and 30 separate)
--         board 31 period 31 epoch 31 seq of the first change
--         { 30 member 31 old key 31 new key 31 new rank }   none: empty
-- Cost    O(log n) an update: ZSCORE, 2 ZRANK, ZCOUNT, ZADD; and 7 calls a batch.

local members, meta, ids = KEYS[1], KEYS[2], {[0] = KEYS[3], [1] = KEYS[4]}
local channel, board, period = ARGV[1], ARGV[2], ARGV[3]
local opens, closes = tonumber(ARGV[4]), tonumber(ARGV[5])
local from, span, epoch = ARGV[6], ARGV[7], ARGV[8]
local sign, by_arrival = tonumber(ARGV[9]), ARGV[10] == 'first'
local FIRST, STEP = 11, 5

local MAX_SCORE = 9007199254740991
local BUCKET = 610 * 1000000 -- ids live for one to two of these, so for ten minutes at least
local DIGEST = 11

local call, format, floor, frexp = redis.call, string.format, math.floor, math.frexp

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
if closes > 0 and (now < opens or now >= closes) then
  return {'turn', format('%.0f', now)}
end

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'from', 'span')
local exists = state[1] and true or false
local seq, clock = 0, now
if exists then
  epoch, seq = state[1], tonumber(state[2])
  from, span = state[4], state[5]
  -- strictly increasing, whatever Redis's clock does
  clock = math.max(now, tonumber(state[3]) + 1)
end
from, span = tonumber(from), tonumber(span)
-- Frozen so that the clock never is before it: key_for counts on that.
if not exists then from = math.min(from, clock) end

-- Request ids: what is known of those in this batch.
local known = {}
local bucket, stale
do
  local asked = {''} -- the field '' holds the bucket that the hash is of
  for i = FIRST, #ARGV, STEP do
    if ARGV[i + 3] ~= '' then asked[#asked + 1] = ARGV[i + 3] end
  end
  if #asked > 1 then
    local found = {[0] = call('HMGET', ids[0], unpack(asked)), [1] = call('HMGET', ids[1], unpack(asked))}
    local held = {[0] = tonumber(found[0][1] or -2), [1] = tonumber(found[1][1] or -2)}
    bucket = math.max(floor(clock / BUCKET), held[0], held[1])
    stale = {}
    for slot = 0, 1 do
      -- this slot is for the bucket of its own parity, the other for the one before
      local due = slot == bucket % 2 and bucket or bucket - 1
      if held[slot] == due then
        for i = 2, #asked do
          if found[slot][i] then known[asked[i]] = found[slot][i] end
        end
      elseif held[slot] >= 0 then
        stale[#stale + 1] = ids[slot]
      end
    end
  end
end

-- The key for a score reached now, past every equal one, as text.
local function key_for(score)
  local s = sign * score + 0 -- +0: never -0
  if not by_arrival then return format('%.0f', s) end
  local size = s < 0 and -s or s
  local _, e = frexp(size < 1 and 1 or size)
  local q = 2 ^ (53 - e) -- how many keys fit between s and s + 1
  local age = clock - from
  local key = format('%.17g', s + floor(math.min(age, span - 1) / span * q) / q)
  if age >= span or q < 2 * span then
    -- Several microseconds share a key here, so an equal may hold this one or one
    -- past it. (Else each microsecond has a key of its own, and the clock never
    -- repeats.)
    local next_score = format('(%.0f', s + 1)
    if call('ZCOUNT', members, key, next_score) > 0 then
      local last = call('ZREVRANGEBYSCORE', members, next_score, key, 'WITHSCORES', 'LIMIT', 0, 1)[2]
      local past = tonumber(last) + 1 / q
      key = past < s + 1 and format('%.17g', past) or last
    end
  end
  return key
end

-- A result without its first letter.
local function standing(score, rank, had, from_rank)
  if score and had then return format('%s %.0f %d %.0f %d', period, score, rank, had, from_rank) end
  if score then return format('%s %.0f %d - -', period, score, rank) end
  if had then return format('%s - - %.0f %d', period, had, from_rank) end
  return period .. ' - - - -'
end

local results, changes, remembered = {'ok'}, {}, {}
for i = FIRST, #ARGV, STEP do
  local op, member, amount, id, digest = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3], ARGV[i + 4]
  local result
  local record = id ~= '' and known[id]
  if record then
    if record:sub(1, DIGEST) == digest then result = 'd' .. record:sub(DIGEST + 1) else result = 'm' end
  else
    local old = call('ZSCORE', members, member)
    local had = old and sign * floor(tonumber(old)) + 0 or nil -- the score, from the key
    local score
    if op == 'sum' then score = (had or 0) + amount
    elseif op == 'last' then score = amount
    elseif op == 'best' then
      if had and sign * had <= sign * amount then score = had else score = amount end
    end -- remove: none

    if score and (score > MAX_SCORE or score < -MAX_SCORE) then
      result = 'r'
    else
      local from_rank = had and call('ZRANK', members, member) + 1
      if score == had then -- stays, in its place, or stays away
        result = standing(score, from_rank, had, from_rank)
      elseif score then
        local key = key_for(score)
        call('ZADD', members, key, member)
        local rank = call('ZRANK', members, member) + 1
        changes[#changes + 1] = format('%s\31%s\31%s\31%d', member, old or '', key, rank)
        result = standing(score, rank, had, from_rank)
        clock = clock + 1
      else
        call('ZREM', members, member)
        changes[#changes + 1] = member .. '\31' .. old .. '\31\31'
        result = standing(nil, nil, had, from_rank)
        clock = clock + 1
      end
      if id ~= '' then
        known[id] = digest .. result
        remembered[#remembered + 1] = id
        remembered[#remembered + 1] = known[id]
      end
      result = 'a' .. result
    end
  end
  results[#results + 1] = result
end

if #remembered > 0 then
  if #stale > 0 then call('UNLINK', unpack(stale)) end
  call('HSET', ids[bucket % 2], '', format('%.0f', bucket), unpack(remembered))
end

if #changes > 0 then
  local first = format('%.0f', seq + 1)
  seq = format('%.0f', seq + #changes)
  clock = format('%.0f', clock)
  if exists then
    call('HSET', meta, 'seq', seq, 'clock', clock)
  else
    call('HSET', meta, 'epoch', epoch, 'seq', seq, 'clock', clock, 'from', format('%.0f', from), 'span', format('%.0f', span))
  end
  call('PUBLISH', channel, board .. '\31' .. period .. '\31' .. epoch .. '\31' .. first .. '\30' .. table.concat(changes, '\30'))
end

return results
