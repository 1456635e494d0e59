-- The part of apply.lua that decides whether the call is carried out, and reads the state of the
-- board-period. Follows board.lua.

local RELIST = 3600 * 1000000 -- µs after which the board must be listed again: a failover may have lost that

local shape = ARGV[11]
local open = true
if now < tonumber(ARGV[6]) or now >= tonumber(ARGV[7]) then
  local opens, closes, starts, ends, lease = ARGV[8]:match('^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  if now >= tonumber(lease) then return {'stale', format('%d', now)} end
  open = now >= tonumber(starts) and (ends == '0' or now < tonumber(ends))
  if open and closes ~= '0' and (now < tonumber(opens) or now >= tonumber(closes)) then return {'turn', format('%d', now)} end
end

local first = 15 -- of the arguments not read yet
--+ if leaving
local limit, ttl = tonumber(ARGV[first]), tonumber(ARGV[first + 1])
first = first + 2
--+ end
--+ if moderation
local revision, hides, kind = tonumber(ARGV[first]), ARGV[first + 1], ARGV[first + 2]
first = first + 3
--+ end
--+ if window
local WINDOW = first -- place of the arguments of the window
first = first + 4
--+ end

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'from', 'span', 'shape', 'data', 'settled', 'listed', 'moderated')
local exists, shaped, with_data, moderated = state[1], state[6], state[7], state[10]
if shaped and shaped ~= shape then return {'shape', format('%d', now)} end
--+ if moderation
if moderated and revision < tonumber(moderated) then return {'behind', format('%d', now), moderated} end
--+ else
if moderated then return {'part', format('%d', now), 'moderation'} end
--+ end
--+ if not data
if with_data then return {'part', format('%d', now), 'data'} end
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

local epoch, seq, from, span = state[1], state[2] or 0, state[4], state[5]
-- The clock increases strictly, even when Redis's clock is set back.
if state[3] then clock = math.max(now, state[3] + 1) end
if not exists then
  from, span, epoch = ARGV[10]:match('^(%S+) (%S+) (%S+)$')
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
--+ if data
local DATA = STEP -- place of the data in the arguments of an update
STEP = STEP + 1
--+ end
--+ if window
local AT = STEP -- place of the time in the arguments of an update
STEP = STEP + 1
--+ end

local results = {'ok'}
local stayed, wrote = false, false -- whether a member stayed as it was; whether anything was written

