-- The key that a member comes to with a score. Other scripts begin with this one.

local key_format, key_floor, key_frexp, key_min = string.format, math.floor, math.frexp, math.min

-- The key, as text, for s (the score, negated for desc) reached at an age in µs of a
-- span, past every equal one in some sorted sets. No two calls for an s that differ in
-- what they make of it have the same age.
local function key_of(sets, s, age, span)
  local size = s < 0 and -s or s
  local _, e = key_frexp(size < 1 and 1 or size)
  local q = 2 ^ (53 - e) -- how many keys fit between s and s + 1
  local key = key_format('%.17g', s + key_floor(key_min(age, span - 1) / span * q) / q)
  if age >= span or q < 2 * span then
    -- Several microseconds share a key here, so an equal may hold this one or one
    -- past it. (Else each microsecond has a key of its own, and the clock never
    -- repeats.)
    local next_score = key_format('(%.0f', s + 1)
    for i = 1, #sets do
      if redis.call('ZCOUNT', sets[i], key, next_score) > 0 then
        local last = redis.call('ZREVRANGEBYSCORE', sets[i], next_score, key, 'WITHSCORES', 'LIMIT', 0, 1)[2]
        local past = tonumber(last) + 1 / q
        key = past < s + 1 and key_format('%.17g', past) or last
      end
    end
  end
  return key
end

