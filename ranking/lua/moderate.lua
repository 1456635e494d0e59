-- Hides members of a board-period, which keep their sort keys, or shows them again in their places.
-- The caller begins with the phase 'begin'. From then on, scripts refuse callers with an older
-- moderation. The caller then compares the members with the moderation, and sends the changes in
-- parts. Follows lib/board.lua, lib/changes.lua, lib/order.lua, lib/rank.lua and
-- lib/leaving.lua.
--
-- KEYS  1 to 15        see board.lua and freeze.lua
--                      meta: moderated, the revision in force, see censor.lua; remoderate, the
--                      revision up to which all changes are applied, until they all are; kind, for
--                      which both are valid
-- ARGV  1 to 5         see board.lua
--       6 shape        of the definition
--       7 limit        members that stay; 0: all
--       8 revision     of the moderation that the caller applies
--       9 kind         of the members
--      10 phase        'begin', 'part' or 'end': the last part
--      11 built        '1': the board holds a result that nodes build. A hidden member then loses its
--                      key, and the end of the moderation requests another build.
--       then two for each member, in the phases part and end:
--         member
--         hide         '1': hide the member; '0': show it again
-- Result {'ok'} or {'no'}: there is no board-period of this shape, or a later moderation is in force
-- Cost   O(log n) a member

local shape, limit, revision, kind = ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9]
local phase, built = ARGV[10], ARGV[11] == '1'
local pending, pending_hiddens, publics, newcomers = KEYS[11], KEYS[12], KEYS[14], KEYS[15]
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
    local waits = not built and call('ZSCORE', pending, member)
    if waits then
      call('ZREM', pending, member)
      call('ZREM', publics, member)
      call('ZREM', newcomers, member)
      call('ZADD', pending_hiddens, waits, member)
    end
  else
    local key = call('ZSCORE', hiddens, member)
    if key then
      call('ZREM', hiddens, member)
      move(member, nil, key, call('HGET', datas, member) or '')
      wrote = wrote + 1
    end
    -- An update may have come to pending already, by a caller who knew of this moderation.
    local waits = not built and (call('ZSCORE', pending_hiddens, member) or key and call('ZSCORE', pending, member))
    if waits then
      call('ZREM', pending_hiddens, member)
      call('ZREM', newcomers, member)
      call('ZADD', pending, waits, member)
      call('ZADD', key and publics or newcomers, key or waits, member)
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
  if built then call('HSET', meta, 'built', '0') end -- the next result has the members that are shown again
end
return {'ok'}
