-- Applies a batch of updates to one board-period and publishes the changes.
--
-- This file is a template of two scripts: the plain one, and the whole one. A line '--+ file a' stands for
-- lua/lib/a.lua. The whole script alone has the lines after '--+ if whole', up to '--+ else' or '--+ end'; the
-- plain one alone has those after '--+ else', up to '--+ end'. One script for all boards would cost a plain board
-- 4, 8 and 1 % more of Redis in batches of 1, 16 and 128. A script with only the parts that a board needs would
-- save other boards 0 to 6 %. What each update runs is written out, and functions are made where a board needs
-- them: each function costs time in each call of a script.
--
-- KEYS  1 to 10        see board.lua; the plain script has 1 to 5
--                      meta: epoch, seq, clock; from and span, of which f is a fraction;
--                      shape, of the definition; data ('1': some members have had data);
--                      moderated (the revision of the moderation that is in force; none: nobody
--                      was ever hidden) and kind, for which that is so; wrote (when an update last
--                      left a score as it was), settled, and listed (when the board was last
--                      listed), in µs since 1970
--                      request ids: id to the first 13 bytes of the digest, and first result. An update of an
--                      event has ' @' and the board's clock, in hex, after it, for taking it back.
--                      An update that was taken back has the result of that, and ' t'. Notes of
--                      take-backs are here too, see apply_takeback.lua
--                      periods: name to its state, see settle.lua; '/' to the end of the last
--                      one that was announced as closed
--      11 to 14        with a window, see window.lua; else 11 to 15: what is pending, see freeze.lua
-- ARGV  1 to 5         see board.lua
--       6 since, 7 until   times from which and until which an update counts without a further look
--                      at the following
--       8 times        'opens closes starts ends lease freezes': of the period and of the activity, 0: none;
--                      until when the caller may rely on what it knows of the board; and when the board
--                      freezes by its definition, 0: never
--       9 listed       until when a new board-period may be created, because the caller has
--                      listed the board; 0: it has not
--      10 birth        'from span epoch' for a new board-period
--      11 shape        of the definition: data of another shape do not mix with it
--      12 bounds       'min max change' of a score, and of one update; '' for the widest
--      13 flags        't': an update that leaves a score as it is counts as a write; 'o': the batch has
--                      an op set, remove or undo, which work at maxmemory too, see full_hash.lua; 'd': updates
--                      have data; 'p': the caller has listed the board for what is pending alone
--      14 ids          'length most': of a span of request ids, in µs, see ids.lua; and how many ids the board
--                      may hold. It may hold more of events: the caller refuses these before they begin
--      and for the whole script. The plain one has no ties shared or dense, limit, member_ttl, window, moderation and
--      data, no 'o', 'd' and 'p' among the flags, and is not frozen
--      15 limit        members that stay; 0: all
--      16 ttl          µs after which a member leaves; 0: never
--      17 revision     of the moderation that the caller knows; 0: there is none
--      18 hides        '1' or '0' for each update: its member is hidden; '': none is
--      19 kind         of the members
--      20 window       '' without one; 'length mode live behind': in ms; of the board, which op must
--                      be; '1': scores are those of the moment, '0': the result is built, and results
--                      hold no scores; '1': apply the updates even if more events are over than
--                      one call removes
--      21 columns      'sign min max' of each column of a score, from the left, see columns.lua; '' for none
--      then six to eight for each update:
--         op           sum, best, last, set (as last, without max change), remove or undo
--         member
--         score        canonical decimal; of a sum on a board with columns, that of each column
--         id           request id; '' for none
--         digest       14 bytes that tell this update from another one under the same id: 11 of all but the
--                      op; the letter of the op, and '=' if that is the mode of the board, else '-'; and
--                      the op that the update names, or '=' if it names none. '-' stands for no op.
--                      With undo it is that of the update to take back
--         if           'exists', 'absent' or ''
--         data         with the flag 'd': JSON, 'null' to remove it, '' to leave it
--         at           with a window: when it happened, ms since 1970; '' for now
--         Times are Redis's, in µs since 1970; opens and starts are included, closes and ends
--         are not.
-- Result  {why, now in µs} when nothing was done:
--           'stale'  the lease is over
--           'behind' the caller does not know the moderation in force; the third value is its
--                    revision
--           'whole'  the plain script does not know what the board holds: data, a moderation, or what is pending
--           'shape'  the board-period is of another shape
--           'turn'   now is within starts..ends and outside opens..closes
--           'due'    with a window: more events are over than one call removes
--           'wait'   as 'new', for a board-period that the public does not see yet
--           'new'    an update would write to a board-period that is new, or was listed long ago,
--                    and the board is not listed
--         {'ok' or 'full', one string for each update}; 'full': the board may take no more ids. Each of them
--           'a' period ' ' score ' ' rank ' ' old score ' ' old rank   applied
--           'd' the same, of the first time                            duplicate
--               ' t' after either: it was taken back; with undo the standing is the present one
--           'p'      the update to take back counted in another period
--           'm'      the id is of another update
--           'i ' µs  the board has no room for the id, until so much later
--           While the board-period is frozen, the rank of a standing is '*', a duplicate has no score, and the following
--           letters are capitals.
--           'r'      score out of range
--           'c'      change out of range
--           one of bejklquv   a column out of its range: the first to the eighth, from the left
--           's'      a sum on a board with a limit
--           'g'      the member to remove is not there
--           'w'      with a window: an op that is not the mode
--           'x'      data on a board whose result is built
--           'o'      at is before the window
--           'h'      at is too far ahead
--           'n'      outside starts..ends
--           'f'      the period was announced as closed, and the clock was set back since
--         A member that is not on the board has '-' for score and rank, a hidden one for the rank.
-- Cost    O(log n) an update: ZSCORE, 2 ZRANK, ZCOUNT, ZADD. Ties shared add 2 ZCOUNT,
--         dense 2 ZRANK, ZADD, ZRANGEBYSCORE; data HGET, HSET; a ttl ZSCORE; a limit ZRANGE; a
--         window HGET, HSET, ZADD. A batch adds 7 calls, up to 32 removals with a ttl, and with a
--         window the removal of up to 16 events and one more for each update.

