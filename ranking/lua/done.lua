-- Notes that a closed period was delivered, or that nobody will.
--
-- KEYS  1 hash         the board's periods
-- ARGV  1 period
--       2 id           of the delivery
-- Result {'ok', 1 where that was not noted before, else 0}, or {'other'} where another
--         delivery is of the period now
-- Cost   O(1)

local periods = KEYS[1]
local period, id = ARGV[1], ARGV[2]

local noted = redis.call('HGET', periods, period)
if not noted then return {'ok', 0} end
local settled, done = noted:match('^%d+ %d+ (%S+) %d+(.*)$')
if settled ~= id then return {'other'} end
if done ~= '' then return {'ok', 0} end
redis.call('HSET', periods, period, noted .. ' done')
return {'ok', 1}
