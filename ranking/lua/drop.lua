-- Deletes board-periods, and further keys of the board. With a time, it deletes nothing if a caller
-- has written to the board since then. UNLINK frees the memory in the background.
--
-- KEYS  1 hash         the board's periods, see settle.lua
--       2 hash         meta of the newest of the given periods: clock, wrote, built, pending
--       3 ...          keys to delete
-- ARGV  1 lease        end of the time in which the caller may rely on its copy of the definitions,
--                      µs since 1970
--       2 since        time after which there must be no write, µs since 1970; '': delete in any case
--       3 n            number of periods that the board must have; '' without since
--       4 ...          periods to remove from the hash; '/' removes the end of the last settled one
-- Result {'ok'}, {'busy'} (there was a write since, or the board has other than n periods) or
--         {'stale'} (the lease is over)
-- Cost   O(keys + periods)

local periods, meta = KEYS[1], KEYS[2]
local lease, since, n = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local FIRST_KEY, FIRST = 3, 4

local call = redis.call

local time = call('TIME')
if tonumber(time[1]) * 1000000 + tonumber(time[2]) >= lease then return {'stale'} end
if since then
  local times = call('HMGET', meta, 'clock', 'wrote', 'built', 'pending')
  if call('HLEN', periods) - call('HEXISTS', periods, '/') ~= n then return {'busy'} end
  if math.max(tonumber(times[1] or 0), tonumber(times[2] or 0), tonumber(times[3] or 0),
      tonumber(times[4] or 0)) > since then return {'busy'} end
end
for i = FIRST_KEY, #KEYS do call('UNLINK', KEYS[i]) end
for i = FIRST, #ARGV do call('HDEL', periods, ARGV[i]) end
return {'ok'}
