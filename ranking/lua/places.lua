-- Reads the ranks of several members, with their neighbours and the state of the board.
--
-- KEYS  1 sorted set   member by sort key
--       2 hash         meta: epoch, seq, shape, data, built, frozen, see freeze.lua
--       3 hash         data: member to JSON
--       4 sorted set   with ties dense, the distinct scores, see board.lua
--       5 sorted set   for a live window only: its events, see window.lua
-- ARGV  three for each member, 1 to 256 members:
--         member
--         above        neighbours to read above it, 0 to 100
--         below        neighbours to read below it, 0 to 100
-- Result {now, built or '0', oldest, frozen or '', epoch or '', seq, shape or '', total, width, then for each member:
--           start      0-based position of the first entry; -1: the member is not on the board
--           rank       of the first entry
--           behind     number of members that rank below the member
--           count      number of entries: the member and its neighbours; 0 if it is not on the board
--           member, key, ...   of the entries
--           data, ...  of these entries, false for none, if width is 3}
--         width is the number of values of an entry: 3 on a board with data, else 2. The list is flat, because Redis looks
--         for eight fields in each table of a result: a table for each member would cost an eighth of the look-up.
--         now, and built (when the build of the result began), are in µs since 1970. oldest is when the
--         oldest event happened, in ms since 1970, '0' for none.
-- Cost   O(log n + above + below) a member

local members, meta, datas, distinct, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local STEP = 3

local call, format, floor = redis.call, string.format, math.floor

local time = call('TIME')
local state = call('HMGET', meta, 'epoch', 'seq', 'shape', 'data', 'built', 'frozen')
local total, with_data = call('ZCARD', members), state[4]
local places = {
  format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2])),
  state[5] or '0', events and call('ZRANGE', events, 0, 0, 'WITHSCORES')[2] or '0',
  state[6] or '', state[1] or '', state[2] or '0', state[3] or '', total, with_data and 3 or 2
}
local ties = state[3] and state[3]:match(' %S+ (%S+)')

-- Returns the number of members with a better score than a tier. A tier is a score, negated for desc.
local function before(tier) return call('ZCOUNT', members, '-inf', format('(%.0f', tier)) end

local function tier_of(key) return floor(tonumber(key)) + 0 end

local n = #places

-- Positions are whole numbers below 2^53, which Redis prints exactly where they are arguments of a command.
for i = 1, #ARGV, STEP do
  local member, above, below = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local position = call('ZRANK', members, member)
  local start, rank, behind, rows = -1, 0, 0, {}
  if position and above + below == 0 then
    start, rows = position, {member, call('ZSCORE', members, member)}
  elseif position then
    start = position > above and position - above or 0
    rows = call('ZRANGE', members, start, position + below, 'WITHSCORES')
  end
  if position and ties then
    local own, tier = tier_of(rows[2 * (position - start) + 2]), tier_of(rows[2])
    rank = 1 + (ties == 'dense' and call('ZRANK', distinct, format('%.0f', tier)) or before(tier))
    behind = total - before(own + 1)
  elseif position then
    rank, behind = start + 1, total - position - 1
  end
  places[n + 1], places[n + 2], places[n + 3], places[n + 4] = start, rank, behind, #rows / 2
  n = n + 4
  for j = 1, #rows do places[n + j] = rows[j] end
  n = n + #rows
  if with_data and #rows > 0 then
    local listed = {}
    for j = 1, #rows, 2 do listed[#listed + 1] = rows[j] end
    local data = call('HMGET', datas, unpack(listed))
    for j = 1, #listed do places[n + j] = data[j] end
    n = n + #listed
  end
end
return places
