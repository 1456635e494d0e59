-- Reschedules claimed members of an agenda, or removes them, unless their times have changed since the
-- claim. A member that was listed since the claim stays on the agenda, see plan.lua.
--
-- KEYS  1 sorted set   agenda
--       2 sorted set   listing, see list.lua
-- ARGV  1 since        when a node claimed the members, µs since 1970
--       and for each member:
--       2 member
--       3 claimed      the time that claim.lua gave the member
--       4 next         when the member is due, µs since 1970; '': remove it
-- Result {'ok'}
-- Cost   O(log n) for each member

local agenda, listing = KEYS[1], KEYS[2]
local since = tonumber(ARGV[1])
local FIRST, EACH = 2, 3

local call = redis.call

for i = FIRST, #ARGV, EACH do
  local member, claimed, due = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local at = call('ZSCORE', agenda, member)
  if at and tonumber(at) == claimed then
    if not due then
      local listed = call('ZSCORE', listing, member)
      if listed and tonumber(listed) > since then due = tonumber(listed) end
    end
    if due then
      call('ZADD', agenda, string.format('%.0f', due), member)
    else
      call('ZREM', agenda, member)
    end
  end
end
return {'ok'}
