-- Freezes a board-period that the definition does not freeze yet, or records that it does. Follows lib/board.lua and lib/notify.lua.
--
-- While a board-period is frozen, the public board stands still: its members, data, seq and feed. apply.lua writes to what is
-- pending, and no other script reads that, but for those that moderate, erase, reveal and delete. These keys belong to it:
--
--      11 sorted set   pending members, by the sort keys that they will have; 2^60: the member will have left
--      12 sorted set   likewise, those that are hidden
--      13 hash         their data, and those of members whose data alone changed; 'null': none
--      14 sorted set   the members of 11 that the public board has, by their public sort keys
--      15 sorted set   the members of 11 that the public board has not got, by the keys in 11
--
-- The field frozen of meta is since when, in µs since 1970; or 'ended' and when the definition froze it: that freeze
-- was ended. The field pending is the clock
-- of the last pending write. Where the public has not got a board-period, meta has neither epoch nor seq. The board's periods have
-- 'frozen' behind the times of a period with a pending write, and 'waiting' where the public has not got it.
--
-- KEYS  1 to 10        see board.lua
-- ARGV  1 to 5         see board.lua
--       6 lease        end of the time in which the caller may rely on its copy of the definitions
--       7 ends         when the board-period takes no more updates; 0: never
--       8 freezes      when the definition freezes it; 0: never
--       9 shape        of the definition
--      10 birth        'from span epoch' for a new board-period
--      11 times        'opens closes' of the period, see settle.lua
--      12 revision     of the moderation that the caller knows, 0: there is none; and 13 kind, of the members
--         Times are Redis's, in µs since 1970.
-- Result {'ok', since, 1 if this call has frozen it, else 0}, {'stale'}: the lease is over, {'ended'}, or {'shape'}: the data have
--         the shape of another definition
-- Cost   O(1)

local lease, ends, freezes, shape, birth, times = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9], ARGV[10], ARGV[11]

if now >= lease then return {'stale'} end
if ends > 0 and now >= ends then return {'ended'} end
local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'shape', 'frozen', 'from', 'span')
local epoch, frozen = state[1], tonumber(state[5] or '')
if frozen then return {'ok', format('%d', frozen), 0} end
if state[4] and state[4] ~= shape then return {'shape'} end
if state[3] then clock = math.max(now, state[3] + 1) end
if not epoch then
  epoch = create(birth, shape, state[6], state[7], tonumber(ARGV[12]), ARGV[13])
end
local by_definition = freezes > 0 and now >= freezes and state[5] ~= 'ended ' .. ARGV[8]
frozen = by_definition and freezes or now
call('HSET', meta, 'frozen', format('%d', frozen))
record_period(times, ' frozen')
notify(epoch, state[2] or 0, clock)
return {'ok', format('%d', frozen), by_definition and 0 or 1}
