-- The part of apply.lua that takes updates back. Follows apply_ids.lua, rank.lua and leaving.lua.
--
-- When an update is taken back and other updates of the same member have come since, its score
-- stays. A note then records it, in a field of the ids that the member, the period and the
-- score make up: 'set till before,' for each time; the score was set at the board's clock set,
-- taken back at till, and replaced the score before ('-': none).

local NOTES = 8 -- on one score of a member; the earliest goes first
local FOLLOW = 64 -- notes that one take-back follows at most

-- Returns the notes on a member's score, and their field.
local function notes_on(member, score)
  local field, newer = '\31' .. period .. '\31' .. digest_of(member) .. '\31' .. score, held.newer
  if not known[field] then
    local noted, place = not held.is_new and call('HGET', ids[newer], field), newer
    if not noted and held.has_older then noted, place = call('HGET', ids[1 - newer], field), 1 - newer end
    known[field], held.place[field] = noted or '', noted and place or nil
  end
  return known[field], field
end

-- Returns the score that counts in place of one that a member had at a time ('-': none), now that
-- others may have been taken back.
local function remaining(member, score, at)
  for _ = 1, FOLLOW do
    local set, before = -1, nil
    for since, till, old in notes_on(member, score):gmatch('(%x+) (%x+) ([^,]+),') do
      since, till = tonumber(since, 16), tonumber(till, 16)
      if since < at and till > at and since > set then set, before = since, old end
    end
    if not before then break end
    score, at = before, set
  end
  return score
end

local function bounded(score, had) return math.max(math.min(score, math.max(max, had)), math.min(min, had)) end

-- Returns the score of a member after an update with a result and the letter of an op is taken back; nil: none.
local function undone(result, op, member, had)
  local score, old = result:match('^%S* (%S+) %S+ (%S+)')
  if score == '-' or score == old or not had then return had end -- it changed nothing, or the member has left since
  local at = result:match(' @(%x+)')
  at = tonumber(at, 16)
  if at < tonumber(call('ZSCORE', left, digest_of(member)) or 0) then return had end -- the member left, and came back
  if op == 's' then
    local new, before = tonumber(score), tonumber(old) or 0
    local less = columns and columns.less(had, new, before) or had - new + before
    local to = bounded(less, had)
    if less == 0 or to == 0 then return nil end
    return to
  end
  old = remaining(member, old, at)
  if had ~= tonumber(score) then -- other updates have come since
    local noted, field = notes_on(member, score)
    if select(2, noted:gsub(',', '')) >= NOTES then noted = noted:gsub('^[^,]*,', '') end
    known[field] = noted .. format('%x %x %s,', at, clock, old)
    kept[#kept + 1] = field
    kept[#kept + 1] = known[field]
    return had
  end
  if old == '-' then return nil end
  return bounded(tonumber(old), had)
end

-- Returns the standing of a member, twice, as a result without its first letter.
local function unchanged(member)
  local score, rank
  if windowed and not live then return period .. ' - - - -' end
  local seen = call('ZSCORE', members, member)
  local key = seen
  if not key and moderated then key = call('ZSCORE', hiddens, member) end
  if not key then return period .. ' - - - -' end
  local standing = format(' %d %s', sign * floor(key) + 0, seen and rank_of(member, seen) or '-')
  return period .. standing .. standing
end

