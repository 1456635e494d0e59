-- Restores a part of the hidden members from the copy of the caller, after Redis has lost them. The
-- last part also raises the revision.
--
-- KEYS  1 sorted set   hidden, see censor.lua
--       2 sorted set   shown, see censor.lua
--       3 hash         definitions: 'moderated' is the latest revision
-- ARGV  1 revision     the latest that the caller knows, µs since 1970
--       2 last         '1': the last part
--       3 ...          entries of hidden
-- Result {'ok'}
-- Cost   O(log n) an entry

local hidden, shown, definitions = KEYS[1], KEYS[2], KEYS[3]
local revision, last = tonumber(ARGV[1]), ARGV[2] == '1'
local FIRST = 3

local call, format = redis.call, string.format

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local latest = tonumber(call('HGET', definitions, 'moderated') or 0)
-- Greater than each revision that may be in force on a board.
local at = format('%.0f', math.max(now, revision + 1, latest + 1))
for i = FIRST, #ARGV do
  if not call('ZSCORE', shown, ARGV[i]) then call('ZADD', hidden, 'NX', at, ARGV[i]) end
end
if last then call('HSET', definitions, 'moderated', at) end
return {'ok'}
