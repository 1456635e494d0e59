-- Ranks where a member's rank is its position: with ties first and member. Follows board.lua.

-- Returns the rank of a member on the board.
local function rank_of(member) return call('ZRANK', members, member) + 1 end

-- Moves a member from an old key, or nil, to a new one and returns its rank. data: '' for none.
local function move(member, old, key, data)
  if old ~= key then call('ZADD', members, key, member) end
  local rank = call('ZRANK', members, member) + 1
  local change = format('%s\31%s\31%s\31%d', member, old or '', key, rank)
  if data ~= '' then change = change .. '\31' .. data end
  changes[#changes + 1] = change
  return rank
end

-- Removes a member from the ranks. The caller removes its data and the rest.
local function leave(member, old)
  call('ZREM', members, member)
  changes[#changes + 1] = format('%s\31%s\31\31', member, old)
end

