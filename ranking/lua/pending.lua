-- Reads a page of what is pending on a frozen board-period, see freeze.lua. Follows lib/order.lua and lib/place.lua.
--
-- KEYS  1 sorted set   members
--       2 sorted set   with ties dense, the distinct scores, see board.lua
--       3 sorted set   pending members
--       4 sorted set   those of them that the public board has, by their public keys
--       5 sorted set   the others, by the keys in 3
-- ARGV  1 ties         see board.lua
--       2 order        'reveal': members without a public place first, and then from the last place upwards, new members by the
--                      places that they will have; 'rank': by the places
--                      that the members will have
--       3 limit        entries at most, 1 to 1,000
--       4 key, 5 member   after which the page begins; '': at the first. In the order 'reveal' the key of a new member is 'new'
-- Result {number of pending members, then five for each entry:
--           member
--           public key, and the rank; '': none
--           pending key, and the rank that the member would have if all were public; '': it will have left. With ties dense the rank
--           is ''}
-- Cost   O(log n) an entry

local members, distinct, pending, publics, newcomers = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local ties, order, limit, key, member = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local GONE = 2 ^ 60

local call, format, floor = redis.call, string.format, math.floor

-- Returns the number of members before a place, by the ties.
local function before(set, key, member)
  if ties == 'shared' or ties == 'dense' then return call('ZCOUNT', set, '-inf', format('(%.0f', floor(tonumber(key)) + 0)) end
  local held = call('ZSCORE', set, member)
  if held and tonumber(held) == tonumber(key) then return call('ZRANK', set, member) end
  return place_after(set, key, member)
end

local answer, rows = {call('ZCARD', pending)}, {}

-- Adds members of a set from behind: those before the position stop, as many as the page still takes.
local function add(set, stop)
  local start = math.max(stop - (limit - #rows), 0)
  if stop <= start then return end
  local found = call('ZRANGE', set, start, stop - 1)
  for i = #found, 1, -1 do rows[#rows + 1] = found[i] end
end

if order == 'rank' then
  local start = key ~= '' and place_after(pending, key, member) or 0
  rows = call('ZRANGE', pending, start, start + limit - 1)
elseif key == '' or key == 'new' then
  -- A new member that is not there any more was revealed, as were those before it: the page is the first one.
  add(newcomers, key == 'new' and call('ZRANK', newcomers, member) or call('ZCARD', newcomers))
  add(publics, call('ZCARD', publics))
else
  local held = call('ZSCORE', publics, member)
  add(publics, held and tonumber(held) == tonumber(key) and call('ZRANK', publics, member) or place_after(publics, key, member))
end
for _, row in ipairs(rows) do
  local public, waits = call('ZSCORE', publics, row), call('ZSCORE', pending, row)
  local rank, then_rank = '', ''
  if public then
    rank = ties == 'dense' and call('ZRANK', distinct, format('%.0f', floor(tonumber(public)) + 0)) + 1 or before(members, public, row) + 1
  else
    public = ''
  end
  if tonumber(waits) >= GONE then
    waits = ''
  elseif ties ~= 'dense' then
    then_rank = before(members, waits, row) - before(publics, waits, row) + before(pending, waits, row) + 1
  end
  if rank ~= '' then rank = format('%d', rank) end
  if then_rank ~= '' then then_rank = format('%d', then_rank) end
  for _, value in ipairs({row, public, rank, waits, then_rank}) do answer[#answer + 1] = value end
end
return answer
