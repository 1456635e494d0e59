-- Applies a batch of updates to one board-period and publishes the changes. A board's script is
-- made of the parts that the board needs, see Apply in ranking/internal/script.
--
-- KEYS  1 to 10        see board.lua
--                      meta: epoch, seq, clock; from and span, of which f is a fraction;
--                      shape, of the definition; data ('1': some members have had data);
--                      moderated (the revision of the moderation that is in force; none: nobody
--                      was ever hidden) and kind, for which that is so; wrote (when an update last
--                      left a score as it was), settled, and listed (when the board was last
--                      listed), in µs since 1970
--                      request ids: id to digest, 11 bytes, and first result. An update of an event has ' @' and the board's clock, in hex, after it,
--                      for taking it back; an update that was taken back has the result of that,
--                      and ' t'. Notes of take-backs are here too, see apply_takeback.lua
--                      periods: name to its state, see settle.lua; '/' to the end of the last
--                      one that was announced as closed
--      11 to 13        with a window, see window.lua
-- ARGV  1 to 5         see board.lua
--       6 opens, 7 closes  of the period; 0: none
--       8 starts, 9 ends   of the activity; 0: none
--      10 lease        until when the caller may rely on what it knows of the board
--      11 listed       until when a new board-period may be created, because the caller has
--                      listed the board; 0: it has not
--      12 from, 13 span    for a new board-period
--      14 epoch        for a new board-period
--      15 shape        of the definition: data of another shape do not mix with it
--      16 min, 17 max  of a score
--      18 max change   of one update
--      19 limit        members that stay; 0: all
--      20 ttl          µs after which a member leaves; 0: never
--      21 touches      '1': an update that leaves a score as it is counts as a write
--      22 revision     of the moderation that the caller knows; 0: there is none
--      23 hides        '1' or '0' for each update: its member is hidden; '': none is
--      24 kind         of the members
--      with a window, and only then:
--      25 window       ms
--      26 mode         of the board, which op must be
--      27 live         '1': scores are those of the moment. Otherwise the result is built, and
--                      results hold no scores
--      28 behind       '1': apply the updates even if more events are over than one call removes
--         Times are Redis's, in µs since 1970; opens and starts are included, closes and ends
--         are not.
--      then seven for each update:
--         op           sum, best, last, set (as last, without max change), remove or undo
--         member
--         score        canonical decimal
--         id           request id; '' for none
--         digest       11 bytes that tell this update from another one under the same id
--         if           'exists', 'absent' or ''; with undo the op of the update to take back
--         data         JSON, 'null' to remove it, '' to leave it
--         at           with a window, and only then: when it happened, ms since 1970; '' for now
-- Result  {why, now in µs} when nothing was done:
--           'stale'  the lease is over
--           'behind' the caller does not know the moderation in force; the third value is its
--                    revision
--           'part'   the script lacks a part; the third value is 'data' or 'moderation'
--           'shape'  the board-period is of another shape
--           'turn'   now is within starts..ends and outside opens..closes
--           'due'    with a window: more events are over than one call removes
--           'new'    an update would write to a board-period that is new, or was listed long ago,
--                    and the board is not listed
--         {'ok', one string for each update}, each of them
--           'a' period ' ' score ' ' rank ' ' old score ' ' old rank   applied
--           'd' the same, of the first time                            duplicate
--               ' t' after either: it was taken back; with undo the standing is the present one
--           'p'      the update to take back counted in another period
--           'm'      the id is of another update
--           'r'      score out of range
--           'c'      change out of range
--           's'      a sum on a board with a limit
--           'g'      the member to remove is not there
--           'w'      with a window: an op that is not the mode
--           'x'      data on a board whose result is built
--           'o'      at is before the window
--           'h'      at is too far ahead
--           'n'      outside starts..ends
--           'f'      the period was announced as closed, and the clock was set back since
--         A member that is not on the board has '-' for score and rank, a hidden one for the rank.
-- Cost    O(log n) an update: ZSCORE, 2 ZRANK, ZREVRANGEBYSCORE, ZADD. Ties shared add 2 ZCOUNT,
--         dense 2 ZRANK, ZADD, ZRANGEBYSCORE; data HGET, HSET; a ttl ZSCORE; a limit ZRANGE; a
--         window HGET, HSET, ZADD. A batch adds 7 calls, up to 32 removals with a ttl, and with a
--         window the removal of up to 16 events and one more for each update.

if ttl > 0 and open and not final and exists and not unlisted then
  expire(ttl, EXPIRE, now)
  clock = clock + #changes
end
for i = FIRST, #ARGV, STEP do
  local undo, id, digest = ARGV[i] == 'undo', ARGV[i + 3], ARGV[i + 4]
  local record, result = id ~= '' and known[id], nil
  if record and record:sub(1, DIGEST) ~= digest then
    result = 'm'
  elseif record and not undo then
    result = 'd' .. record:sub(DIGEST + 1):gsub(' @%x+', '')
  elseif record and record:sub(-2) == ' t' then
    local of = record:match('^%S*', DIGEST + 1)
    result = 'd' .. (of == period and unchanged(ARGV[i + 1]) .. ' t' or record:sub(DIGEST + 1))
  elseif not open then
    result = 'n'
  elseif final then
    result = 'f'
  elseif undo and record and record:match('^%S*', DIGEST + 1) ~= period then
    result = 'p'
  else
    local before, at = #changes, clock
    if undo and not record then
      result = unchanged(ARGV[i + 1]) -- the update has not counted, and never will
    else
      result = carry_out(i, undo and record:sub(DIGEST + 1))
    end
    if not result or unlisted and id ~= '' and #result > 1 then return answer('new') end
    clock = clock + math.max(#changes - before, 1)
    if #result > 1 then -- it was not refused
      local mark = undo and ' t' or ''
      if id ~= '' then
        known[id] = digest .. result .. (not undo and id:find('\31', 1, true) and format(' @%x', at) or mark)
        remembered[#remembered + 1] = id
        remembered[#remembered + 1] = known[id]
      end
      result = 'a' .. result .. mark
    end
  end
  results[#results + 1] = result
end

ids_keep(ids, held, remembered)

if #changes > 0 or wrote then
  if not shaped then
    call('HSET', meta, 'shape', shape)
    if not (window and not window.live) then call('HSET', meta, 'epoch', epoch, 'from', format('%.0f', from), 'span', format('%.0f', span)) end
    if revision > 0 then
      moderated = format('%.0f', revision)
      call('HSET', meta, 'kind', kind)
    end
    call('HSET', periods, period, format('%.0f %.0f', opens, closes))
  end
  if with_data ~= state[7] then call('HSET', meta, 'data', with_data) end
  if moderated ~= state[10] then call('HSET', meta, 'moderated', moderated) end
  publish(epoch, seq, clock)
elseif touches and stayed and shaped then
  call('HSET', meta, 'wrote', format('%.0f', now))
end
if relist and (shaped or wrote) and (wrote or #changes + #remembered > 0) then call('HSET', meta, 'listed', format('%.0f', now)) end

return results
