-- Applies a batch of updates to one board-period and publishes what changed. Begins with
-- order.lua, ids.lua, board.lua, key.lua and plain.lua or, for a board with a window,
-- window.lua.
--
-- KEYS  1 to 7         see board.lua
--                      meta: epoch, seq, clock, from, span, shape, data ('1': some have
--                      had any), moderated (the revision of the moderation that is in
--                      force; none: nobody was ever hidden), kind (for which that is so),
--                      wrote, settled, listed (when, by now's clock)
--       8 hash         request ids of even buckets: id to digest and first result, and of an
--                      update that can be taken back ' @' and the board's clock, in hex; to
--                      what taking it back came to and ' t'. And what scores stand for that
--                      were taken back when others had come, see stand
--       9 hash         request ids of odd buckets
--      10 hash         the board's periods: name to what tend.go makes of it, and '/' to when
--                      the last that was announced as closed had ended
--      11 to 13        with a window, see window.lua
-- ARGV  1 to 5         see board.lua
--       6 opens, 7 closes  of the period; 0 for none
--       8 starts, 9 ends   of the activity; 0 for none
--      10 lease            until when the caller may count on what it knows of the board
--      11 listed           until when a new board-period may be created, because the
--                          caller has listed the board; 0: it has not
--      12 from, 13 span    what f is a fraction of, for a new board-period
--      14 epoch for a new board-period
--      15 shape            of the definition: what data of another must not mix with
--      16 min, 17 max      of a score
--      18 max change       of one update
--      19 limit            members that stay; 0: all
--      20 ttl              µs after which a member leaves; 0: never
--      21 note             '1': note the time of an update that leaves a score as it is too
--      22 revision         of the moderation that the caller knows; 0: there is none
--      23 hides            '1' or '0' for each update: its member is hidden; '': none is
--      24 kind             of the members
--      with a window, and not without one:
--      25 window           ms
--      26 mode             of the board, which op must be
--      27 live             '1': scores are those of the moment; else there is a result that
--                          is built, and updates are answered without scores
--      28 behind           '1': not to wait until all is gone that is over
--         Times are Redis's, in µs since 1970; they count from opens and starts
--         until before closes and ends.
--      then seven for each update:
--         op      sum, best, last, set (as last, without max change), remove or undo
--         member
--         score   canonical decimal
--         id      request id, or '' for none
--         digest  11 bytes that tell this update from another under the same id
--         if      'exists', 'absent' or ''; of what is undone the op that it had
--         data    JSON, 'null' to take it away, '' to leave it
--         at      with a window, and not without one: when it happened, ms since 1970; ''
--                 for now
-- Result  {why, now in µs}: nothing was done, for
--           'stale'  the lease is over
--           'behind' the caller knows less of the moderation than was in force when it was
--                    written before: a third value says which revision
--           'shape'  the board-period is of another
--           'turn'   now is within starts..ends and outside opens..closes
--           'due'    with a window: there is more to go from it than goes with one call
--           'new'    there would be something to write of a new board-period, or of one
--                    that was listed long ago, and the board is not listed
--         {'ok', one string for each update}, each of them
--           'a' period ' ' score ' ' rank ' ' old score ' ' old rank   applied
--           'd' the same, of the first time                            duplicate
--             and ' t' after either: it was taken back; with undo where the member is now
--           'p'                                        what is undone counted in another period
--           'm'                                        id of another update
--           'r'                                        score out of range
--           'c'                                        change out of range
--           's'                                        a sum on a board with a limit
--           'g'                                        there is nobody to remove
--           'w'                                        with a window: another op than the mode
--           'x'                                        data, where a result is built
--           'o'                                        it is over for at
--           'h'                                        at is too far ahead
--           'n'                                        outside starts..ends
--           'f'                                        the board-period was announced as
--                                                      closed: the clock was set back
--         where a member is or was not on the board, or went with the limit, '-' stands
--         for both numbers, and for the rank of one that is hidden.
-- Cost    O(log n) an update: ZSCORE, 2 ZRANK, ZCOUNT, ZADD; with ties shared 2 ZCOUNT, with
--         dense 2 ZRANK, ZADD, ZRANGEBYSCORE more; HGET, HSET on a board with data; ZSCORE
--         with a ttl; ZRANGE with a limit; with a window HGET, HSET, ZADD more; and 7 calls
--         a batch, with up to 32 removals of members whose time is over; with a window up to 16
--         events go, and one for each update.

local ids, periods = {[0] = KEYS[8], [1] = KEYS[9]}, KEYS[10]
local opens, closes = tonumber(ARGV[6]), tonumber(ARGV[7])
local starts, ends = tonumber(ARGV[8]), tonumber(ARGV[9])
local lease, listed = tonumber(ARGV[10]), tonumber(ARGV[11])
local from, span, epoch, shape = ARGV[12], ARGV[13], ARGV[14], ARGV[15]
local min, max, max_change = tonumber(ARGV[16]), tonumber(ARGV[17]), tonumber(ARGV[18])
local limit, ttl, note = tonumber(ARGV[19]), tonumber(ARGV[20]), ARGV[21] == '1'
local revision, hides, kind = tonumber(ARGV[22]), ARGV[23], ARGV[24]
local FIRST, STEP = 25, 7
if window then
  window.length, window.mode, window.live = tonumber(ARGV[25]), ARGV[26], ARGV[27] == '1'
  FIRST, STEP = 29, 8
end
local built = window and not window.live

local DIGEST = 11
local RELIST = 3600 * 1000000 -- µs; a failover may have lost that the board is listed
local FOLLOW, NOTES = 64, 8 -- scores that stand one for the next, notes on one of them
local EXPIRE, TRIM = 32, 8 -- members that go in one batch, and with one update, on top
local SWEEP = 16 -- events that go in one batch, and one with each update, on top
local AHEAD = 5000 -- ms that other clocks may be ahead

local by_arrival = ties ~= 'member'

if now >= lease then return {'stale', format('%.0f', now)} end
local open = now >= starts and (ends == 0 or now < ends)
if open and closes > 0 and (now < opens or now >= closes) then return {'turn', format('%.0f', now)} end

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'from', 'span', 'shape', 'data', 'settled', 'listed', 'moderated')
local exists, shaped, with_data, moderated = state[1], state[6], state[7], state[10]
if shaped and shaped ~= shape then return {'shape', format('%.0f', now)} end
if moderated and revision < tonumber(moderated) then return {'behind', format('%.0f', now), moderated} end
-- What was announced stays as it was, whatever becomes of the clock.
local final = state[8]
if open and not shaped then
  local ended = tonumber(call('HGET', periods, '/') or 0)
  final = closes > 0 and closes <= ended or ends > 0 and ends <= ended
