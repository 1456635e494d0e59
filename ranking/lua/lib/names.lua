-- The index of the names of a kind's members. The record of a member is a list of its entries in the index. A later
-- version removes the entries by this list. So it need not fold names in the same way. For each entry the list has
--   a byte: '0' for each text that begins with the whole text before it, the next byte for each that begins with the text
--   before it without its first byte, and so on
--   the rest of the text
--   RecordSep for a whole name, otherwise FieldSep
-- An element of the sorted set of entries is a text, its separator and the member.

-- Returns the texts of a record, each with its separator.
local function names_texts(record)
  local texts, before = {}, ''
  for dropped, rest, separator in record:gmatch('([^\30\31])([^\30\31]*)([\30\31])') do
    before = before:sub(dropped:byte() - ('0'):byte() + 1) .. rest
    texts[#texts + 1] = before .. separator
  end
  return texts
end

-- Puts the record of a member into the index; '' removes the member. Returns whether that changed the index.
local function names_put(names, entries, member, record)
  local call = redis.call
  local held = call('HGET', names, member) or ''
  if held == record then return false end
  local texts, stays = names_texts(record), {}
  for _, text in ipairs(texts) do stays[text] = true end
  local leaves, enters = {}, {}
  for _, text in ipairs(names_texts(held)) do
    if stays[text] then stays[text] = nil else leaves[#leaves + 1] = text .. member end
  end
  for _, text in ipairs(texts) do
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

