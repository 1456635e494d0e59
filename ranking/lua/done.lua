-- Marks a settled period as delivered, or as one that no node will deliver.
--
-- KEYS  1 hash         the board's periods, see settle.lua
-- ARGV  1 period
--       2 id           of the delivery
-- Result {'ok', 1 if this call marked the period, else 0}: 0 too where the board has no record of the
--         period. Or {'other'}: the delivery has another id, or the period is not settled
-- Cost   O(1)

local periods = KEYS[1]
local period, id = ARGV[1], ARGV[2]

local record = redis.call('HGET', periods, period)
if not record then return {'ok', 0} end
local settled, done = record:match('^%d+ %d+ (%S+) %d+(.*)$')
if settled ~= id then return {'other'} end
if done ~= '' then return {'ok', 0} end
redis.call('HSET', periods, period, record .. ' done')
return {'ok', 1}
