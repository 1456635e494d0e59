-- The index of the names of a kind's members. The record of a member is a list of its entries in the index. A later
-- version removes the entries by this list. So it need not fold names in the same way. For each entry the list has
--   a folded text, and then RecordSep for a whole name, otherwise FieldSep
-- An element of the sorted set of entries is a text, its separator and the member.

-- Puts the record of a member into the index; '' removes the member. Returns whether that changed the index.
local function names_put(names, entries, member, record)
  local call = redis.call
  local held = call('HGET', names, member) or ''
  if held == record then return false end
  local stays = {}
  for text in record:gmatch('[^\30\31]+[\30\31]') do stays[text] = true end
  local leaves, enters = {}, {}
  for text in held:gmatch('[^\30\31]+[\30\31]') do
    if stays[text] then stays[text] = nil else leaves[#leaves + 1] = text .. member end
  end
  for text in record:gmatch('[^\30\31]+[\30\31]') do
    if stays[text] then
      stays[text] = nil
      enters[#enters + 1] = 0
      enters[#enters + 1] = text .. member
    end
  end
  -- The writes that may take memory come first.
  if #enters > 0 then call('ZADD', entries, unpack(enters)) end
  if record ~= '' then call('HSET', names, member, record) else call('HDEL', names, member) end
  if #leaves > 0 then call('ZREM', entries, unpack(leaves)) end
  return true
end

