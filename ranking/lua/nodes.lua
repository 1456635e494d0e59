-- Reads the latest reports of nodes, the newest first.
--
-- KEYS  1 hash         reports, see node.lua
--       2 sorted set   reported, see node.lua
-- ARGV  1 kept         how long a report counts, in µs
--       2 most         reports at most
-- Result {time in µs since 1970, {id, time of the report in µs since 1970, report, ...}}
-- Cost   O(log n + most), n nodes

local reports, reported = KEYS[1], KEYS[2]
local kept, most = tonumber(ARGV[1]), ARGV[2]

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local latest = redis.call('ZREVRANGEBYSCORE', reported, '+inf', string.format('(%.0f', now - kept), 'WITHSCORES', 'LIMIT', 0, most)
local found = {}
for i = 1, #latest, 2 do
  found[#found + 1] = latest[i]
  found[#found + 1] = string.format('%.0f', tonumber(latest[i + 1]))
  found[#found + 1] = redis.call('HGET', reports, latest[i]) or ''
end
return {string.format('%.0f', now), found}
