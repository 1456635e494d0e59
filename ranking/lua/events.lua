-- Reads a page of a window's events, from the oldest on. It returns the events that counted at the
-- time of a build. Follows lib/order.lua and lib/place.lua.
--
-- KEYS  1 sorted set   events, see window.lua
--       2 sorted set   forgotten, see window.lua
-- ARGV  1 limit        events that the call reads at most
--       2 over         time up to which events have left the window, ms since 1970
--       3 before       clock of the build: events with this n or a later one do not count
--       4 ms, 5 event  position after which the page begins; the event need not exist; none: begin
--                      with the oldest event in the window
-- Result {{event, ms, event, ms, ...}, ms, event}: the position after which the next page begins; '',
--         '' on the last page
-- Cost   O(log n + limit)

local events, forgotten = KEYS[1], KEYS[2]
local limit, over, before, ms, event = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]

local call = redis.call

local start = event and place_after(events, ms, event) or call('ZCOUNT', events, '-inf', over)
local rows = call('ZRANGE', events, start, start + limit - 1, 'WITHSCORES')
local some_forgotten = call('EXISTS', forgotten) == 1
local forgotten_up_to, counted = {}, {}
for i = 1, #rows, 2 do
  local member, n = rows[i]:match('^(.*)|(%x+)|')
  n = tonumber(n, 16)
  local is_forgotten = false
  if some_forgotten then
    if not forgotten_up_to[member] then forgotten_up_to[member] = tonumber(call('ZSCORE', forgotten, member) or -1) end
    is_forgotten = n <= forgotten_up_to[member]
  end
  if n < before and not is_forgotten then
    counted[#counted + 1], counted[#counted + 2] = rows[i], rows[i + 1]
  end
end
if #rows < 2 * limit then return {counted, '', ''} end
return {counted, rows[#rows], rows[#rows - 1]}
