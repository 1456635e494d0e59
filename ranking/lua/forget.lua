-- Drops the request ids of a board, or an event, once no retry is answered by them any
-- more. Begins with ids.lua.
--
-- KEYS  1, 2 hashes    ids
-- Result {'kept', until when, in µs since 1970}, {'dropped'} or {'none'} (there were
--         none)
-- Cost   O(1)

local ids = {KEYS[1], KEYS[2]}

local call = redis.call

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local kept = 0
for _, hash in ipairs(ids) do
  local bucket = tonumber(call('HGET', hash, '') or -2)
  kept = math.max(kept, (bucket + 2) * BUCKET)
end
if kept > now then return {'kept', string.format('%.0f', kept)} end
return {call('UNLINK', unpack(ids)) > 0 and 'dropped' or 'none'}
