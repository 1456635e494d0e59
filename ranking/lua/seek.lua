-- Looks in a board-period for members that an erasure would remove something of, see erase.lua. It looks at the board and at its
-- history at one moment: record.lua relies on that.
--
-- KEYS  1 hash         meta: shape
--       2 sorted set   members
--       3 sorted set   hidden members
--       4 hash         numbers of the members of the history, see record.lua
--       5, 6           with a window, hash: tallies, and sorted set: forgotten, see window.lua; else sorted sets: pending members,
--                      and hidden ones, see freeze.lua
-- ARGV  1 shape        of the definition
--       2 windowed     '1': the board has a window; '0': it has none
--       3 ...          members, up to a few hundred
-- Result {'none'}: the board-period has no data
--         {'shape'}: its data have the shape of another definition
--         {'all', member, ...}: every member of each key. A member of two keys comes twice. Each key has as many members as
--         are given, or fewer
--         {'some', member, ...}: the given members that were found, and all members of small keys. Some may come twice
-- Cost   O(given members), and O(log n) for each of them in a large set

local meta, sets, hashes = KEYS[1], {KEYS[2], KEYS[3], KEYS[6]}, {KEYS[4]}
local shape = ARGV[1]
if ARGV[2] == '1' then hashes[2] = KEYS[5] else sets[4] = KEYS[5] end

local call = redis.call

local stored = call('HGET', meta, 'shape')
if not stored then return {'none'} end
if stored ~= shape then return {'shape'} end
local wanted = {unpack(ARGV, 3)}
local found, whole = {'all'}, true

-- add keeps all members of a key, which has as many as there are wanted ones at most.
local function add(all)
  for _, member in ipairs(all) do found[#found + 1] = member end
end

-- pick keeps the wanted members that a larger key has, by the answer for each.
local function pick(answers)
  whole = false
  for i, there in ipairs(answers) do
    if there then found[#found + 1] = wanted[i] end
  end
end

for _, set in ipairs(sets) do
  if call('ZCARD', set) <= #wanted then add(call('ZRANGE', set, '0', '-1')) else pick(call('ZMSCORE', set, unpack(wanted))) end
end
for _, hash in ipairs(hashes) do
  if call('HLEN', hash) <= #wanted then add(call('HKEYS', hash)) else pick(call('HMGET', hash, unpack(wanted))) end
end
if not whole then found[1] = 'some' end
return found
