-- Returns whether a board or an event may take request ids, and which ids it knows. Follows lib/ids.lua.
--
-- KEYS  1, 2 hashes    ids
-- ARGV  1 most         ids that the hashes may hold
--       2 ...          ids
-- Result {wait, one for each id: 1 or 0}
--         wait         µs until the hashes may take ids again; 0: they may
--         1            the id is known
-- Cost   O(ids)

local ids, most = {[0] = KEYS[1], [1] = KEYS[2]}, tonumber(ARGV[1])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local asked, ends, found = {unpack(ARGV, 2)}, {}, {}
for i = 0, 1 do
  local _, until_then = ids_span(ids[i], now)
  ends[i] = until_then
  found[i] = until_then > 0 and #asked > 0 and ids_read(ids[i], asked) or {}
end
local room, free = ids_room(ids, ends, most, math.huge)
local result = {room > 0 and '0' or string.format('%.0f', free - now)}
for i = 1, #asked do result[#result + 1] = (found[0][i] or found[1][i]) and 1 or 0 end
return result
