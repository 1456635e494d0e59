-- The sort key of a member that reaches a score. (The function uses no locals of the script, which
-- would cost each call of the script more.)

-- Returns the key, as text, for s (the score, negated for desc) reached at an age in µs of a
-- span. The key is past every equal one in a sorted set and, unless it is nil, in another one.
-- Two calls for one s that return different keys have different ages.
local function key_of(set, other, s, age, span)
  local format = string.format
  local size = s < 0 and -s or s
  local _, e = math.frexp(size < 1 and 1 or size)
  local q = 2 ^ (53 - e) -- number of keys between s and s + 1
  local key = format('%.17g', s + math.floor((age < span and age or span - 1) / span * q) / q)
  if age >= span or q < 2 * span then
    -- Several microseconds share a key here, so an equal may have this key or one past it.
    -- (Otherwise each microsecond has its own key, and the clock never repeats.)
    -- Mostly there is none. ZCOUNT tells that in a fifth of the time of ZREVRANGEBYSCORE.
    local call, next_score, last = redis.call, format('(%d', s + 1), nil
    if call('ZCOUNT', set, key, next_score) > 0 then
      last = call('ZREVRANGEBYSCORE', set, next_score, key, 'WITHSCORES', 'LIMIT', '0', '1')[2]
    end
    if other and call('ZCOUNT', other, key, next_score) > 0 then
      local there = call('ZREVRANGEBYSCORE', other, next_score, key, 'WITHSCORES', 'LIMIT', '0', '1')[2]
      if not (last and tonumber(last) > tonumber(there)) then last = there end
    end
    if last then
      local past = last + 1 / q
      key = past < s + 1 and format('%.17g', past) or last
    end
  end
  return key
end

