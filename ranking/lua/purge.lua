-- Takes away a part of the events of a member that is erased, which do not count any more;
-- after the last, also that they were forgotten. Begins with order.lua and
-- place.lua.
--
-- KEYS  1 sorted set   events, see window.lua
--       2 sorted set   forgotten, likewise
-- ARGV  1 member
--       2 until        the n up to which its events go
--       3 limit        events to go through at most
--       4 ms, 5 event  to go on after; the event need not be there; none: from the start
-- Result {ms and event to go on after; '' and '': that was all}
-- Cost   O(log n + limit)

local events, forgotten = KEYS[1], KEYS[2]
local member, last, limit, ms, event = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]

local call = redis.call

local start = event and place_after(events, ms, event) or 0
local rows = call('ZRANGE', events, start, start + limit - 1, 'WITHSCORES')
local head, gone = member .. '|', {}
for i = 1, #rows, 2 do
  if rows[i]:sub(1, #head) == head then
    local n = rows[i]:sub(#head + 1):match('^(%x+)|%-?%d+$')
    if n and tonumber(n, 16) <= last then gone[#gone + 1] = rows[i] end
  end
end
if #gone > 0 then call('ZREM', events, unpack(gone)) end
if #rows == 2 * limit then return {rows[#rows], rows[#rows - 1]} end
-- One that came again may have been taken off since.
if tonumber(call('ZSCORE', forgotten, member) or -1) == last then call('ZREM', forgotten, member) end
return {'', ''}
