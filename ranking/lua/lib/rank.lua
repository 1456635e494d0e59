-- Ranks, with any ties. Follows board.lua.

local shared, dense = ties == 'shared', ties == 'dense'

-- Returns the text of a key's s, which equal scores have in common.
local function tier_of(key) return format('%.0f', floor(key) + 0) end -- +0: never -0

-- With ties dense, drops the score of a key from the distinct scores if no member has it any
-- more. Returns the flag for the message.
local function drop_tier(key)
  local tier = tier_of(key)
  if #call('ZRANGEBYSCORE', members, tier, format('(%.0f', floor(key) + 1), 'LIMIT', '0', '1') > 0 then return '' end
  call('ZREM', distinct, tier)
  return 'g'
end

-- Returns the rank of a member with a key on the board.
local function rank_of(member, key)
  if shared then return call('ZCOUNT', members, '-inf', '(' .. tier_of(key)) + 1 end
  if dense then return call('ZRANK', distinct, tier_of(key)) + 1 end
  return call('ZRANK', members, member) + 1
end

-- Moves a member from an old key, or nil, to a new one and returns its rank. data: '' for none.
local function move(member, old, key, data)
  local flags = ''
  if old ~= key then
    call('ZADD', members, key, member)
    if dense then
      local tier = tier_of(key)
      if call('ZADD', distinct, tier, tier) == 1 then flags = 'b' end
      if old then flags = flags .. drop_tier(old) end
    end
  end
  local position = call('ZRANK', members, member) + 1
  local rank, place = position, position
  if shared or dense then
    rank = rank_of(member, key)
    place = format('%d %d', rank, position)
    if flags ~= '' then place = place .. ' ' .. flags end
  end
  local change = format('%s\31%s\31%s\31%s', member, old or '', key, place)
  if data ~= '' then change = change .. '\31' .. data end
  changes[#changes + 1] = change
  return rank
end

-- Removes a member from the ranks. The caller removes its data and the rest.
local function leave(member, old)
  call('ZREM', members, member)
  changes[#changes + 1] = format('%s\31%s\31\31%s', member, old, dense and drop_tier(old) or '')
end

