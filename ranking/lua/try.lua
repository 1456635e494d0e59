-- Asks Redis whether its user may run each command that the node sends, in a script or by itself, and whether Redis takes
-- writes. A command that the user may not run is sent, so that Redis refuses it in its own words. Redis checks the user
-- before it looks for the key, so on a cluster any master may be asked about any key.
--
-- KEYS  none
-- ARGV  1 sharded  '1' on a cluster, where changes of boards go out by SPUBLISH; else '0'
--       2          number of the keys
--       3 and more  keys that hold nothing, then channels, that of boards first
-- Result {what Redis answers to a write, or '', then command, channel or '', error, ... of each command that it refuses}
-- Cost   O(1)

local sharded, keys = ARGV[1], tonumber(ARGV[2])

local function refusal(command, ...)
  local answer = redis.pcall(command, ...)
  return type(answer) == 'table' and answer.err or ''
end

local found = {refusal('SET', ARGV[3], '', 'XX')}
if not redis.acl_check_cmd then return found end -- the embedded store has no users

local function ask(command, channel, ...)
  local known, allowed = pcall(redis.acl_check_cmd, command, ...)
  if known and allowed then return end
  found[#found + 1] = command
  found[#found + 1] = channel
  found[#found + 1] = refusal(command, ...)
end

local function try(command, ...) ask(command, '', ...) end

for i = keys + 3, #ARGV do
  if i == keys + 3 and sharded == '1' then ask('SPUBLISH', ARGV[i], ARGV[i], '') else ask('PUBLISH', ARGV[i], ARGV[i], '') end
end

try('PING')
try('TIME')
try('INFO', 'server')
for i = 3, keys + 2 do
  local key = ARGV[i]
  try('DEL', key)
  try('EXISTS', key)
  try('GET', key)
  try('GETDEL', key)
  try('HDEL', key, 'f')
  try('HEXISTS', key, 'f')
  try('HGET', key, 'f')
  try('HGETALL', key)
  try('HKEYS', key)
  try('HLEN', key)
  try('HMGET', key, 'f')
  try('HRANDFIELD', key, '1')
  try('HSCAN', key, '0')
  try('HSET', key, 'f', '')
  try('PEXPIRE', key, '1')
  try('RENAME', key, key)
  try('SET', key, '', 'XX', 'PX', '1000')
  try('UNLINK', key)
  try('XADD', key, 'NOMKSTREAM', '*', 'f', '')
  try('XRANGE', key, '-', '+', 'COUNT', '1')
  try('XREVRANGE', key, '+', '-', 'COUNT', '1')
  try('ZADD', key, 'XX', '0', 'm')
  try('ZCARD', key)
  try('ZCOUNT', key, '0', '1')
  try('ZLEXCOUNT', key, '-', '+')
  try('ZMSCORE', key, 'm')
  try('ZRANGE', key, '0', '0')
  try('ZRANGEBYSCORE', key, '0', '1')
  try('ZRANK', key, 'm')
  try('ZREM', key, 'm')
  try('ZREMRANGEBYRANK', key, '0', '0')
  try('ZREMRANGEBYSCORE', key, '0', '1')
  try('ZREVRANGEBYSCORE', key, '1', '0')
  try('ZSCAN', key, '0')
  try('ZSCORE', key, 'm')
end
return found
