-- Reads several members' places, with the state of the board that they belong to.
--
-- KEYS  1 sorted set   member by key
--       2 hash         meta: epoch, seq, shape, data
--       3 hash         data: member to JSON
-- ARGV  two for each member, 1 to 256 members:
--         member
--         around       neighbours on each side that are wanted too, 0 to 100
-- Result {now, epoch or '', seq, shape or '', total, then for each member three:
--           start      0-based rank of the first of the entries, -1: not on the board
--           {member, key, ...}   itself and its neighbours; {} where not on the board
--           {data, ...}   of these, false where there is none; {} where nobody has any}
--         now is in µs since 1970
-- Cost   O(log n + around) a member

local members, meta, datas = KEYS[1], KEYS[2], KEYS[3]
local STEP = 2

local call, format = redis.call, string.format

local time = call('TIME')
local state = call('HMGET', meta, 'epoch', 'seq', 'shape', 'data')
local places = {
  format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2])),
  state[1] or '', state[2] or '0', state[3] or '', call('ZCARD', members)
}
local with_data = state[4]
for i = 1, #ARGV, STEP do
  local member, around = ARGV[i], tonumber(ARGV[i + 1])
  local rank = call('ZRANK', members, member)
  local start, rows = rank or -1, {}
  if rank and around == 0 then
    rows = {member, call('ZSCORE', members, member)}
  elseif rank then
    start = math.max(0, rank - around)
    rows = call('ZRANGE', members, format('%.0f', start), format('%.0f', rank + around), 'WITHSCORES')
  end
  local data = {}
  if with_data and #rows > 0 then
    local listed = {}
    for j = 1, #rows, 2 do listed[#listed + 1] = rows[j] end
    data = call('HMGET', datas, unpack(listed))
  end
  places[#places + 1] = start
  places[#places + 1] = rows
  places[#places + 1] = data
end
return places
