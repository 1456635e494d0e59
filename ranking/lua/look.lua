-- Looks at the first entries of a board-period for a step of its history. If the board has not changed
-- since the last look, the script records that, and no step is needed.
--
-- KEYS  1 sorted set   member by sort key
--       2 hash         meta: epoch, seq, shape, erased
--       3 hash         state of the history, see record.lua
--       4 hash         numbers of members, see record.lua
-- ARGV  1 most         entries at most
--       2 ends         when the board-period closes, ms since 1970; 0: never. From then on nothing
--                      changes, so no look is later than that
-- Result {now, 'none'}: the board-period has no data
--         {now, 'same'}: it has not changed
--         {now, 'read', at, epoch, seq, shape or '', erased or '0', last or '0', seen or '0', state or '',
--         since or '0', next or '0', {member, key, ...}, {number and best rank of each member, or false}}
--         now is in µs since 1970; at, last and seen are in ms. state is nil before the first step.
-- Cost   O(log n + most)

local members, meta, state, numbers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local most, ends = tonumber(ARGV[1]), tonumber(ARGV[2])

local call, format = redis.call, string.format

local time = call('TIME')
local now = format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2]))
local at = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if ends > 0 then at = math.min(at, ends) end
local board = call('HMGET', meta, 'epoch', 'seq', 'shape', 'erased')
if not board[1] then return {now, 'none'} end
local known = call('HMGET', state, 'epoch', 'seq', 'last', 'seen', 'state', 'since', 'next')
if known[1] == board[1] and known[2] == board[2] then
  if at > tonumber(known[4]) then call('HSET', state, 'seen', format('%.0f', at)) end
  return {now, 'same'}
end
local rows = call('ZRANGE', members, '0', tostring(most - 1), 'WITHSCORES')
local have = {}
if #rows > 0 then
  local listed = {}
  for i = 1, #rows, 2 do listed[#listed + 1] = rows[i] end
  have = call('HMGET', numbers, unpack(listed))
end
return {now, 'read', format('%.0f', at), board[1], board[2] or '0', board[3] or '', board[4] or '0',
  known[3] or '0', known[4] or '0', known[5] or '', known[6] or '0', known[7] or '0', rows, have}
