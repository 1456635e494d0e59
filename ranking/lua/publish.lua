-- Publishes events to their feed after the caller has carried them out, each event once. Follows
-- lib/ids.lua and lib/amend.lua.
--
-- KEYS  1, 2 hashes    ids of the event, see begin.lua
-- ARGV  1 channel      of the event's feed
--       2 length       of a span of ids, see ids.lua
--       then three for each event:
--         id           '' for none
--         digest       11 bytes, see begin.lua
--         item         JSON; '': the event is recorded as published, and is not
-- Result {'ok'}
-- Message [item,item,...]
-- Cost   O(events), and the message to each node

local ids, channel = {[0] = KEYS[1], [1] = KEYS[2]}, ARGV[1]
local FIRST, STEP = 3, 3

-- The script writes nothing that it may not publish, see board.lua.
local allowed = redis.acl_check_cmd
if allowed and not allowed('PUBLISH', channel, '') then return redis.error_reply('NORIGHT the Redis user may not PUBLISH') end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local asked = {}
for i = FIRST, #ARGV, STEP do
  if ARGV[i] ~= '' then asked[#asked + 1] = ARGV[i] end
end
local length = tonumber(ARGV[2])
local known, held = ids_find(ids, now, length, asked)

local items, records = {}, {}
for i = FIRST, #ARGV, STEP do
  local id, digest, item = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local found = known[id]
  local record = found or digest .. 'b' .. event_began(now, length)
  local fresh = id == '' or record:sub(DIGEST + 1, DIGEST + 1) == 'b'
  if fresh and item ~= '' then items[#items + 1] = item end
  if fresh and id ~= '' then
    known[id] = digest .. 'p' .. record:sub(DIGEST + 2)
    if found then
      ids_amend(ids, held, id, known[id]) -- the boards forget their ids no later than this record
    else
      records[#records + 1] = id
      records[#records + 1] = known[id]
    end
  end
end
ids_keep(ids, held, records, now)
if #items > 0 then redis.call('PUBLISH', channel, '[' .. table.concat(items, ',') .. ']') end
return {'ok'}
