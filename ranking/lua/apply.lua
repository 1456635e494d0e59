-- Applies a batch of updates to one board-period and publishes what changed. Begins with
-- ids.lua and key.lua.
--
-- KEYS  1 sorted set   member by key: s + f, s the score (negated for desc),
--                      0 <= f < 1 rising with the time the score was reached
--       2 hash         meta: epoch, seq, clock, from, span, shape, data ('1': some have
--                      had any), wrote, settled, listed (when, by now's clock)
--       3 hash         request ids of even buckets: id to first result
--       4 hash         request ids of odd buckets
--       5 hash         data: member to JSON, of those that have any
--       6 hash         the board's periods: name to what tend.go makes of it, and '/' to when
--                      the last that was announced as closed had ended
-- ARGV  1 channel to publish on
--       2 board, 3 period: names, for the message
--       4 opens, 5 closes  of the period; 0 for none
--       6 starts, 7 ends   of the activity; 0 for none
--       8 lease            until when the caller may count on what it knows of the board
--       9 listed           until when a new board-period may be created, because the
--                          caller has listed the board; 0: it has not
--      10 from, 11 span    what f is a fraction of, for a new board-period
--      12 epoch for a new board-period
--      13 shape            of the definition: what data of another must not mix with
--      14 sign             1: the lower score ranks higher, -1: the higher
--      15 ties             'first': by arrival, 'member': f is 0
--      16 min, 17 max      of a score
--      18 max change       of one update
--      19 note             '1': note the time of an update that leaves a score as it is too
--         Times are Redis's, in µs since 1970; they count from opens and starts
--         until before closes and ends.
--      then seven for each update:
--         op      sum, best, last or remove
--         member
--         score   canonical decimal
--         id      request id, or '' for none
--         digest  11 bytes that tell this update from another under the same id
--         if      'exists', 'absent' or ''
--         data    JSON, 'null' to take it away, '' to leave it
-- Result  {why, now in µs}: nothing was done, for
--           'stale'  the lease is over
--           'shape'  the board-period is of another
--           'turn'   now is within starts..ends and outside opens..closes
--           'new'    there would be something to write of a new board-period, or of one
--                    that was listed long ago, and the board is not listed
--         {'ok', one string for each update}, each of them
--           'a' period ' ' score ' ' rank ' ' old score ' ' old rank   applied
--           'd' the same, of the first time                            duplicate
--           'm'                                        id of another update
--           'r'                                        score out of range
--           'c'                                        change out of range
--           'n'                                        outside starts..ends
--           'f'                                        the board-period was announced as
--                                                      closed: the clock was set back
--         where a member is or was not on the board, '-' stands for both numbers.
-- Message (bytes 31 and 30 separate)
--         board 31 period 31 epoch 31 seq of the first change
--         { 30 member 31 old key 31 new key 31 new rank [31 data] }   none: empty
-- Cost    O(log n) an update: ZSCORE, 2 ZRANK, ZCOUNT, ZADD; HGET, HSET on a board
--         with data; and 7 calls a batch.

local members, meta, ids, datas, periods = KEYS[1], KEYS[2], {[0] = KEYS[3], [1] = KEYS[4]}, KEYS[5], KEYS[6]
local channel, board, period = ARGV[1], ARGV[2], ARGV[3]
local opens, closes = tonumber(ARGV[4]), tonumber(ARGV[5])
local starts, ends = tonumber(ARGV[6]), tonumber(ARGV[7])
local lease, listed = tonumber(ARGV[8]), tonumber(ARGV[9])
local from, span, epoch, shape = ARGV[10], ARGV[11], ARGV[12], ARGV[13]
local sign, by_arrival = tonumber(ARGV[14]), ARGV[15] == 'first'
local min, max, max_change = tonumber(ARGV[16]), tonumber(ARGV[17]), tonumber(ARGV[18])
local note = ARGV[19] == '1'
local FIRST, STEP = 20, 7

local DIGEST = 11
local RELIST = 3600 * 1000000 -- µs; a failover may have lost that the board is listed

local call, format, floor = redis.call, string.format, math.floor

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
if now >= lease then return {'stale', format('%.0f', now)} end
local open = now >= starts and (ends == 0 or now < ends)
if open and closes > 0 and (now < opens or now >= closes) then return {'turn', format('%.0f', now)} end

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'from', 'span', 'shape', 'data', 'settled', 'listed')
local exists, shaped, with_data = state[1], state[6], state[7]
if shaped and shaped ~= shape then return {'shape', format('%.0f', now)} end
-- What was announced stays as it was, whatever becomes of the clock.
local final = state[8]
if open and not shaped then
  local ended = tonumber(call('HGET', periods, '/') or 0)
  final = closes > 0 and closes <= ended or ends > 0 and ends <= ended
end
-- Nothing must come to be that nobody looks after.
local relist = not shaped or now >= tonumber(state[9] or 0) + RELIST
local unlisted = relist and now >= listed
local seq, clock = 0, now
if exists then
  epoch, seq = state[1], tonumber(state[2])
  from, span = state[4], state[5]
  -- strictly increasing, whatever Redis's clock does
  clock = math.max(now, tonumber(state[3]) + 1)
