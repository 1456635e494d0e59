-- Claims items of the agenda that are due, one of each definition in turn. Items that fall
-- due first join those that wait for their turn. They also stay on the agenda, so nothing is
-- lost.
--
-- KEYS  1 sorted set   agenda: item to when it is due, µs since 1970
--       2 sorted set   waiting: item to its turn, a number from 1
--       3 hash         turns: line to the turn of its last item that waits; '' is the latest
--                      turn that has come; gone when no item waits
-- ARGV  1 limit        items claimed at most
--       2 lease        µs from now until a claimed item is due again
--       3 joining      items that join at most
--       4 hold         µs from now until an item that waits is looked for again
--       5 anyway       1: claims items also where more are due and have not joined
-- Result {now in µs since 1970, 'join' (more items are due and have to join first, none is
--         claimed), 'more' (more items wait) or 'none', item, its new time, item, ...}
-- Cost   O((limit + joining) log n)

local agenda, waiting, turns = KEYS[1], KEYS[2], KEYS[3]
local limit, lease, joining, hold = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local anyway = ARGV[5] == '1'

local call, format = redis.call, string.format

-- The line of an item is the slot of its definition. All deleted events share the line '/'.
local function line_of(item)
  local base, rest = item:match('^([^:/]*)(.*)$')
  if base == '' then return '/' end
  if rest:sub(1, 1) == '/' then return base .. rest:match('^[^ ]*') end
  local _, parts = rest:gsub(':', '')
  return base .. '/' .. parts
end

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local due = call('ZRANGEBYSCORE', agenda, '-inf', format('%.0f', now), 'LIMIT', 0, joining)
local come = #due > 0 and tonumber(call('HGET', turns, '') or 0)
for i, item in ipairs(due) do
  call('ZADD', agenda, format('%.0f', now + hold + i), item)
  if not call('ZSCORE', waiting, item) then
    local line = line_of(item)
    local turn = format('%.0f', math.max(come, tonumber(call('HGET', turns, line) or 0)) + 1)
    call('ZADD', waiting, turn, item)
    call('HSET', turns, line, turn)
  end
end
-- An item that has not joined yet may have its turn before all that wait.
if #due == joining and not anyway then return {format('%.0f', now), 'join'} end

local claimed = {format('%.0f', now), #due == joining and 'more' or 'none'}
local first = call('EXISTS', waiting) == 1 and call('ZRANGE', waiting, 0, limit - 1, 'WITHSCORES') or {}
for i = 1, #first, 2 do
  local item, turn = first[i], tonumber(first[i + 1])
  local line = line_of(item)
  call('ZREM', waiting, item)
  if tonumber(call('HGET', turns, line) or 0) == turn then call('HDEL', turns, line) end
  if call('ZSCORE', agenda, item) then
    local till = format('%.0f', now + lease + i)
    call('ZADD', agenda, till, item)
    claimed[#claimed + 1] = item
    claimed[#claimed + 1] = till
  end
end
if #first > 0 then
  if call('ZCARD', waiting) > 0 then
    claimed[2] = 'more'
    call('HSET', turns, '', format('%.0f', tonumber(first[#first])))
  else
    call('DEL', turns)
  end
end
return claimed
