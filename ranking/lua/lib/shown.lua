-- The set of members that were shown again, see censor.lua.

-- Removes the oldest members from shown, at most step: those beyond remembered, and those older than
-- a day. Records the revision up to which shown may lack members.
local function trim_shown(shown, definitions, remembered, now, step)
  local DAY = 24 * 3600 * 1000000 -- µs
  local call, format = redis.call, string.format
  local spare, forgotten = call('ZCARD', shown) - remembered, nil
  local oldest = call('ZRANGE', shown, 0, step - 1, 'WITHSCORES')
  for i = 1, #oldest / 2 do
    local at = tonumber(oldest[2 * i])
    if i > spare and at >= now - DAY then break end
    forgotten = format('%.0f', at)
  end
  if forgotten then
    call('ZREMRANGEBYSCORE', shown, '-inf', forgotten)
    call('HSET', definitions, 'forgotten', forgotten)
  end
end
