-- Records that members are no longer hidden on a board, which the caller deletes. Follows
-- lib/shown.lua.
--
-- KEYS  1 sorted set   hidden, see censor.lua
--       2 sorted set   shown, see censor.lua
--       3 hash         definitions, see censor.lua
-- ARGV  1 where        'b/' instance
--       2 remembered   members that shown keeps
--       3 ...          members
-- Result {'ok'}
-- Cost   O(log n) a member

local hidden, shown, definitions = KEYS[1], KEYS[2], KEYS[3]
local where, remembered = ARGV[1], tonumber(ARGV[2])
local FIRST = 3

local call, format = redis.call, string.format

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local revision = format('%.0f', math.max(now, tonumber(call('HGET', definitions, 'moderated') or 0) + 1))
local n = 0
for i = FIRST, #ARGV do
  local entry = where .. '\31' .. ARGV[i]
  if call('ZREM', hidden, entry) == 1 then
    call('ZADD', shown, revision, entry)
    n = n + 1
  end
end
if n > 0 then
  call('HSET', definitions, 'moderated', revision)
  trim_shown(shown, definitions, remembered, now, 2 * n) -- more than this call added
end
return {'ok'}
