-- Reads several members' places, with the state of the board that they belong to.
--
-- KEYS  1 sorted set   member by key
--       2 hash         meta: epoch, seq
-- ARGV  two for each member, 1 to 256 members:
--         member
--         around       neighbours on each side that are wanted too, 0 to 100
-- Result {epoch or '', seq, total, then for each member two:
--           start      0-based rank of the first of the entries, -1: not on the board
--           {member, key, ...}   itself and its neighbours; {} where not on the board}
-- Cost   O(log n + around) a member

local members, meta = KEYS[1], KEYS[2]
local STEP = 2

local call, format = redis.call, string.format

local state = call('HMGET', meta, 'epoch', 'seq')
local places = {state[1] or '', state[2] or '0', call('ZCARD', members)}
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
  places[#places + 1] = start
  places[#places + 1] = rows
end
return places
