-- Reads some members of a board-period, wherever they stand: one that is there from the
-- first call to the last is told once at least, whatever moves meanwhile.
--
-- KEYS  1 sorted set   member by key
--       2 hash         meta: shape
-- ARGV  1 cursor       '0', then what the last call gave
--       2 count        about how many members
-- Result {server, shape or '', cursor, {member, key, ...}}: the cursor is '0' when all
--         are through, and means nothing to another server
-- Cost   O(count); on the embedded store O(members)

local members, meta, cursor, count = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

local call = redis.call

local WHOLE = '1000000000'

-- The embedded store, which has no cmsgpack, counts members by their place, and would
-- miss those that move.
if not pcall(function() return cmsgpack.pack end) then count = WHOLE end
local info = redis.pcall('INFO', 'server') -- may be forbidden
local server = type(info) == 'string' and info:match('run_id:(%w+)') or ''
local found = call('ZSCAN', members, cursor, 'COUNT', count)
return {server, call('HGET', meta, 'shape') or '', found[1], found[2]}
