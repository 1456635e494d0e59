-- Reads what one shard of a board knows of places in the order of the whole board: of a member of its own, or of a sort key
-- and a member of another shard. Follows lib/order.lua and lib/place.lua.
--
-- KEYS  1 sorted set   member by sort key
--       2 hash         meta: epoch, seq, shape, data, built
--       3 hash         data: member to JSON
--       4              not used
-- ARGV  four for each place, up to 256:
--         key          '' for a member of this shard
--         member
--         above        entries to read before the place, 0 to 100
--         below        entries to read after it, 0 to 100
-- Result {now, built or '0', '0', '', epoch or '', seq, shape or '', total, width, then for each place:
--           key        as given, or that of the member; '' and nothing more: the member is not on the board
--           before     number of members before the place
--           better     number of members with a better score than that of the key
--           worse      number of members with a worse score
--           ahead      number of members with a better score than the first entry, if equal scores share a rank and it is before the place
--           above      number of entries before the place that follow
--           count      number of all entries that follow: those before it, the member itself if it is of this shard, and those after it
--           member, key, ...   of the entries, in order
--           data, ...  of these entries, false for none, if width is 3}
--         width is 3 on a board with data, else 2. now, and built, are in µs since 1970. The list is flat, see places.lua.
--         better and worse are those of the place itself, before and behind it, unless equal scores share a rank.
-- Cost   O(log n + above + below) a place
--
-- The head of the answer and its entries are made as in places.lua. Functions that both share would cost each look-up of a rank 4 % of
-- Redis's CPU, because a script makes its functions anew at each call.

local members, meta, datas = KEYS[1], KEYS[2], KEYS[3]
local STEP = 4

local call, format, floor = redis.call, string.format, math.floor

local time = call('TIME')
local state = call('HMGET', meta, 'epoch', 'seq', 'shape', 'data', 'built')
local total, with_data = call('ZCARD', members), state[4]
local places = {
  format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2])), state[5] or '0', '0', '',
  state[1] or '', state[2] or '0', state[3] or '', total, with_data and 3 or 2
}
local tied = state[3] and state[3]:match(' %S+ (%S+)')

local n = #places
for i = 1, #ARGV, STEP do
  local key, member, above, below = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local own = key == '' and 1 or 0
  local before
  if own == 1 then
    before = call('ZRANK', members, member)
    key = before and call('ZSCORE', members, member) or ''
  else
    before = place_after(members, key, member)
  end
  n = n + 1
  places[n] = key
  if before then
    local better, worse = before, total - before - own
    if tied then
      local tier = floor(tonumber(key)) + 0
      better = call('ZCOUNT', members, '-inf', format('(%.0f', tier))
      worse = total - call('ZCOUNT', members, '-inf', format('(%.0f', tier + 1))
    end
    local start, stop = math.max(before - above, 0), before + own + below -- stop is not included
    local rows = {}
    if start < stop then rows = call('ZRANGE', members, start, stop - 1, 'WITHSCORES') end
    local ahead = 0
    if tied and start < before then ahead = call('ZCOUNT', members, '-inf', format('(%.0f', floor(tonumber(rows[2])) + 0)) end
    places[n + 1], places[n + 2], places[n + 3], places[n + 4] = before, better, worse, ahead
    places[n + 5], places[n + 6] = before - start, #rows / 2
    n = n + 6
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
end
return places
