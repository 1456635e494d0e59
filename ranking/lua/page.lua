-- Reads a page of a board-period, with the state it belongs to. With no ARGV
-- but the limit it is the snapshot that a view starts from.
--
-- KEYS  1 sorted set   member by key
--       2 hash         meta: epoch, seq
-- ARGV  1 limit        entries at most, 1 to 2,048
--       2 start        0-based rank of the first entry; ignored with 3 and 4
--       3 key, 4 member   position to start after; the member need not be there
-- Result {epoch or '', seq, total, start, {member, key, member, key, ...}}
--        start is the 0-based rank of the first entry returned
-- Cost   O(log n + limit); with 3 and 4, where the member has left its key,
--        O(log n) more look-ups in the members of that very key

local members, meta = KEYS[1], KEYS[2]
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

local state = call('HMGET', meta, 'epoch', 'seq')
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
return {state[1] or '', state[2] or '0', total, start, rows}