--+ file board
--+ file apply_state
--+ file apply_ids
--+ file sort_key
--+ if whole
local EXPIRE, TRIM = 32, 8 -- members that one batch, and one update beyond its own, removes at most
local MOST = 2 ^ 53 - 1 -- of the sums of a tally
local AHEAD = 5000 -- ms by which the clock of a sender of events of a window may be ahead
local events, tallies, forgotten, lock
local over -- ms; an event counts from then on, and not before
if windowed then
  events, tallies, forgotten, lock = KEYS[11], KEYS[12], KEYS[13], KEYS[14]
  over = floor(now / 1000) - length
end
local columns -- the functions of columns.lua; nil: the board has none
if ARGV[21] ~= '' then
--+ file columns
  columns = {change = change, less = less}
end
-- While frozen, see freeze.lua.
local GONE = 2 ^ 60 -- keys of scores are smaller
local pending, pending_hiddens, pending_datas, publics, newcomers = KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15]
local tied = ties == 'shared' or ties == 'dense'
local ranks, leaving, taking_back -- the functions of rank.lua, leaving.lua and apply_takeback.lua; nil: none is needed
if overrides then call('HDEL', meta, '\0') end
if tied or windowed or limit > 0 or ttl > 0 or overrides or hides ~= '' then
--+ file rank
  ranks = {of = rank_of, move = move, leave = leave}
  if limit > 0 or ttl > 0 or overrides then
--+ file order
--+ file leaving
    leaving = {remove = remove, note_left = note_left, trim = trim, is_beyond = is_beyond}
    if overrides then
--+ file apply_takeback
      taking_back = {undone = undone, unchanged = unchanged}
    end
    if not windowed and ttl > 0 and open and not final and exists and not unlisted then
      expire(ttl, EXPIRE, now)
      clock = clock + #changes
    end
  end
  if windowed then
--+ file apply_window
  end
end
--+ end

