-- Reads a page of what is pending on a frozen board-period, see freeze.lua. Follows lib/order.lua and lib/place.lua.
--
-- KEYS  1 sorted set   members
--       2 hash         meta: frozen
--       3 sorted set   with ties dense, the distinct scores, see board.lua
--       4 sorted set   pending members
--       5 sorted set   the same members by their public keys
-- ARGV  1 ties         see board.lua
--       2 order        'reveal': members without a public place first, and then from the last place upwards; 'rank': by the places
--                      that the members will have
--       3 limit        entries at most, 1 to 1,000
--       4 key, 5 member   after which the page begins; '': at the first
-- Result {now, frozen or '', number of pending members, then five for each entry:
--           member
--           public key, and the rank; '': none
--           pending key, and the rank that the member would have if all were public; '': it will have left. With ties dense the rank
--           is ''}
-- Cost   O(log n) an entry

local members, meta, distinct, pending, publics = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
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

local time = call('TIME')
local total = call('ZCARD', publics)
local answer = {format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2])), call('HGET', meta, 'frozen') or '', total}
local rows
if order == 'reveal' then
  local stop = total
  if key ~= '' then
    local held = call('ZSCORE', publics, member)
    stop = held and tonumber(held) == tonumber(key) and call('ZRANK', publics, member) or place_after(publics, key, member)
  end
  local start = math.max(stop - limit, 0)
  rows = stop > 0 and call('ZRANGE', publics, start, stop - 1) or {}
  for i = 1, #rows / 2 do rows[i], rows[#rows + 1 - i] = rows[#rows + 1 - i], rows[i] end
else
  local start = key ~= '' and place_after(pending, key, member) or 0
  rows = call('ZRANGE', pending, start, start + limit - 1)
end
for _, row in ipairs(rows) do
  local public, waits = call('ZSCORE', publics, row), call('ZSCORE', pending, row)
  local rank, then_rank = '', ''
  if tonumber(public) < GONE then
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
