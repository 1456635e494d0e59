-- Deletes a part of the events of members that are erased, which do not count any more; after the
-- last part, also the record that they do not count. Begins with order.lua and place.lua.
--
-- KEYS  1 sorted set   events, see window.lua
--       2 sorted set   forgotten, likewise
-- ARGV  1 limit        events to go through at most
--       2 ms, 3 event  to go on after; the event need not be there; '' and '': from the start
--       4 ...          member, the n up to which its events go, ...
-- Result {ms and event to go on after; '' and '': that was all}
-- Cost   O(log n + limit + members)

local events, forgotten = KEYS[1], KEYS[2]
local limit, ms, event = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local FIRST = 4

local call = redis.call

local last = {}
for i = FIRST, #ARGV, 2 do last[ARGV[i]] = tonumber(ARGV[i + 1]) end
local start = event ~= '' and place_after(events, ms, event) or 0
local rows = call('ZRANGE', events, start, start + limit - 1, 'WITHSCORES')
local gone = {}
for i = 1, #rows, 2 do
  local member, n = rows[i]:match('^(.*)|(%x+)|%-?%d+$')
  if member and last[member] and tonumber(n, 16) <= last[member] then gone[#gone + 1] = rows[i] end
end
if #gone > 0 then call('ZREM', events, unpack(gone)) end
if #rows == 2 * limit then return {rows[#rows], rows[#rows - 1]} end
-- A member that came again may have been taken off since.
for member, n in pairs(last) do
  if tonumber(call('ZSCORE', forgotten, member) or -1) == n then call('ZREM', forgotten, member) end
end
return {'', ''}
