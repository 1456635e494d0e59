-- Reads a page of a hash or a sorted set, at any position. All calls of a scan together return each
-- field or member that is there throughout at least once. A cursor means something to one process of
-- Redis alone: each places the fields otherwise. So the scan begins again where another one answers.
--
-- KEYS  1 hash or sorted set
--       2 hash         meta of the board-period, for its shape; absent: the caller needs none
-- ARGV  1 type         'hash' or 'set'
--       2 server, 3 cursor   of the call before; '' and '0' for the first call
--       4 count        approximate number of fields or members
-- Result {server, cursor, {field, value, ...} or {member, key, ...}, shape or ''}: the cursor is '0' at
--         the end of the scan; server is the run_id of Redis
-- Cost   O(count); on the embedded store O(fields)

local key, meta = KEYS[1], KEYS[2]
local kind, server, cursor, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local call = redis.call

local WHOLE = '1000000000'

-- The cursor of the embedded store is a position, so members that move could be missing. It reads
-- all members at once, and has no run_id. Of the two stores, only Redis has cmsgpack.
if pcall(function() return cmsgpack.pack end) then
  local id = call('INFO', 'server'):match('run_id:(%w+)') or ''
  if id ~= server then server, cursor = id, '0' end
else
  count = WHOLE
end
local found
if kind == 'hash' then
  found = call('HSCAN', key, cursor, 'COUNT', count)
else
  found = call('ZSCAN', key, cursor, 'COUNT', count)
end
return {server, found[1], found[2], meta and call('HGET', meta, 'shape') or ''}
