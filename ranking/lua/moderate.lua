-- Has members of a board-period be hidden, who keep their keys, or shown again in their
-- places. Begins with order.lua and board.lua.
--
-- KEYS  1 to 6         see board.lua
-- ARGV  1 to 5         see board.lua
--       6 shape        of the definition
--       7 limit        members that stay; 0: all
--       8 revision     of the moderation that this is a part of, see censor.lua
--       9 last         '1': the last part; all there is to do up to the revision is done
--      then two for each member:
--         member
--         hide         '1', or '0' to show it again
-- Result {'ok'}, or {'no'}: there is no such board-period, or a later moderation is in
--         force already
-- Cost   O(log n) a member

local shape, limit, revision, last = ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9] == '1'
local FIRST, STEP = 10, 2

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'shape', 'moderated')
if state[4] ~= shape or tonumber(state[5] or 0) >= tonumber(revision) then return {'no'} end
local wrote = 0
for i = FIRST, #ARGV, STEP do
  local member, hide = ARGV[i], ARGV[i + 1] == '1'
  if hide then
    local key = call('ZSCORE', members, member)
    if key then
      call('ZADD', hiddens, key, member)
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
  trim(limit, wrote)
  publish(state[1], tonumber(state[2]), math.max(now, tonumber(state[3]) + 1) + #changes)
end
-- With anybody hidden it is noted that some are, though not all is done yet.
if last then call('HSET', meta, 'moderated', revision) elseif not state[5] then call('HSET', meta, 'moderated', '0') end
return {'ok'}
