-- Takes the lock for a build, and deletes the result in the making that a stopped builder has left.
-- Follows lib/lock.lua.
--
-- KEYS  1 string       lock
--       2 hash         meta of the present result: epoch, clock, from, span, shape, built
--       3 sorted set   present result
--       4 sorted set   aside: the result in the making
--       5 sorted set   aside: its distinct scores
-- ARGV  1 token        of the caller
--       2 lease        µs from now until the lock ends
--       3 known        end of the time in which the caller may rely on its copy of the definitions
--       4 seen         when the result that the caller wants to replace was built; '0': there is
--                      none, or the caller replaces it at any age
--       5 shape        of the definition
--       6 window       '1': the board has a window. Its updates then get clocks after that of the
--                      build, so that events.lua can exclude them.
-- Result {'ok', now, clock, from or '0', span or '0', epoch or '', total, built or '0'}: clock is the
--         time of the build, and no other build or update has it
--         {'busy', since, built or '0'}: another caller has been building since then
--         {'fresh', built}: there is a newer result
--         {'shape'}: the present result is of another shape
--         {'stale'}: the time known has passed
--         Times are in µs since 1970; span is in µs.
-- Cost   O(1); UNLINK frees the memory in the background

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
return {'ok', format('%.0f', now), format('%.0f', clock), state[3] or '0', state[4] or '0', state[1] or '',
  call('ZCARD', members), state[6] or '0'}
