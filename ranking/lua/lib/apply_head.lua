-- The start of apply.lua: its arguments, what keeps a call from being carried out, and the state
-- of the board-period. Follows board.lua, ranks, ids.lua, sort_key.lua and parts.

local ids, periods = {[0] = KEYS[3], [1] = KEYS[4]}, KEYS[5]
local opens, closes = tonumber(ARGV[6]), tonumber(ARGV[7])
local starts, ends = tonumber(ARGV[8]), tonumber(ARGV[9])
local lease, listed = tonumber(ARGV[10]), tonumber(ARGV[11])
local from, span, epoch, shape = ARGV[12], ARGV[13], ARGV[14], ARGV[15]
local min, max, max_change = tonumber(ARGV[16]), tonumber(ARGV[17]), tonumber(ARGV[18])
local limit, ttl, touches = tonumber(ARGV[19]), tonumber(ARGV[20]), ARGV[21] == '1'
local revision, hides, kind = tonumber(ARGV[22]), ARGV[23], ARGV[24]

local FIRST, STEP = 25, 7 -- of the updates in ARGV
if window then
  window.length, window.mode, window.live = tonumber(ARGV[25]), ARGV[26], ARGV[27] == '1'
  FIRST, STEP = 29, 8
end
local DIGEST = 11 -- bytes
local RELIST = 3600 * 1000000 -- µs after which the board must be listed again: a failover may have lost that

local function answer(why, detail) return {why, format('%.0f', now), detail} end

if now >= lease then return answer('stale') end
local open = now >= starts and (ends == 0 or now < ends)
if open and closes > 0 and (now < opens or now >= closes) then return answer('turn') end

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'from', 'span', 'shape', 'data', 'settled', 'listed', 'moderated')
local exists, shaped, with_data, moderated = state[1], state[6], state[7], state[10]
if shaped and shaped ~= shape then return answer('shape') end
if moderated and revision < tonumber(moderated) then return answer('behind', moderated) end
if moderated and not hidden_key then return answer('part', 'moderation') end
if with_data and not data_of then return answer('part', 'data') end
-- A period that was announced as closed stays as it was, even when the clock is set back.
local final = state[8]
if open and not shaped then
  local ended = tonumber(call('HGET', periods, '/') or 0)
  final = closes > 0 and closes <= ended or ends > 0 and ends <= ended
end
-- No board-period may come into being that housekeeping does not know.
local relist = not shaped or now >= tonumber(state[9] or 0) + RELIST
local unlisted = relist and now >= listed
local seq = 0
if exists then
  epoch, seq, from, span = state[1], tonumber(state[2]), state[4], state[5]
end
-- The clock increases strictly, even when Redis's clock is set back.
if state[3] then clock = math.max(now, state[3] + 1) end
from, span = tonumber(from), tonumber(span)
-- The clock never is before from: key_of relies on that.
if not exists then from = math.min(from, clock) end

local asked = {}
for i = FIRST + 3, #ARGV, STEP do
  if ARGV[i] ~= '' then asked[#asked + 1] = ARGV[i] end
end
local known, held = ids_find(ids, clock, asked)

local results, remembered = {'ok'}, {} -- remembered: {id, record, id, record, ...}
local stayed, wrote = false, false -- whether a member stayed as it was; whether anything was written

-- Returns the two standings of a result without its first letter: '-' stands for nothing.
local function standings(score, rank, had, had_rank)
  if rank and had_rank then return format('%s %d %d %d %d', period, score, rank, had, had_rank) end
  local current = score and (rank and format('%d %d', score, rank) or format('%d -', score)) or '- -'
  local previous = had and (had_rank and format('%d %d', had, had_rank) or format('%d -', had)) or '- -'
  return period .. ' ' .. current .. ' ' .. previous
end

