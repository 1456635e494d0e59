-- Marks a settled period as delivered, or as one that no node will deliver.
--
-- KEYS  1 hash         the board's periods, see settle.lua
-- ARGV  1 period
--       2 id           of the delivery
-- Result {'marked'}, or {'kept'}: the period was marked before, the delivery has another id, or the
--         board has no settled period of that name
-- Cost   O(1)

local periods = KEYS[1]
local period, id = ARGV[1], ARGV[2]

local record = redis.call('HGET', periods, period)
local settled, done = (record or ''):match('^%d+ %d+ (%S+) %d+(.*)$')
if settled ~= id or done ~= '' then return {'kept'} end
redis.call('HSET', periods, period, record .. ' done')
return {'marked'}
