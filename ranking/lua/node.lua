-- Stores what a node reports of itself, or removes the report of a node that stops. Drops a few reports of nodes that
-- have reported nothing for long. Follows lib/full_hash.lua.
--
-- KEYS  1 hash         reports: id of a node to JSON, see node.go
--       2 sorted set   reported: id of a node to the time of its last report, µs since 1970
-- ARGV  1 id           of the node
--       2 report       JSON; '': the node stops
--       3 kept         how long a report stays, in µs
--       4 most         reports that one call drops
-- Result {'ok'}
-- Cost   O(log n + most), n nodes

local reports, reported = KEYS[1], KEYS[2]
local id, report, kept, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local ended = redis.call('ZRANGEBYSCORE', reported, '-inf', string.format('%.0f', now - kept), 'LIMIT', 0, most)
if report == '' then
  ended[#ended + 1] = id
else
  redis.call('HSET', reports, id, report)
  redis.call('ZADD', reported, string.format('%.0f', now), id)
end
for _, other in ipairs(ended) do
  redis.call('HDEL', reports, other)
  redis.call('ZREM', reported, other)
end
return {'ok'}
