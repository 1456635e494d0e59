-- Notes that a closed period was delivered, or that nobody will.
--
-- KEYS  1 hash         the board's periods
-- ARGV  1 period
--       2 id           of the delivery
-- Result {'ok'}
-- Cost   O(1)

local periods = KEYS[1]
local period, id = ARGV[1], ARGV[2]

local noted = redis.call('HGET', periods, period)
if noted and noted:match('^%d+ %d+ (%S+) %d+$') == id then
  redis.call('HSET', periods, period, noted .. ' done')
end
return {'ok'}
