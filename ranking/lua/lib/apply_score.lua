-- The part of apply.lua that carries an update out on a board without a window. Follows
-- apply_head.lua.

-- Returns what an update makes of a score, and whether the score is the update's own; or nil,
-- nil and why the update is refused.
local function updated(op, had, amount)
  local score, own, change = amount, true, nil
  if op == 'sum' then
    if limit > 0 then return nil, nil, 's' end -- members that left the board have lost their sum
    score, change = (had or 0) + amount, amount
    if score < min or score > max then return nil, nil, 'r' end
  else
    if amount < min or amount > max then return nil, nil, 'r' end
    if op == 'set' then return amount, true end
    if op == 'best' and had and sign * had <= sign * amount then score, own = had, false end
    change = had and score - had or 0
  end
  if change > max_change or change < -max_change then return nil, nil, 'c' end
  return score, own
end

-- Carries out the update at an index of ARGV, or takes back one with the result taken. Returns
-- the result without its first letter, why the update is refused, or nil where the board must be
-- listed first.
local function carry_out(at, taken)
  local op, member, amount, condition, data = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 5], ARGV[at + 6]
  local seen = call('ZSCORE', members, member)
  local key = seen or moderated and hidden_key(member) or nil
  if key and ttl > 0 and is_over(member) then
    if unlisted then return nil end
    remove(member, seen)
    seen, key = false, nil
  end
  local hide = hides ~= '' and hides:byte(#results) == 49 -- '1'
  local had = key and score_of(key)
  local held = key and with_data and data_of(member) or ''
  local had_rank = seen and rank_of(member, key) or nil
  local score, own, why
  if op == 'remove' then
    if not had then return 'g' end
  elseif taken then
    score = undone(taken, condition, member, had)
  elseif condition == 'exists' and not had or condition == 'absent' and had then
    score = had
  else
    score, own, why = updated(op, had, amount)
    if why then return why end
  end
  if not own or data == '' then data = held elseif data == 'null' then data = '' end
  if score == had and data == held and (not had or hide == not seen) then -- it stays in its place, or away
    stayed = true
    return standings(score, had_rank, had, had_rank)
  end
  if unlisted then return nil end
  if not score then
    remove(member, seen)
    wrote = true
    return standings(nil, nil, had, had_rank)
  end
  local rank, there = put(member, score, had, key, seen, hide, held, data)
  wrote = wrote or there
  return standings(there and score, rank, had, had_rank)
end

