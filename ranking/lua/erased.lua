-- Records the progress of a walk and the number of removals, or ends erasures of the walk. Follows
-- lib/erasure.lua.
--
-- KEYS  1 hash         erasures, see erasing.lua
--       2 sorted set   pending, see erasing.lua
--       3 sorted set   reports, see erasing.lua
--       4 sorted set   agenda of erasures, see erasing.lua
-- ARGV  1 kind
--       2 separator    of kind and member in a field of erasures
--       3 began        when the walk began, µs since 1970; the walk serves earlier erasures only
--       4 was          the walk that the caller knows, as JSON
--       5 next         the walk after this call, as JSON; '': it has ended
--       6 ends         '1': end the erasures of the given members, if the stored walk is still was
--       7 boards       board count of the walk, for the reports of erasures that end
--       8 left         board-periods that the walk skipped because of their shape, for the same reports
--       9 ...          two for each member: member, and the number of board-periods from which the
--                      caller has removed it since the last call
-- Result {'ok'} or {'other'}: the stored walk is not was, and stays. The call adds the removals in
--         both cases.
-- Cost   O(log n) a member

local erasures, pending, reports, agenda = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local kind, separator, began, was, walk, ends = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6] == '1'
local boards, left = tonumber(ARGV[7]), tonumber(ARGV[8])
local FIRST = 9

local ours = call('HGET', erasures, kind) == was
for i = FIRST, #ARGV, 2 do
  local member, removed = ARGV[i], tonumber(ARGV[i + 1])
  local field = kind .. separator .. member
  local state = call('HGET', erasures, field) or ''
  local since = number_of(state, 'began')
  if since and since < began then
    removed = removed + (number_of(state, 'removed') or 0)
    local ended = number_of(state, 'ended')
    if ended then
      state = state_of(number_of(state, 'boards') or 0, removed, number_of(state, 'left') or 0, since)
    elseif ends and ours then
      ended = math.max(now, since)
      state = state_of(boards, removed, left, since)
      call('ZREM', pending, member)
      call('ZADD', reports, format('%.0f', ended), field)
    else
      state = state_of(0, removed, 0, since)
    end
    if ended then state = state .. format(',"ended":%.0f', ended) end
    call('HSET', erasures, field, state .. '}')
  elseif not since then
    call('ZREM', pending, member)
  end
end
if ends then delete_reports(erasures, reports, agenda) end
if not ours then return {'other'} end
if walk == '' then call('HDEL', erasures, kind) else call('HSET', erasures, kind, walk) end
return {'ok'}
