-- Has those go who have no place on a board-period any more: whose time is over, and the
-- last beyond the limit. Of one that has closed, and is not settled yet, those go whose time
-- was over before that. Begins with order.lua and board.lua.
--
-- KEYS  1 to 10        see board.lua
-- ARGV  1 to 5         see board.lua
--       6 lease        until when the caller may count on what it knows of the board
--       7 ends         when the board-period closes; 0: never
--       8 limit        members that stay; 0: all
--       9 ttl          µs after which a member leaves; 0: never
--      10 most         members that go in this call
--         Times are Redis's, in µs since 1970.
-- Result {'ok', how many went, when the next will have to, 0 for nobody} or {'stale'} (the
--         lease is over)
-- Cost   O(most * log n)

local lease, ends = tonumber(ARGV[6]), tonumber(ARGV[7])
local limit, ttl, most = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])

if now >= lease then return {'stale'} end
local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'settled')
if not state[1] or state[4] then return {'ok', 0, 0} end
local closed = ends > 0 and now >= ends
clock = math.max(now, tonumber(state[3]) + 1)
local went = expire(ttl, most, closed and ends - 1 or now)
if not closed then went = went + trim(limit, most - went) end
if went > 0 then
  publish(state[1], tonumber(state[2]), clock + went)
end
local first = ttl > 0 and not closed and call('ZRANGE', entered, 0, 0, 'WITHSCORES')[2]
return {'ok', went, first and format('%.0f', tonumber(first) + ttl) or 0}
