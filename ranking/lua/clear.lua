-- Removes members that may no longer stay on a board-period: those whose member_ttl is over, and the
-- last ones beyond the limit. From a period that has closed, and is not settled, it removes only
-- members whose member_ttl was over before the end. Follows lib/board.lua, lib/changes.lua,
-- lib/order.lua, lib/rank.lua and lib/leaving.lua.
--
-- KEYS  1 to 10        see board.lua
-- ARGV  1 to 5         see board.lua
--       6 lease        end of the time in which the caller may rely on its copy of the definitions
--       7 ends         when the board-period closes; 0: never
--       8 limit        members that stay; 0: all
--       9 ttl          µs after which a member leaves; 0: never
--      10 most         members that this call removes at most
--         Times are Redis's, in µs since 1970.
-- Result {'ok', number of removed members, when the next member_ttl is over (0: none)} or {'stale'}:
--         the lease is over
-- Cost   O(most * log n)

local lease, ends = tonumber(ARGV[6]), tonumber(ARGV[7])
local limit, ttl, most = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])

if now >= lease then return {'stale'} end
local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'settled')
if not state[1] or state[4] then return {'ok', 0, 0} end
local closed = ends > 0 and now >= ends
clock = math.max(now, tonumber(state[3]) + 1)
local removed = expire(ttl, most, closed and ends - 1 or now)
if not closed then removed = removed + trim(limit, most - removed) end
if removed > 0 then
  publish(state[1], tonumber(state[2]), clock + removed)
end
local first = ttl > 0 and not closed and call('ZRANGE', entered, 0, 0, 'WITHSCORES')[2]
return {'ok', removed, first and format('%.0f', tonumber(first) + ttl) or 0}
