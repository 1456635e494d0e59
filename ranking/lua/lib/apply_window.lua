-- The part of apply.lua that carries an update out on a board with a window: the update adds an
-- event, or removes events. It stands in place of apply_score.lua. Follows apply_ids.lua and
-- window.lua.

local AHEAD = 5000 -- ms by which the clock of a sender may be ahead
local SWEEP = 16 -- events that a batch removes at most, and one more for each of its updates

window.length, window.mode, window.live = tonumber(ARGV[WINDOW]), ARGV[WINDOW + 1], ARGV[WINDOW + 2] == '1'
window.with_data, window.moderated = with_data, moderated
local built = not window.live

-- Returns a result without its first letter: '-' stands for what there is none of.
local function standings(score, rank, had, had_rank)
  return period .. (score and format(' %d ', score) .. (rank or '-') or ' - -') .. (had and format(' %d ', had) .. (had_rank or '-') or ' - -')
end

-- Returns what an update makes of a member's tally: the time of the event to add, in ms, or nil;
-- whether the member's earlier events are forgotten; and the new tally. Or nil, and why the
-- update is refused.
local function counted(op, amount, condition, data, at, count, plus, minus)
  if condition == 'exists' and count == 0 or condition == 'absent' and count > 0 then return nil, nil, count, plus, minus end
  if op ~= window.mode and op ~= 'set' then return nil, 'w' end
  if built and data ~= '' then return nil, 'x' end
  local this = floor(now / 1000)
  local ms = at == '' and this or tonumber(at)
  if ms > this + AHEAD then return nil, 'h' end
  ms = math.min(ms, this)
  if ms <= window.over() then return nil, 'o' end
  local forget = false
  if op == 'set' then forget, count, plus, minus = count > 0, 0, 0, 0 end
  count, plus, minus = window.count(amount, 1, count, plus, minus)
  if op ~= 'sum' and (amount < min or amount > max) or plus > window.MOST or minus > window.MOST then return nil, 'r' end
  -- A sum may pass its bounds when events leave, but no update takes it there.
  if op == 'sum' and (plus - minus < min and amount < 0 or plus - minus > max and amount > 0) then return nil, 'r' end
  if op ~= 'set' and (amount > max_change or amount < -max_change) then return nil, 'c' end
  return ms, forget, count, plus, minus
end

-- Carries out the update at an index of ARGV, or takes back one with the result taken. Returns
-- the result without its first letter, why the update is refused, or nil where the board must be
-- listed first.
local function carry_out(at, taken)
  local op, member, score_text, condition, data, held = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 5], '', ''
  local amount = tonumber(score_text)
  local count, plus, minus = window.tally(member)
  local seen = call('ZSCORE', members, member)
  local key = seen
  --+ if moderation
  if not key and moderated then key = call('ZSCORE', hiddens, member) end
  local hide = hides ~= '' and hides:byte(#results) == 49 -- '1'
  --+ else
  local hide = false
  --+ end
  if built then key = false end
  local had, had_rank = key and plus - minus or nil, key and seen and rank_of(member, seen) or nil
  --+ if data
  data = ARGV[at + DATA]
  if key and with_data then held = call('HGET', datas, member) or '' end
  --+ end
  local ms, forget, to, more, less = nil, false, count, plus, minus
  if op == 'remove' then
    if count == 0 and not (built and seen) then return 'g' end
    forget, to, more, less = true, 0, 0, 0
  elseif taken then
    local n = taken:match(' @(%x+)')
    if n and unlisted then return nil end
    if n and window.undo(member, tonumber(n, 16), score_text) then to, more, less = window.count(amount, -1, count, plus, minus) end
  else
    ms, forget, to, more, less = counted(op, amount, condition, data, ARGV[at + AT], count, plus, minus)
    if not to then return forget end -- why it is refused
  end
  if not ms and not forget and to == count then
    stayed = true
    return standings(had, had_rank, had, had_rank)
  end
  if unlisted then return nil end
  if forget then window.forget(member, clock) end
  if ms then call('ZADD', events, format('%.0f', ms), window.event(member, clock, score_text)) end
  window.keep(member, to, more, less)
  wrote = true
  if to == 0 and (key or built and op == 'remove') then
    if seen then leave(member, seen) else call('ZREM', hiddens, member) end
    if with_data then call('HDEL', datas, member) end
  end
  if built then return standings() end
  if to == 0 then return standings(nil, nil, had, had_rank) end

  local score = more - less
  if not ms or data == '' then data = held elseif data == 'null' then data = '' end
  if score == had and data == held and hide == not seen then return standings(score, had_rank, had, had_rank) end
  local new = key
  if score ~= had then -- reached now
    local s = sign * score + 0 -- +0: never -0
    new = ties == 'member' and format('%.0f', s) or key_of(members, moderated and hiddens or nil, s, clock - from, span)
  end
  --+ if data
  if data ~= held then
    if data == '' then call('HDEL', datas, member) else call('HSET', datas, member, data) end
    with_data = '1'
  end
  --+ end
  --+ if moderation
  if hide then
    if seen then leave(member, key) end
    call('ZADD', hiddens, new, member)
    if not moderated then moderated = '0' end -- the rest of this moderation is not in force yet
    return standings(score, nil, had, had_rank)
  end
  if had and not seen then call('ZREM', hiddens, member) end
  --+ end
  return standings(score, move(member, seen or nil, new, data), had, had_rank)
end

if open and shaped and unlisted then
  -- The events that are over would have to go first, because updates are answered by what is left.
  if call('ZCOUNT', events, '-inf', format('%.0f', window.over())) > 0 then return {'new', format('%.0f', now)} end
elseif open and shaped then
  local before = clock
  local fresh = ARGV[10]:match('%S+$') -- epoch
  local _, anew, more = window.sweep((#ARGV - first + 1) / STEP + SWEEP, from, span, fresh)
  if anew then exists, epoch, seq = fresh, fresh, 1 end
  wrote = clock > before -- hidden members have a key of that time too
  clock = clock + 1
  if more and ARGV[WINDOW + 3] == '0' then -- updates are answered by what is left
    if wrote then publish(epoch, seq, clock) end
    return {'due', format('%.0f', now)}
  end
end

