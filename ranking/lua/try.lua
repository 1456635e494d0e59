-- Tries each command that the node sends, in a script or by itself, on keys that hold nothing. Each succeeds, unless
-- Redis refuses it. Nothing remains of it.
--
-- KEYS  1 string, 2 hash, 3 sorted set, 4 sorted set, 5 stream: of the trial alone
-- ARGV  1 channel      of the nodes, on which a message would mean something: nothing is
--                      published there
--       2 shard        on a cluster, a channel of the trial alone, in the slot of the keys; otherwise ''
--       3 and more     channels of the trial alone
-- Result {command, channel or '', error, ...} of each command that Redis refuses
-- Cost   O(1)

local text, hash, set, other, stream, announced = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], ARGV[1]

local failed = {}

local function note(command, channel, err)
  failed[#failed + 1] = command
  failed[#failed + 1] = channel
  failed[#failed + 1] = err
end

local function try(command, ...)
  local answer = redis.pcall(command, ...)
  local err = type(answer) == 'table' and answer.err
  if err then note(command, (command == 'PUBLISH' or command == 'SPUBLISH') and (...) or '', err) end
  return not err
end

if ARGV[2] ~= '' then try('SPUBLISH', ARGV[2], '') end
for i = 3, #ARGV do try('PUBLISH', ARGV[i], '') end
if redis.acl_check_cmd then
  local known, allowed = pcall(redis.acl_check_cmd, 'PUBLISH', announced, '')
  if known and not allowed then note('PUBLISH', announced, 'NOPERM this user may not publish to the channel') end
end

try('PING')
try('TIME')
try('EXISTS', text)
try('GET', text)
try('HEXISTS', hash, 'f')
try('HGET', hash, 'f')
try('HGETALL', hash)
try('HKEYS', hash)
try('HLEN', hash)
try('HMGET', hash, 'f')
try('HSCAN', hash, '0')
try('INFO', 'server')
try('XRANGE', stream, '-', '+', 'COUNT', '1')
try('XREVRANGE', stream, '+', '-', 'COUNT', '1')
try('ZCARD', set)
try('ZCOUNT', set, '0', '1')
try('ZLEXCOUNT', set, '-', '+')
try('ZMSCORE', set, 'm')
try('ZRANGE', set, '0', '0')
try('ZRANGEBYSCORE', set, '0', '1')
try('ZRANK', set, 'm')
try('ZREVRANGEBYSCORE', set, '1', '0')
try('ZSCAN', set, '0')
try('ZSCORE', set, 'm')

-- These change nothing where there is nothing. Those that may take memory come first: after the first write, Redis lets
-- a script exceed maxmemory.
try('SET', text, '', 'XX', 'PX', '1000')
try('XADD', stream, 'NOMKSTREAM', '*', 'f', '')
try('ZADD', set, 'XX', '0', 'm')
try('GETDEL', text)
try('HDEL', hash, 'f')
try('PEXPIRE', hash, '1')
try('ZREM', set, 'm')
try('ZREMRANGEBYRANK', set, '0', '0')
try('ZREMRANGEBYSCORE', set, '0', '1')

-- These write a key, so they are tried only where one can be taken away.
local unlinks, deletes = try('UNLINK', hash), try('DEL', hash)
if unlinks or deletes then
  try('HSET', hash, 'f', '')
  try('RENAME', hash, other)
  redis.pcall(unlinks and 'UNLINK' or 'DEL', hash, other)
end
return failed
