-- The part of apply.lua for members with data. Follows board.lua.

-- Returns the data of a member, '' for none.
local function data_of(member) return call('HGET', datas, member) or '' end

-- Replaces the data of a member, '' for none.
local function set_data(member, data)
  if data == '' then call('HDEL', datas, member) else call('HSET', datas, member, data) end
end

