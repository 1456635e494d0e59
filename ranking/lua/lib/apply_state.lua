-- The part of apply.lua that decides whether the call is carried out, and reads the state of the
-- board-period. Follows board.lua.

local RELIST = 3600 * 1000000 -- µs after which the board must be listed again: a failover may have lost that

local shape = ARGV[11]
local open = true
local frozen -- since when the board-period is frozen, in µs since 1970; nil: it is not
if now < tonumber(ARGV[6]) or now >= tonumber(ARGV[7]) then
  local opens, closes, starts, ends, lease, freezes = ARGV[8]:match('^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  if now >= tonumber(lease) then return {'stale', format('%d', now)} end
  open = now >= tonumber(starts) and (ends == '0' or now < tonumber(ends))
  if open and closes ~= '0' and (now < tonumber(opens) or now >= tonumber(closes)) then return {'turn', format('%d', now)} end
  if open and freezes ~= '0' and now >= tonumber(freezes) then frozen = freezes end
end

local first = 15 -- of the arguments of the updates
--+ if whole
local limit, ttl, revision = tonumber(ARGV[15]), tonumber(ARGV[16]), tonumber(ARGV[17])
local hides, kind, windowed = ARGV[18], ARGV[19], ARGV[20] ~= ''
local length, mode, live, behind
if windowed then
  length, mode, live, behind = ARGV[20]:match('^(%d+) (%a+) ([01]) ([01])$')
  length, live, behind = tonumber(length), live == '1', behind == '1'
end
local has_data, overrides = ARGV[13]:find('d', 1, true), ARGV[13]:find('o', 1, true)
first = 22
--+ end

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'from', 'span', 'shape', 'data', 'settled', 'listed', 'moderated',
  'frozen', 'pending')
local exists, shaped, with_data, moderated = state[1], state[6], state[7], state[10]
if state[11] then
  local ended = state[11]:match('^ended (%d+)$')
  if not ended then frozen = state[11] elseif ended == frozen then frozen = nil end
end
if shaped and shaped ~= shape then return {'shape', format('%d', now)} end
--+ if whole
if moderated and revision < tonumber(moderated) then return {'behind', format('%d', now), moderated} end
--+ else
if moderated or with_data or frozen then return {'whole', format('%d', now)} end
--+ end
-- A period that was announced as closed stays as it was, even when the clock is set back.
local final = state[8]
if open and not shaped then
  local closes, ends = ARGV[8]:match('^%d+ (%d+) %d+ (%d+)')
  local ended = tonumber(call('HGET', KEYS[5], '/') or 0)
  final = closes ~= '0' and tonumber(closes) <= ended or ends ~= '0' and tonumber(ends) <= ended
end
-- No board-period may come into being that housekeeping does not know.
local relist = not shaped or now >= (state[9] or 0) + RELIST
local unlisted = relist and now >= tonumber(ARGV[9])
--+ if whole
if relist and ARGV[13]:find('p', 1, true) and (exists or not frozen) then unlisted = true end
--+ end

local epoch, seq, from, span = state[1], state[2] or 0, state[4], state[5]
-- The clock increases strictly, even when Redis's clock is set back.
if state[3] then clock = math.max(now, state[3] + 1) end
--+ if whole
if state[12] then clock = math.max(clock, state[12] + 1) end
--+ end
if not exists then
  local start, length
  start, length, epoch = ARGV[10]:match('^(%S+) (%S+) (%S+)$')
  from, span = from or start, span or length -- a frozen board-period may have them already
end
from, span = tonumber(from), tonumber(span)
-- The clock never is before from: key_of relies on that.
if not exists then from = math.min(from, clock) end

local max = 2 ^ 53 - 1
local min, max_change = -max, 2 * max
if ARGV[12] ~= '' then
  min, max, max_change = ARGV[12]:match('^(%S+) (%S+) (%S+)$')
  min, max, max_change = tonumber(min), tonumber(max), tonumber(max_change)
end

local STEP = 6 -- arguments of an update
--+ if whole
local DATA, AT -- places of the data and of the time among them
if has_data then DATA, STEP = STEP, STEP + 1 end
if windowed then AT, STEP = STEP, STEP + 1 end
--+ end

local results = {'ok'}
local stayed, wrote = false, false -- whether a member stayed as it was; whether anything was written

