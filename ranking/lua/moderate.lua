-- Has members of a board-period be hidden, who keep their keys, or shown again in their
-- places. It is begun first, and from then on nobody who knows less writes to the
-- board-period; then it is looked who is hidden, and done in parts. Begins with order.lua
-- and board.lua.
--
-- KEYS  1 to 10        see board.lua
--                      meta: moderated, the revision that is in force, see censor.lua;
--                      remoderate, that up to which all is done, where that is not all;
--                      kind, for which that is so
-- ARGV  1 to 5         see board.lua
--       6 shape        of the definition
--       7 limit        members that stay; 0: all
--       8 revision     of the moderation that this is a part of
--       9 kind         of the members
--      10 phase        'begin', 'part' or 'end': the last part
--      11 built        '1': it is a result that others make, and will make anew
--      then two for each member:
--         member
--         hide         '1', or '0' to show it again
-- Result {'ok'}, or {'no'}: there is no such board-period, or a later moderation is in
--         force already
-- Cost   O(log n) a member

local shape, limit, revision, kind = ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9]
local phase, built = ARGV[10], ARGV[11] == '1'
local FIRST, STEP = 12, 2

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'shape', 'moderated', 'remoderate', 'kind')
local moderated = tonumber(state[5] or 0)
if state[4] ~= shape then return {'no'} end
if phase == 'begin' then
  if moderated > tonumber(revision) then return {'no'} end
  local from = state[7] and state[7] ~= kind and '0' or state[6] or format('%.0f', moderated)
  call('HSET', meta, 'moderated', revision, 'remoderate', from, 'kind', kind)
  return {'ok'}
end
if moderated ~= tonumber(revision) then return {'no'} end
local wrote = 0
for i = FIRST, #ARGV, STEP do
  local member, hide = ARGV[i], ARGV[i + 1] == '1'
  if hide then
    local key = call('ZSCORE', members, member)
    if key then
      if not built then call('ZADD', hiddens, key, member) end
      leave(member, key)
      wrote = wrote + 1
    end
  else
    local key = call('ZSCORE', hiddens, member)
    if key then
      call('ZREM', hiddens, member)
      move(member, nil, key, call('HGET', datas, member) or '')
      wrote = wrote + 1
    end
  end
end
if wrote > 0 then
  clock = math.max(now, tonumber(state[3]) + 1)
  trim(limit, wrote)
  publish(state[1], tonumber(state[2]), clock + #changes)
end
if phase == 'end' then
  call('HDEL', meta, 'remoderate')
  if built then call('HSET', meta, 'built', '0') end -- who is shown again comes with the next result
end
return {'ok'}
