-- Positions at which the next page of a sorted set begins. Follows lib/order.lua.

-- Returns the 0-based position after a score and a member in a sorted set. The member need not be in
-- the set.
local function place_after(set, score, member)
  local held = redis.call('ZSCORE', set, member)
  if held and tonumber(held) == tonumber(score) then return redis.call('ZRANK', set, member) + 1 end
  local start = redis.call('ZCOUNT', set, '-inf', '(' .. score)
  local stop = start + redis.call('ZCOUNT', set, score, score)
  while start < stop do
    local middle = math.floor((start + stop) / 2)
    local at = string.format('%.0f', middle)
    if after(redis.call('ZRANGE', set, at, at)[1], member) then stop = middle else start = middle + 1 end
  end
  return start
end