end
-- Nothing must come to be that nobody looks after.
local relist = not shaped or now >= tonumber(state[9] or 0) + RELIST
local unlisted = relist and now >= listed
local seq = 0
if exists then
  epoch, seq = state[1], tonumber(state[2])
  from, span = state[4], state[5]
end
-- strictly increasing, whatever Redis's clock does
if state[3] then clock = math.max(now, tonumber(state[3]) + 1) end
from, span = tonumber(from), tonumber(span)
-- Frozen so that the clock never is before it: key_of counts on that.
if not exists then from = math.min(from, clock) end

-- What is known of the request ids in this batch.
local asked, undoing, some_go = {}, false, ttl > 0 or limit > 0
for i = FIRST, #ARGV, STEP do
  if ARGV[i + 3] ~= '' then asked[#asked + 1] = ARGV[i + 3] end
  if ARGV[i] == 'undo' then undoing = true end
  if ARGV[i] == 'remove' or undoing then some_go = true end
end
local known, held = ids_find(ids, clock, asked)

local shown = {members}

-- A result without its first letter: '-' stands for what there is none of.
local function standing(score, rank, had, from_rank)
  if rank and from_rank then return format('%s %.0f %d %.0f %d', period, score, rank, had, from_rank) end
  local is = score and (rank and format('%.0f %d', score, rank) or format('%.0f -', score)) or '- -'
  local was = had and (from_rank and format('%.0f %d', had, from_rank) or format('%.0f -', had)) or '- -'
  return period .. ' ' .. is .. ' ' .. was
end

-- What an update makes of a score; nil: none; and whether it is the update's own.
local function apply(op, had, amount)
  if op == 'sum' then return (had or 0) + amount, true end
  if op == 'last' or op == 'set' then return amount, true end
  if op == 'best' then
    if had and sign * had <= sign * amount then return had, false end
    return amount, true
  end
  return nil, true -- remove
end

-- Why a score is refused, or nil. A sum is bounded by what it comes to.
local function refused(op, had, score, amount)
  if op == 'remove' then return nil end
  if op == 'sum' and limit > 0 then return 's' end -- of those that went nobody knows what to add to
  local bounded = op == 'sum' and score or amount
  if bounded < min or bounded > max then return 'r' end
  if op == 'set' then return nil end
  local by = op == 'sum' and amount or had and score - had or 0
  if by > max_change or by < -max_change then return 'c' end
  return nil
end

local remove, expire, trim, beyond
if some_go then remove, expire, trim = going() end
if limit > 0 then
  -- Whether a member that comes to a key has no place any more. The last is read, for of a
  -- board that is full most who come do not get in.
  beyond = function(member, key)
    if call('ZCARD', members) < limit then return false end
    local last = call('ZRANGE', members, -1, -1, 'WITHSCORES')
    local s, t = tonumber(key), tonumber(last[2])
    return s > t or s == t and after(member, last[1])
  end
end

-- Has a member have a score, reached now unless it had it; hidden or not. It says the
-- rank, nil for one that is hidden, and whether it is there at all.
local function put(member, score, had, key, seen, hide, held, data)
  local new = key
  if score ~= had then -- reached now: past every equal one
    local s = sign * score + 0 -- +0: never -0
    if moderated then shown[2] = hiddens end
    new = by_arrival and key_of(shown, s, clock - from, span) or format('%.0f', s)
  end
  if hide then
    if seen then leave(member, key) end
    call('ZADD', hiddens, new, member)
    if not moderated then moderated = '0' end -- what the others came to is still to be seen to
  elseif beyond and not had and beyond(member, new) then
    return nil, false
  end
  if ttl > 0 and not had then call('ZADD', entered, format('%.0f', now), member) end
  if data ~= held then
    if data == '' then call('HDEL', datas, member) else call('HSET', datas, member, data) end
    with_data = '1'
  end
  if hide then return nil, true end
  if had and not seen then call('ZREM', hiddens, member) end
  local rank = move(member, seen and key or nil, new, data)
  if beyond and not seen and trim(limit, TRIM) > 0 and not call('ZSCORE', members, member) then return nil, false end
  return rank, true
end

local results, remembered, stayed, wrote = {'ok'}, {}, false, false

local undone, present
if undoing then
  -- What is known of one more id.
  local function look(id)
    for _, slot in ipairs(held.live) do
      local record = call('HGET', ids[slot], id)
      if record then return record end
    end
    return nil
  end

  -- Keeps a note at the end.
  local function remember(id, record)
    known[id] = record
    remembered[#remembered + 1] = id
    remembered[#remembered + 1] = record
  end

  -- What is noted of a member's score that was taken back when another had come: of each
  -- time that it was set when that was, when it was taken back, and the score before.
  local function notes(member, score)
    local field = '\31' .. period .. '\31' .. digest_of(member) .. '\31' .. score
    if not known[field] then known[field] = look(field) or '' end
    return known[field], field
  end

  -- What a score, '-' for none, stands for that a member had at a time, with all that was
  -- taken back of it after that.
  local function stand(member, score, at)
    for _ = 1, FOLLOW do
      local set, before = -1, nil
      for since, till, old in notes(member, score):gmatch('(%x+) (%x+) ([^,]+),') do
        since, till = tonumber(since, 16), tonumber(till, 16)
        if since < at and till > at and since > set then set, before = since, old end
      end
      if not before then break end
      score, at = before, set
    end
    return score
  end

  local function bounded(score, had)
    return math.max(math.min(score, math.max(max, had)), math.min(min, had))
  end

  -- What taking back an update makes of a score, by the result that it had: nil for none.
  undone = function(result, op, member, had)
    local score, old = result:match('^%S* (%S+) %S+ (%S+)')
    if score == '-' or score == old or not had then return had end -- it did nothing, or the member went since
    local at = result:match(' @(%x+)')
    at = at and tonumber(at, 16) -- none: an older version has done it
    if at and at < tonumber(call('ZSCORE', left, digest_of(member)) or 0) then return had end -- and came again
    if op == 'sum' then
      local less = had - tonumber(score) + (tonumber(old) or 0)
      local to = bounded(less, had)
      if less == 0 or to == 0 then return nil end
      return to
    end
    if at then old = stand(member, old, at) end
    if had ~= tonumber(score) then -- others came since
      if at then
        local noted, field = notes(member, score)
        if select(2, noted:gsub(',', '')) >= NOTES then noted = noted:gsub('^[^,]*,', '') end
        remember(field, noted .. format('%x %x %s,', at, clock, old))
      end
      return had
    end
    if old == '-' then return nil end
    return bounded(tonumber(old), had)
  end

  -- The result, likewise, of what leaves a member where it is.
  present = function(member)
    if built then return standing() end
    local seen = call('ZSCORE', members, member)
    local key = seen or moderated and call('ZSCORE', hiddens, member)
    local score, rank = key and score_of(key), seen and rank_of(member, seen)
    return standing(score, rank, score, rank)
  end
end

-- Carries an update out, or takes back one that had a result. It says the result without
-- its first letter, why it is refused, or nil where the board has to be listed first.
local function carry_out(op, member, amount, condition, data, taken)
  local seen = call('ZSCORE', members, member)
  local key = seen or moderated and call('ZSCORE', hiddens, member) or nil
  if key and ttl > 0 and tonumber(call('ZSCORE', entered, member) or now) <= now - ttl then
    -- One of more than could go at the start.
    if unlisted then return nil end
    remove(member, seen)
    seen, key = false, nil
  end
  local hide = hides ~= '' and hides:byte(#results) == 49
  local had = key and score_of(key)
  local held = key and with_data and call('HGET', datas, member) or ''
  local from_rank = seen and rank_of(member, key) or nil
  local score, own
  if op == 'remove' and not had then return 'g' end
  if taken then
    score, own = undone(taken, condition, member, had), false
  elseif condition == 'exists' and not had or condition == 'absent' and had then
    score, own = had, false
  else
    score, own = apply(op, had, amount)
    local why = refused(op, had, score, amount)
    if why then return why end
  end
  if not own or data == '' then data = held elseif data == 'null' then data = '' end
  if score == had and data == held and (not had or hide == not seen) then -- stays, in its place, or stays away
    stayed = true
    return standing(score, from_rank, had, from_rank)
  end
  if unlisted then return nil end
  if not score then
    remove(member, seen)
    wrote = true
    return standing(nil, nil, had, from_rank)
  end
  local rank, there = put(member, score, had, key, seen, hide, held, data)
  wrote = wrote or there
  return standing(there and score or nil, rank, had, from_rank)
end

if window then
  window.with_data, window.moderated = with_data, moderated

  -- Carries an update out on a board with a window, where it adds an event, or takes one
  -- away.
  carry_out = function(op, member, amount, condition, data, taken, text, at)
    local count, plus, minus = window.tally(member)
    local seen = call('ZSCORE', members, member)
    local key = not built and (seen or moderated and call('ZSCORE', hiddens, member)) or nil
    local had, from_rank = key and plus - minus or nil, key and seen and rank_of(member, seen) or nil
    local hide = hides ~= '' and hides:byte(#results) == 49
    local held = key and with_data and call('HGET', datas, member) or ''
    local forget, ms, to, more, less = false, nil, count, plus, minus
    if taken then
      local n = taken:match(' @(%x+)')
      if n and unlisted then return nil end
      if n and window.undo(member, tonumber(n, 16), text) then to, more, less = window.count(amount, -1, count, plus, minus) end
      data = ''
    elseif op == 'remove' then
      if count == 0 and not (built and seen) then return 'g' end
      forget, to, more, less = true, 0, 0, 0
    elseif (condition ~= 'exists' or count > 0) and (condition ~= 'absent' or count == 0) then
      if op ~= window.mode and op ~= 'set' then return 'w' end
      if built and data ~= '' then return 'x' end
      local this = floor(now / 1000)
      ms = at == '' and this or tonumber(at)
      if ms > this + AHEAD then return 'h' end
      ms = math.min(ms, this)
      if ms <= window.over() then return 'o' end
      if op == 'set' then forget, to, more, less = count > 0, 0, 0, 0 end
      to, more, less = window.count(amount, 1, to, more, less)
      if amount < min and op ~= 'sum' or amount > max and op ~= 'sum' or more > window.MOST or less > window.MOST then return 'r' end
      -- As points leave a sum may be beyond its bounds, but an update takes none there.
      if op == 'sum' and (more - less < min and amount < 0 or more - less > max and amount > 0) then return 'r' end
      if op ~= 'set' and (amount > max_change or amount < -max_change) then return 'c' end
    else
      data = ''
    end
    if not ms and not forget and to == count then
      stayed = true
      return standing(had, from_rank, had, from_rank)
    end
    if unlisted then return nil end
    if forget then window.forget(member, clock) end
    if ms then call('ZADD', events, format('%.0f', ms), window.event(member, clock, text)) end
    window.keep(member, to, more, less)
    wrote = true
    if to == 0 and (key or built and op == 'remove') then
      if seen then leave(member, seen) else call('ZREM', hiddens, member) end
      if with_data then call('HDEL', datas, member) end
    end
    if built then return standing() end
    if to == 0 then return standing(nil, nil, had, from_rank) end
    local score = more - less
    if data == '' then data = held elseif data == 'null' then data = '' end
    if score == had and data == held and hide == not seen then return standing(score, from_rank, had, from_rank) end
    return standing(score, put(member, score, had, key, seen, hide, held, data), had, from_rank)
  end

  if open and shaped and unlisted then
    -- What is over would have to go first, for updates are answered by what is left.
    if call('ZCOUNT', events, '-inf', format('%.0f', window.over())) > 0 then return {'new', format('%.0f', now)} end
  elseif open and shaped then
    local before = clock
    local _, anew, more = window.sweep((#ARGV - FIRST + 1) / STEP + SWEEP, from, span, ARGV[14])
    if anew then exists, epoch, seq = ARGV[14], ARGV[14], 1 end
    wrote = clock > before -- who is hidden too has a key of that time
    clock = clock + 1
    if more and ARGV[28] == '0' then -- updates are answered by what is left
      if wrote then publish(epoch, seq, clock) end
      return {'due', format('%.0f', now)}
    end
  end
end

if ttl > 0 and open and not final and exists and not unlisted then
  expire(ttl, EXPIRE)
  clock = clock + #changes
end
for i = FIRST, #ARGV, STEP do
  local op, id, digest = ARGV[i], ARGV[i + 3], ARGV[i + 4]
  local record, undo, result = id ~= '' and known[id], op == 'undo', nil
  if record and record:sub(1, DIGEST) ~= digest then
    result = 'm'
  elseif record and not undo then
    result = 'd' .. record:sub(DIGEST + 1):gsub(' @%x+', '')
  elseif record and record:sub(-2) == ' t' then
    local there = record:sub(DIGEST + 1):match('^%S*') == period
    result = 'd' .. (there and present(ARGV[i + 1]) .. ' t' or record:sub(DIGEST + 1))
  elseif not open then
    result = 'n'
  elseif final then
    result = 'f'
  elseif undo and record and record:sub(DIGEST + 1):match('^%S*') ~= period then
    result = 'p'
  else
    local before, at = #changes, clock
    if undo and not record then
      result = present(ARGV[i + 1]) -- it has not counted, and will not
    else
      result = carry_out(op, ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 5], ARGV[i + 6], undo and record:sub(DIGEST + 1), ARGV[i + 2], ARGV[i + 7])
    end
    if not result or unlisted and id ~= '' and #result > 1 then return {'new', format('%.0f', now)} end
    clock = clock + math.max(#changes - before, 1)
    if #result > 1 then -- not refused
      if id ~= '' then
        local more = undo and ' t' or id:find('\31', 1, true) and format(' @%x', at) or ''
        known[id] = digest .. result .. more
        remembered[#remembered + 1] = id
        remembered[#remembered + 1] = known[id]
      end
      result = 'a' .. result .. (undo and ' t' or '')
    end
  end
  results[#results + 1] = result
end

ids_keep(ids, held, remembered)

if #changes > 0 or wrote then
  if not shaped then
    call('HSET', meta, 'shape', shape)
    if not built then call('HSET', meta, 'epoch', epoch, 'from', format('%.0f', from), 'span', format('%.0f', span)) end
    if revision > 0 then
      moderated = format('%.0f', revision)
      call('HSET', meta, 'kind', kind)
    end
    call('HSET', periods, period, format('%.0f %.0f', opens, closes))
  end
  if with_data ~= state[7] then call('HSET', meta, 'data', with_data) end
  if moderated ~= state[10] then call('HSET', meta, 'moderated', moderated) end
  publish(epoch, seq, clock)
elseif note and stayed and shaped then
  call('HSET', meta, 'wrote', format('%.0f', now))
end
if relist and (shaped or wrote) and (wrote or #changes + #remembered > 0) then call('HSET', meta, 'listed', format('%.0f', now)) end

return results