end
from, span = tonumber(from), tonumber(span)
-- Frozen so that the clock never is before it: key_of counts on that.
if not exists then from = math.min(from, clock) end

-- What is known of the request ids in this batch.
local asked = {}
for i = FIRST, #ARGV, STEP do
  if ARGV[i + 3] ~= '' then asked[#asked + 1] = ARGV[i + 3] end
end
local known, held = ids_find(ids, clock, asked)

-- The key for a score reached now, past every equal one, as text.
local function key_for(score)
  local s = sign * score + 0 -- +0: never -0
  if not by_arrival then return format('%.0f', s) end
  return key_of(members, s, clock - from, span)
end

-- A result without its first letter.
local function standing(score, rank, had, from_rank)
  if score and had then return format('%s %.0f %d %.0f %d', period, score, rank, had, from_rank) end
  if score then return format('%s %.0f %d - -', period, score, rank) end
  if had then return format('%s - - %.0f %d', period, had, from_rank) end
  return period .. ' - - - -'
end

-- What an update makes of a score; nil: none; and whether it is the update's own.
local function apply(op, had, amount)
  if op == 'sum' then return (had or 0) + amount, true end
  if op == 'last' then return amount, true end
  if op == 'best' then
    if had and sign * had <= sign * amount then return had, false end
    return amount, true
  end
  return nil, true -- remove
end

-- Why a score is refused, or nil. A sum is bounded by what it comes to.
local function refused(op, had, score, amount)
  if op == 'remove' then return nil end
  local told = op == 'sum' and score or amount
  if told < min or told > max then return 'r' end
  local by = op == 'sum' and amount or had and score - had or 0
  if by > max_change or by < -max_change then return 'c' end
  return nil
end

local results, changes, remembered, stayed = {'ok'}, {}, {}, false
for i = FIRST, #ARGV, STEP do
  local op, member, amount, id, digest = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3], ARGV[i + 4]
  local condition, data = ARGV[i + 5], ARGV[i + 6]
  local result
  local record = id ~= '' and known[id]
  if record then
    if record:sub(1, DIGEST) == digest then result = 'd' .. record:sub(DIGEST + 1) else result = 'm' end
  elseif not open then
    result = 'n'
  elseif final then
    result = 'f'
  else
    local old = call('ZSCORE', members, member)
    local had = old and sign * floor(tonumber(old)) + 0 or nil -- the score, from the key
    local held = old and with_data and call('HGET', datas, member) or ''
    local from_rank = had and call('ZRANK', members, member) + 1
    if condition == 'exists' and not had or condition == 'absent' and had then
      result = standing(had, from_rank, had, from_rank)
      stayed = true
    else
      local score, own = apply(op, had, amount)
      local why = refused(op, had, score, amount)
      if not own or data == '' then data = held elseif data == 'null' then data = '' end
      if why then
        result = why
      elseif score == had and data == held then -- stays, in its place, or stays away
        result = standing(score, from_rank, had, from_rank)
        stayed = true
      elseif unlisted then
        return {'new', format('%.0f', now)}
      elseif score then
        local key, rank = old, from_rank
        if score ~= had then
          key = key_for(score)
          call('ZADD', members, key, member)
          rank = call('ZRANK', members, member) + 1
        end
        if data ~= held then
          if data == '' then call('HDEL', datas, member) else call('HSET', datas, member, data) end
          with_data = '1'
        end
        local change = format('%s\31%s\31%s\31%d', member, old or '', key, rank)
        if data ~= '' then change = change .. '\31' .. data end
        changes[#changes + 1] = change
        result = standing(score, rank, had, from_rank)
        clock = clock + 1
      else
        call('ZREM', members, member)
        if held ~= '' then call('HDEL', datas, member) end
        changes[#changes + 1] = member .. '\31' .. old .. '\31\31'
        result = standing(nil, nil, had, from_rank)
        clock = clock + 1
      end
    end
    if #result > 1 then -- not refused
      if id ~= '' then
        if unlisted then return {'new', format('%.0f', now)} end
        known[id] = digest .. result
        remembered[#remembered + 1] = id
        remembered[#remembered + 1] = known[id]
      end
      result = 'a' .. result
    end
  end
  results[#results + 1] = result
end

ids_keep(ids, held, remembered)

if #changes > 0 then
  local first = format('%.0f', seq + 1)
  seq = format('%.0f', seq + #changes)
  clock = format('%.0f', clock)
  if shaped then
    call('HSET', meta, 'seq', seq, 'clock', clock)
  else
    call('HSET', meta, 'epoch', epoch, 'seq', seq, 'clock', clock, 'from', format('%.0f', from), 'span', format('%.0f', span), 'shape', shape)
    exists = epoch
    call('HSET', periods, period, format('%.0f %.0f', opens, closes))
  end
  if with_data ~= state[7] then call('HSET', meta, 'data', with_data) end
  call('PUBLISH', channel, board .. '\31' .. period .. '\31' .. epoch .. '\31' .. first .. '\30' .. table.concat(changes, '\30'))
elseif note and stayed and exists then
  call('HSET', meta, 'wrote', format('%.0f', now))
end
if relist and exists and #changes + #remembered > 0 then call('HSET', meta, 'listed', format('%.0f', now)) end

return results
