-- Deletes events of erased members, one page in each call. These events no longer count. The last
-- call also deletes the record of that. Follows lib/order.lua and lib/place.lua.
--
-- KEYS  1 sorted set   events, see window.lua
--       2 sorted set   forgotten, see window.lua
-- ARGV  1 limit        events that the call reads at most
--       2 ms, 3 event  position after which the page begins; the event need not exist; '' and '':
--                      begin with the oldest event
--       4 ...          two for each member: member, and the n up to which its events are deleted
-- Result {ms, event}: the position after which the next page begins; '', '' after the last page
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
-- A record with another n is of a later removal, and stays.
for member, n in pairs(last) do
  if tonumber(call('ZSCORE', forgotten, member) or -1) == n then call('ZREM', forgotten, member) end
end
return {'', ''}
