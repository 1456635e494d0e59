-- Reads the ranks of several members, with their neighbours and the state of the board.
--
-- KEYS  1 sorted set   member by sort key
--       2 hash         meta: epoch, seq, shape, data, built
--       3 hash         data: member to JSON
--       4 sorted set   with ties dense, the distinct scores, see board.lua
--       5 sorted set   for a live window only: its events, see window.lua
-- ARGV  two for each member, 1 to 256 members:
--         member
--         around       neighbours to read on each side, 0 to 100
-- Result {now, built or '0', oldest, epoch or '', seq, shape or '', total, then five for each member:
--           start      0-based position of the first entry; -1: the member is not on the board
--           rank       of the first entry
--           below      number of members that rank below the member
--           {member, key, ...}   the member and its neighbours; {} if it is not on the board
--           {data, ...}   of these entries, false for none; {} on a board without data}
--         now, and built (when the build of the result began), are in µs since 1970. oldest is when the
--         oldest event happened, in ms since 1970, '0' for none.
-- Cost   O(log n + around) a member

local members, meta, datas, distinct, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local STEP = 2

local call, format = redis.call, string.format

local time = call('TIME')
local state = call('HMGET', meta, 'epoch', 'seq', 'shape', 'data', 'built')
local places = {
  format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2])),
  state[5] or '0', events and call('ZRANGE', events, 0, 0, 'WITHSCORES')[2] or '0',
  state[1] or '', state[2] or '0', state[3] or '', call('ZCARD', members)
}
local total, with_data = places[7], state[4]
local ties = state[3] and state[3]:match(' %S+ (%S+)')

-- Returns the number of members with a better score than a tier. A tier is a score, negated for desc.
local function before(tier) return call('ZCOUNT', members, '-inf', format('(%.0f', tier)) end

local function tier_of(key) return math.floor(tonumber(key)) + 0 end

for i = 1, #ARGV, STEP do
  local member, around = ARGV[i], tonumber(ARGV[i + 1])
  local position = call('ZRANK', members, member)
  local start, rank, below, rows = position or -1, 0, 0, {}
  if position and around == 0 then
    rows = {member, call('ZSCORE', members, member)}
  elseif position then
    start = math.max(0, position - around)
    rows = call('ZRANGE', members, format('%.0f', start), format('%.0f', position + around), 'WITHSCORES')
  end
  if position and ties then
    local own, tier = tier_of(rows[2 * (position - start) + 2]), tier_of(rows[2])
    rank = 1 + (ties == 'dense' and call('ZRANK', distinct, format('%.0f', tier)) or before(tier))
    below = total - before(own + 1)
  elseif position then
    rank, below = start + 1, total - position - 1
  end
  local data = {}
  if with_data and #rows > 0 then
    local listed = {}
    for j = 1, #rows, 2 do listed[#listed + 1] = rows[j] end
    data = call('HMGET', datas, unpack(listed))
  end
  places[#places + 1] = start
  places[#places + 1] = rank
  places[#places + 1] = below
  places[#places + 1] = rows
  places[#places + 1] = data
end
return places