for i = first, #ARGV, STEP do
  local op, member, id, digest = ARGV[i], ARGV[i + 1], ARGV[i + 3], ARGV[i + 4]
  local record, result, taken
  if id ~= '' then
    record = known[id]
    if record and not (record:sub(1, CONTENT) == digest:sub(1, CONTENT)
      and record:sub(CONTENT + 1, DIGEST):find(digest:sub(-1), 1, true)) then
      result = 'm' -- without an op it means the mode of the first time, which may be another one now
    elseif record and op ~= 'undo' then
      result = 'd' .. record:sub(DIGEST + 1):gsub(' @%x+', '')
      --+ if whole
      if frozen then
        result = result:match('^%S*') .. ' - * - -' .. (result:sub(-2) == ' t' and ' t' or '')
      end
      --+ end
      if not frozen and result:find(' * ', 1, true) then
        -- It counted while the board-period was frozen: the standing is the present one.
        local same = result:match('^d(%S*)') == period
        local seen, standing = same and call('ZSCORE', members, member), ' - -'
        if seen then
          local at
          --+ if whole
          if tied then at = ranks.of(member, seen) end
          --+ end
          standing = format(' %d %d', sign * floor(seen) + 0, at or call('ZRANK', members, member) + 1)
        --+ if whole
        elseif same and moderated and call('ZSCORE', hiddens, member) then
          standing = format(' %d -', sign * floor(call('ZSCORE', hiddens, member)) + 0)
        --+ end
        end
        result = result:gsub('^(%S*) %S+ %* (%S+) %S+', '%1' .. standing .. (same and ' %2 -' or ' - -'))
      end
      local place = held.place[id]
      if place and held.ends[place] < held.keep and id:find('\31', 1, true) then
        kept[#kept + 1] = id -- the event may have forgotten the id before, and then knows it for longer than this record stays
        kept[#kept + 1] = record
      end
    end
  end
  --+ if whole
  if op == 'undo' and not result and record then
    taken = record:sub(DIGEST + 1)
    local same = taken:match('^%S*') == period
    if taken:sub(-2) == ' t' then
      result = 'd' .. (frozen and period .. ' - * - - t' or same and taking_back.unchanged(member) .. ' t'
        or taken:gsub('^(%S*) %S+ %* .*', '%1 - - - - t'))
    elseif open and not final and not same then
      result = 'p'
    end
  end
  --+ end
  if not result then
    if not open then
      result = 'n'
    elseif final then
      result = 'f'
    elseif id ~= '' and not record and room <= 0 and op ~= 'undo' and not id:find('\31', 1, true) then
      result = format('i %d', free - now)
    else
      local before, at = #changes, clock
      local score, rank, had, had_rank -- of the member, after the update and before
      --+ if whole
      if op == 'undo' and not taken then
        result = frozen and period .. ' - * - -' or taking_back.unchanged(member) -- it has not counted, and never will
      elseif windowed then
--+ file apply_event
      elseif frozen then
--+ file apply_pending
      else
--+ file apply_score
      end
      --+ else
--+ file apply_score
      --+ end
      if result then
        -- it is refused, or has no score
      elseif rank and had_rank then
        result = format('%s %d %d %d %d', period, score, rank, had, had_rank)
      else
        result = period .. (score and format(' %d ', score) .. (rank or '-') or ' - -')
          .. (had and format(' %d ', had) .. (had_rank or '-') or ' - -')
      end
      if unlisted and id ~= '' and #result > 1 then return {frozen and not exists and 'wait' or 'new', format('%d', now)} end
      clock = clock + math.max(#changes - before, 1)
      if #result > 1 then -- it was not refused
        local mark = op == 'undo' and ' t' or ''
        if id ~= '' then
          if not record then room = room - 1 end
          local more = mark == '' and id:find('\31', 1, true) and format(' @%x', at) or mark
          known[id] = (record or digest):sub(1, DIGEST) .. result .. more
          kept[#kept + 1] = id
          kept[#kept + 1] = known[id]
        end
        result = 'a' .. result .. mark
      end
    end
  end
  results[#results + 1] = result
end

if #kept > 0 then keep_ids(ids, held, kept, now) end
if room and room <= 0 then results[1] = 'full' end
--+ if whole
if frozen then
  if wrote then
    if not shaped then
      call('HSET', meta, 'shape', shape, 'from', format('%d', from), 'span', format('%d', span))
      if revision > 0 then
        moderated = format('%d', revision)
        call('HSET', meta, 'kind', kind)
      end
    end
    if moderated ~= state[10] then call('HSET', meta, 'moderated', moderated) end
    call('HSET', meta, 'frozen', frozen, 'pending', format('%d', clock))
    if not state[12] then call('HSET', KEYS[5], period, ARGV[8]:match('^%d+ %d+') .. (exists and ' frozen' or ' waiting')) end
  elseif stayed and exists and ARGV[13]:find('t', 1, true) then
    call('HSET', meta, 'wrote', format('%d', now))
  end
elseif #changes > 0 or wrote then
--+ else
if #changes > 0 or wrote then
--+ end
  if not shaped then
    call('HSET', meta, 'shape', shape)
    --+ if whole
    if live or not windowed then call('HSET', meta, 'epoch', epoch, 'from', format('%d', from), 'span', format('%d', span)) end
    if revision > 0 then
      moderated = format('%d', revision)
      call('HSET', meta, 'kind', kind)
    end
    --+ else
    call('HSET', meta, 'epoch', epoch, 'from', format('%d', from), 'span', format('%d', span))
    --+ end
    call('HSET', KEYS[5], period, ARGV[8]:match('^%d+ %d+'))
  end
  --+ if whole
  if with_data ~= state[7] then call('HSET', meta, 'data', with_data) end
  if moderated ~= state[10] then call('HSET', meta, 'moderated', moderated) end
  --+ end
--+ file publish
elseif stayed and shaped and ARGV[13]:find('t', 1, true) then
  call('HSET', meta, 'wrote', format('%d', now))
end
if relist and (shaped or wrote) and (wrote or #changes + #kept > 0) then call('HSET', meta, 'listed', format('%d', now)) end

return results
