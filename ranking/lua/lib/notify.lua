-- Tells the watchers of a board-period that it was frozen, or is no longer. Follows board.lua.

-- Raises seq, and publishes the message 'board 31 period 31 epoch 31 seq 31 now 31 s'. Nodes then read the board-period.
local function notify(epoch, seq, clock)
  call('HSET', meta, 'seq', format('%d', seq + 1), 'clock', format('%d', clock))
  call(PUBLISH, channel, format('%s\31%s\31%s\31%d\31%d\31s', board, period, epoch, seq + 1, now))
end

-- Creates the public board-period, see apply.lua. birth: 'from span epoch'; revision: of the moderation that the caller applies to its
-- members of a kind, 0 for none. Returns the epoch.
local function create(birth, shape, from, span, revision, kind)
  local start, length, epoch = birth:match('^(%S+) (%S+) (%S+)$')
  from, span = from or format('%d', math.min(tonumber(start), clock)), span or length
  call('HSET', meta, 'epoch', epoch, 'shape', shape, 'from', from, 'span', span)
  if revision > 0 then call('HSET', meta, 'moderated', format('%d', revision), 'kind', kind) end
  return epoch
end

-- Records in the board's periods how far a period is: ' frozen', ' waiting' or ''. times: 'opens closes'.
local function record_period(times, state) call('HSET', KEYS[5], period, times .. state) end
