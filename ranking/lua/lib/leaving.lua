-- Members that leave: removed, past their member_ttl, or beyond the limit. Follows order.lua and
-- rank.lua.

local REMOVED_FOR = 2 * 610 * 1000000 -- µs for which a removal is known; request ids live as long, see ids.lua
local FORGOTTEN_EACH = 2 -- earlier removals that each removal forgets at most

-- Returns what stands for a member where its name must not stay.
local function digest_of(member) return redis.sha1hex(member):sub(1, 16) end

-- Notes that a member has left.
local function note_left(member)
  local past = call('ZRANGEBYSCORE', left, '-inf', format('%.0f', clock - REMOVED_FOR), 'LIMIT', '0', FORGOTTEN_EACH)
  if #past > 0 then call('ZREM', left, unpack(past)) end
  call('ZADD', left, format('%.0f', clock), digest_of(member))
end

-- Removes a member, on the board with a key or hidden, and all that belongs to it.
local function remove(member, key)
  if key then leave(member, key) else call('ZREM', hiddens, member) end
  call('HDEL', datas, member)
  call('ZREM', entered, member)
  note_left(member)
end

-- Removes members whose time is over at a moment, at most so many. Returns how many it removed.
local function expire(ttl, most, at)
  if ttl == 0 then return 0 end
  local due = call('ZRANGEBYSCORE', entered, '-inf', format('%.0f', at - ttl), 'LIMIT', '0', most)
  for _, member in ipairs(due) do remove(member, call('ZSCORE', members, member)) end
  return #due
end

-- Removes the last members beyond a limit, at most so many. Returns how many it removed.
local function trim(limit, most)
  if limit == 0 then return 0 end
  local over = math.min(call('ZCARD', members) - limit, most)
  for _ = 1, over do
    local last = call('ZRANGE', members, -1, -1, 'WITHSCORES')
    remove(last[1], last[2])
  end
  return math.max(over, 0)
end

-- Returns whether a member that comes to a key has no place within a limit. On a full board most
-- who come have none, so it reads the last member.
local function is_beyond(limit, member, key)
  if call('ZCARD', members) < limit then return false end
  local last = call('ZRANGE', members, '-1', '-1', 'WITHSCORES')
  local s, t = tonumber(key), tonumber(last[2])
  return s > t or s == t and after(member, last[1])
end

