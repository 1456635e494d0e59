-- Deletes the request ids of a board or an event, once they are too old to answer a retry. On a board
-- it also deletes the end of the last settled period, which it keeps longer in case a clock is set
-- back. Follows lib/ids.lua.
--
-- KEYS  1, 2 hashes    ids
--       3 hash         the board's periods, see settle.lua; none for an event
-- Result {'kept', until when in µs since 1970}, {'dropped'} or {'none'}: there was nothing to delete
-- Cost   O(1); UNLINK frees the memory in the background

local ids, periods = {KEYS[1], KEYS[2]}, KEYS[3]

local SET_BACK = 1220 * 1000000 -- µs for which the end of a period is kept

local call = redis.call

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local kept = 0
for _, hash in ipairs(ids) do
  local _, ends = ids_span(hash, now)
  kept = math.max(kept, ends)
end
local ended = periods and call('HGET', periods, '/')
if ended then kept = math.max(kept, tonumber(ended) + SET_BACK) end
if kept > now then return {'kept', string.format('%.0f', kept)} end
local dropped = call('UNLINK', unpack(ids))
if ended then dropped = dropped + call('HDEL', periods, '/') end
return {dropped > 0 and 'dropped' or 'none'}
