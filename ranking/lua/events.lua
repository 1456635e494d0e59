-- Reads some of a window's events, from the oldest on, that came before a build. Begins
-- with order.lua and place.lua.
--
-- KEYS  1 sorted set   events, see window.lua
--       2 sorted set   forgotten, likewise
-- ARGV  1 limit        events at most
--       2 over         ms since 1970 up to which events do not count any more
--       3 until        n of the first that came after
--       4 ms, 5 event  to go on after; the event need not be there; none: from the start
-- Result {{event, ms, event, ms, ...}, ms and event to go on after; '' and '': that was all}
--         of those that count
-- Cost   O(log n + limit)

local events, forgotten = KEYS[1], KEYS[2]
local limit, over, before, ms, event = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]

local call = redis.call

local start = event and place_after(events, ms, event) or call('ZCOUNT', events, '-inf', over)
local rows = call('ZRANGE', events, start, start + limit - 1, 'WITHSCORES')
local some_forgotten = call('EXISTS', forgotten) == 1
local since, count = {}, {}
for i = 1, #rows, 2 do
  local member, n = rows[i]:match('^(.*)|(%x+)|')
  n = tonumber(n, 16)
  local dead = false
  if some_forgotten then
    if not since[member] then since[member] = tonumber(call('ZSCORE', forgotten, member) or -1) end
    dead = n <= since[member]
  end
  if n < before and not dead then
    count[#count + 1], count[#count + 2] = rows[i], rows[i + 1]
  end
end
if #rows < 2 * limit then return {count, '', ''} end
return {count, rows[#rows], rows[#rows - 1]}
