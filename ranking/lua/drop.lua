-- Drops board-periods. With a time it does so only if nothing was written to the board
-- since. The keys are unlinked: Redis frees them beside its work.
--
-- KEYS  1 hash         the board's periods
--       2 hash         meta of the newest of them: clock, wrote, built
--       3 ...          what to unlink
-- ARGV  1 lease        until when the caller may count on what it knows of the board,
--                      µs since 1970
--       2 since        likewise; '': drop whatever was written
--       3 n            how many periods there are where nothing was written
--       4 ...          periods to strike off; '/' takes it away, too, that any was settled
-- Result {'ok'}, {'busy'} (something was written) or {'stale'} (the lease is over)
-- Cost   O(keys)

local periods, meta = KEYS[1], KEYS[2]
local lease, since, n = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local FIRST_KEY, FIRST = 3, 4

local call = redis.call

local time = call('TIME')
if tonumber(time[1]) * 1000000 + tonumber(time[2]) >= lease then return {'stale'} end
if since then
  local wrote = call('HMGET', meta, 'clock', 'wrote', 'built')
  if call('HLEN', periods) - call('HEXISTS', periods, '/') ~= n then return {'busy'} end
  if math.max(tonumber(wrote[1] or 0), tonumber(wrote[2] or 0), tonumber(wrote[3] or 0)) > since then return {'busy'} end
end
for i = FIRST_KEY, #KEYS do call('UNLINK', KEYS[i]) end
for i = FIRST, #ARGV do call('HDEL', periods, ARGV[i]) end
return {'ok'}
