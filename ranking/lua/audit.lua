-- Adds a line to the audit: for an act with an id one line, however often the act is
-- reported. Begins with ids.lua.
--
-- KEYS  1 stream       audit
--       2, 3 hashes    ids of acts that have their line: to '1'
-- ARGV  1 line         JSON, see audit.go
--       2 kept         lines that the stream keeps, approximately
--       3 id           of the act; '' for none: each call adds a line
-- Result {'added'} or {'known'}: the act has its line
-- Cost   O(1)

local audit, ids = KEYS[1], {[0] = KEYS[2], [1] = KEYS[3]}
local line, kept, id = ARGV[1], ARGV[2], ARGV[3]

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local known, held
if id ~= '' then
  known, held = ids_find(ids, now, {id})
  if known[id] then return {'known'} end
end
redis.call('XADD', audit, 'MAXLEN', '~', kept, '*', 'line', line)
if id ~= '' then ids_keep(ids, held, {id, '1'}) end
return {'added'}
