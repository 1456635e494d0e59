-- Reads a page of a board-period, with the state it belongs to. With no ARGV
-- but the limit it is the snapshot that a view starts from.
--
-- KEYS  1 sorted set   member by key
--       2 hash         meta: epoch, seq, shape, data
--       3 hash         data: member to JSON
-- ARGV  1 limit        entries at most, 1 to 2,048
--       2 start        0-based rank of the first entry; ignored with 3 and 4
--       3 key, 4 member   position to start after; the member need not be there
-- Result {now, epoch or '', seq, shape or '', total, start,
--         {member, key, member, key, ...}, {data, data, ...}}
--        now is in µs since 1970; start the 0-based rank of the first entry
--        returned; a member without data has false, and no list where nobody has any
-- Cost   O(log n + limit), and an HMGET of limit on a board with data; with 3 and 4,
--        where the member has left its key, O(log n) more look-ups in the members of
--        that very key

local members, meta, datas = KEYS[1], KEYS[2], KEYS[3]
local limit, start = tonumber(ARGV[1]), tonumber(ARGV[2])
local key, member = ARGV[3], ARGV[4]

local call = redis.call

local function int(x) return string.format('%.0f', x) end

-- By bytes, as sorted sets have it: Lua's < follows the server's locale.
local function after(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = a:byte(i), b:byte(i)
    if x ~= y then return x > y end
  end
  return #a > #b
end

local time = call('TIME')
local now = int(tonumber(time[1]) * 1000000 + tonumber(time[2]))
local state = call('HMGET', meta, 'epoch', 'seq', 'shape', 'data')
local total = call('ZCARD', members)

if key then
  local held = call('ZSCORE', members, member)
  if held and tonumber(held) == tonumber(key) then
    start = call('ZRANK', members, member) + 1
  else
    -- The first place whose (key, member) comes after the position given.
    start = call('ZCOUNT', members, '-inf', '(' .. key)
    local stop = start + call('ZCOUNT', members, key, key)
    while start < stop do
      local middle = math.floor((start + stop) / 2)
      if after(call('ZRANGE', members, int(middle), int(middle))[1], member) then stop = middle else start = middle + 1 end
    end
  end
end

start = math.min(start, total) -- beyond the end: empty
local rows = call('ZRANGE', members, int(start), int(start + limit - 1), 'WITHSCORES')
local data = {}
if #rows > 0 and state[4] then
  local listed = {}
  for i = 1, #rows, 2 do listed[#listed + 1] = rows[i] end
  data = call('HMGET', datas, unpack(listed))
end
return {now, state[1] or '', state[2] or '0', state[3] or '', total, start, rows, data}
