-- Reads some members of a board-period, at any position. All calls of a scan together return each
-- member that is there throughout at least once.
--
-- KEYS  1 sorted set   member by sort key
--       2 hash         meta: shape
-- ARGV  1 cursor       '0' for the first call, then the cursor of the call before
--       2 count        approximate number of members
-- Result {server, shape or '', cursor, {member, key, ...}}: the cursor is '0' at the end of the scan,
--         and valid on this server only; server is '' if the Redis user may not call INFO
-- Cost   O(count); on the embedded store O(members)

local members, meta, cursor, count = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

local call = redis.call

local WHOLE = '1000000000'

-- The cursor of the embedded store is a position, so members that move could be missing. It reads
-- all members at once. Of the two stores, only Redis has cmsgpack.
if not pcall(function() return cmsgpack.pack end) then count = WHOLE end
local info = redis.pcall('INFO', 'server') -- the Redis user may lack this right
local server = type(info) == 'string' and info:match('run_id:(%w+)') or ''
local found = call('ZSCAN', members, cursor, 'COUNT', count)
return {server, call('HGET', meta, 'shape') or '', found[1], found[2]}
