-- Deliveries wait in a line for each definition, and the lines take turns.

local turn_time = redis.call('TIME')
local now = tonumber(turn_time[1]) * 1000000 + tonumber(turn_time[2])

-- Records the turn of a line after a change of the line. A line without a due delivery has its turn
-- when its first delivery falls due. A line that waits for its turn keeps it. after: the earliest
-- time of the turn, in µs since 1970; nil for a line from which the script has claimed nothing.
local function turn_note(turns, line, slot, after)
  local call = redis.call
  local first = call('ZRANGE', line, 0, 0, 'WITHSCORES')
  if not first[1] then
    call('ZREM', turns, slot)
    return
  end
  local at = tonumber(first[2])
  if after then
    at = math.max(at, after)
  elseif at <= now then
    at = math.min(now, tonumber(call('ZSCORE', turns, slot) or now))
  end
  call('ZADD', turns, string.format('%.0f', at), slot)
end

-- Removes a period from its line, and from the lists of all deliveries, see await.lua.
local function turn_drop(line, undelivered, failed, period)
  redis.call('ZREM', line, period)
  redis.call('ZREM', undelivered, period)
  redis.call('HDEL', failed, period)
end
