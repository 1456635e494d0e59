-- Reads a page of a board-period, with the state to which it belongs. Follows lib/order.lua and
-- lib/place.lua.
--
-- KEYS  1 sorted set   member by sort key
--       2 hash         meta: epoch, seq, shape, data, built, frozen, see freeze.lua
--       3 hash         data: member to JSON
--       4 sorted set   with ties dense, the distinct scores, see board.lua
--       5 sorted set   for a live window only: its events, see window.lua
-- ARGV  1 limit        entries at most, 0 to 2,048
--       2 low, 3 high  bounds of the keys: low is included, high is not; '-inf', '+inf': none
--       4 rank         1-based rank at which the page begins; if no member has it, the page begins at
--                      the next rank; ignored with 5 and 6
--       5 key, 6 member   position after which the page begins; the member need not exist
-- Result {now, built or '0', oldest, frozen or '', epoch or '', seq, shape or '', total, before, tiers, count, start,
--         rank, {member, key, member, key, ...}, {data, data, ...}}
--         now, and built (when the build of the result began), are in µs since 1970. oldest is when the
--         oldest event happened, in ms since 1970, '0' for none.
--         before: members before low; tiers: with ties dense, the distinct scores before low; count:
--         members between low and high; start: the 0-based position of the first entry; rank: the
--         rank of the first entry. The list of data has false for a member without data. It is empty
--         on a board without data.
-- Cost   O(log n + limit), and an HMGET of limit on a board with data. With 5 and 6, a member that no
--        longer has the key adds O(log n) look-ups among the members with the key.

local members, meta, datas, distinct, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local limit, low, high, rank = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
local key, member = ARGV[5], ARGV[6]

local call, floor = redis.call, math.floor

local function int(x) return string.format('%.0f', x) end

local time = call('TIME')
local now = int(tonumber(time[1]) * 1000000 + tonumber(time[2]))
local oldest = events and call('ZRANGE', events, 0, 0, 'WITHSCORES')[2] or '0'
local state = call('HMGET', meta, 'epoch', 'seq', 'shape', 'data', 'built', 'frozen')
local ties = state[3] and state[3]:match(' %S+ (%S+)')
local total = call('ZCARD', members)

-- Returns the number of members before a key.
local function before(bound) return call('ZCOUNT', members, '-inf', '(' .. bound) end

-- Returns the distinct score at a position, negated for desc, or nil.
local function tier_at(position)
  local row = call('ZRANGE', members, int(position), int(position), 'WITHSCORES')
  return row[2] and floor(tonumber(row[2])) + 0
end

-- Returns the 0-based position at which a page from a rank begins.
local function starting_with()
  if ties == 'dense' then
    local tier = call('ZRANGE', distinct, int(rank - 1), int(rank - 1))[1]
    return tier and before(tier) or total
  end
  local tier = ties == 'shared' and tier_at(rank - 1)
  -- The position is in the middle of members that share a better rank.
  if tier and before(int(tier)) < rank - 1 then return before(int(tier + 1)) end
  return rank - 1
end

local first = low == '-inf' and 0 or before(low)
local stop = high == '+inf' and total or math.max(first, before(high))
local tiers = low ~= '-inf' and ties == 'dense' and call('ZCOUNT', distinct, '-inf', '(' .. low) or 0
local start = math.min(math.max(key and place_after(members, key, member) or starting_with(), first), stop) -- beyond the end: empty
local rows, data = {}, {}
if start < math.min(start + limit, stop) then
  rows = call('ZRANGE', members, int(start), int(math.min(start + limit, stop) - 1), 'WITHSCORES')
end
rank = start + 1
if #rows > 0 and ties then
  local tier = int(floor(tonumber(rows[2])) + 0)
  rank = 1 + (ties == 'dense' and call('ZRANK', distinct, tier) or before(tier))
end
if #rows > 0 and state[4] then
  local listed = {}
  for i = 1, #rows, 2 do listed[#listed + 1] = rows[i] end
  data = call('HMGET', datas, unpack(listed))
end
return {now, state[5] or '0', oldest, state[6] or '', state[1] or '', state[2] or '0', state[3] or '',
  total, first, tiers, stop - first, start, rank, rows, data}
