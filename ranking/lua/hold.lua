-- Takes the lock of who builds a board, and takes away what one who died has left.
-- Begins with lock.lua.
--
-- KEYS  1 string       lock
--       2 hash         meta of the result: epoch, clock, from, span, shape, built
--       3 sorted set   result
--       4 sorted set   aside: the result that is being built
--       5 sorted set   aside: its distinct scores
-- ARGV  1 token        of the caller
--       2 lease        µs from now for which it has the lock
--       3 known        until when the caller may count on what it knows of the board, µs
--                      since 1970
--       4 seen         when the result was built that it finds too old, likewise; '0': there
--                      is none, or it is no good whenever it was built
--       5 shape        of the definition
--       6 window       '1': updates come to the board itself, and will be known by their
--                      clock not to be of this build
-- Result {'ok', now, clock, from or '0', span or '0', epoch or '', total, built or '0'}:
--         clock is the build's time, which no other has
--         {'busy', since, built or '0'} (another builds), {'fresh', built} (there is a
--         newer result), {'shape'} (the result is of another) or {'stale'}
--         Times are in µs since 1970.
-- Cost   O(1)

local lock, meta, members, aside, distinct = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local token, lease, known, seen, shape = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local with_window = ARGV[6] == '1'

local call, format = redis.call, string.format

if now >= known then return {'stale'} end
local state = call('HMGET', meta, 'epoch', 'clock', 'from', 'span', 'shape', 'built')
if tonumber(state[6] or 0) > seen then return {'fresh', state[6]} end
local _, _, since = lock_read(lock)
if since then return {'busy', since, state[6] or '0'} end
if state[5] and state[5] ~= shape then return {'shape'} end
call('UNLINK', aside, distinct)
lock_keep(lock, token, lease, format('%.0f', now))
local clock = math.max(now, tonumber(state[2] or 0) + 1)
if with_window and state[5] then call('HSET', meta, 'clock', format('%.0f', clock)) end
return {'ok', format('%.0f', now), format('%.0f', clock), state[3] or '0', state[4] or '0', state[1] or '', call('ZCARD', members), state[6] or '0'}
