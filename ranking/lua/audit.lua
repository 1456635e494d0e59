-- Adds a line to the audit. An act with an id gets one line, however often callers report it.
-- Follows lib/ids.lua.
--
-- KEYS  1 stream       audit
--       2, 3 hashes    ids of the acts that have a line, each with the record '1'; see ids.lua
-- ARGV  1 line         JSON, see audit.go
--       2 kept         lines that the stream keeps, approximately
--       3 id           of the act; '': it has none, and each call adds a line
--       4 length       of a span of ids, see ids.lua
-- Result {'added'}, or {'known'}: the act has its line already
-- Cost   O(1)

local audit, ids = KEYS[1], {[0] = KEYS[2], [1] = KEYS[3]}
local line, kept, id = ARGV[1], ARGV[2], ARGV[3]

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local known, held
if id ~= '' then
  known, held = ids_find(ids, now, tonumber(ARGV[4]), {id})
  if known[id] then return {'known'} end
end
redis.call('HDEL', ids[0], '\0') -- as full_hash.lua: the act is done, also at maxmemory
redis.call('XADD', audit, 'MAXLEN', '~', kept, '*', 'line', line)
if id ~= '' then ids_keep(ids, held, {id, '1'}, now) end
return {'added'}
