-- The part of apply.lua that writes a member's score. Follows apply_head.lua.

-- Gives a member a score, reached now unless the member had it; hide: it is hidden. Returns its
-- rank, nil for a hidden member, and whether it is there at all.
local function put(member, score, had, key, seen, hide, held, data)
  local new = key
  if score ~= had then
    local s = sign * score + 0 -- +0: never -0
    new = ties == 'member' and format('%.0f', s) or key_of(members, moderated and hiddens or nil, s, clock - from, span)
  end
  if hide then
    if seen then leave(member, key) end
    call('ZADD', hiddens, new, member)
    if not moderated then moderated = '0' end -- the rest of this moderation is not in force yet
  elseif limit > 0 and not had and is_beyond(member, new) then
    return nil, false
  end
  if ttl > 0 and not had then call('ZADD', entered, format('%.0f', now), member) end
  if data ~= held then
    set_data(member, data)
    with_data = '1'
  end
  if hide then return nil, true end
  if had and not seen then call('ZREM', hiddens, member) end
  local rank = move(member, seen or nil, new, data)
  if limit > 0 and not seen and trim(limit, TRIM) > 0 and not call('ZSCORE', members, member) then return nil, false end
  return rank, true
end

