-- Looks in a board-period for members that an erasure would remove something of, see erase.lua. It looks at the board and at its
-- history at one moment: record.lua relies on that.
--
-- KEYS  1 hash         meta: shape
--       2 sorted set   members
--       3 sorted set   hidden members
--       4 hash         numbers of the members of the history, see record.lua
--       5 hash         tallies, and 6 sorted set: forgotten, with a window, see window.lua
-- ARGV  1 shape        of the definition
--       2 ...          members, up to a few hundred
-- Result {'none'}: the board-period has no data
--         {'shape'}: its data have the shape of another definition
--         {'all', member, ...}: all members of all keys, maybe others than the given ones, and maybe twice: no key has more
--         than the given number
--         {'some', member, ...}: those that were found, likewise
-- Cost   O(given members), and O(log n) for each of them in a large set

local meta, members, hiddens, numbers, tallies, forgotten = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local shape = ARGV[1]

local call = redis.call

local stored = call('HGET', meta, 'shape')
if not stored then return {'none'} end
if stored ~= shape then return {'shape'} end
local wanted = {unpack(ARGV, 2)}
local found, whole = {'all'}, true

-- look finds the wanted members in a key: by a command for some members, unless one for all of them costs less.
local function look(key, size, all, some)
  if call(size, key) <= #wanted then
    for _, member in ipairs(call(unpack(all))) do found[#found + 1] = member end
    return
  end
  whole = false
  for i, there in ipairs(call(some, key, unpack(wanted))) do
    if there then found[#found + 1] = wanted[i] end
  end
end

for _, set in ipairs({members, hiddens, forgotten}) do look(set, 'ZCARD', {'ZRANGE', set, '0', '-1'}, 'ZMSCORE') end
for _, hash in ipairs({numbers, tallies}) do look(hash, 'HLEN', {'HKEYS', hash}, 'HMGET') end
if not whole then found[1] = 'some' end
return found
