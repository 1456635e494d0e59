-- Takes the next entries of a stream for the consumer that holds the lease: the entries that were
-- delivered before and not acknowledged, or else new ones. Acquires a free lease, or renews it.
--
-- KEYS  1 stream       of the producers
--       2 stream       of the dead letters
--       3 string       lease: the token of its holder
-- ARGV  1 token        of the caller
--       2 duration     of the lease, ms
--       3 group        of the consumers; the script creates it where it is missing
--       4 count        of the entries, at most
--       5 bytes        at which the script takes no more entries: of those that were delivered before, it takes one
--                      beyond at most, and of new ones up to PIECE
-- Result {state, now, length, oldest, dead, id, again, age, size, {field, value, ...}, id, again, ...}
--         state        'busy': another consumer holds the lease; or 'ok'
--         now          Redis's clock, ms since 1970
--         length       of the stream, before the call
--         oldest       id of the first entry of the stream, or ''
--         dead         length of the stream of dead letters
--         again        1: the entry was delivered before, and may have counted; 0: it has counted nowhere, see conclude.lua
--         age          time since then, ms; 0 for an entry that has counted nowhere
--         size         bytes of the names and values
--         {}           an entry that was deleted from the stream, and one that is larger than bytes
-- Cost   O(count), and O(n) for entries of n bytes

local stream, dead, lease = KEYS[1], KEYS[2], KEYS[3]
local token, duration, group, count, bytes = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local PIECE = 10 -- entries that one command delivers, because their sizes are known only afterwards
local consumer = 'rankcast' -- one name for all, so no entry is delivered a second time

local time = redis.call('TIME')
local now = string.format('%d%03d', tonumber(time[1]), math.floor(tonumber(time[2]) / 1000))
local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
local result = {'busy', now, redis.call('XLEN', stream), first and first[1] or '', redis.call('XLEN', dead)}

local holder = redis.call('GET', lease)
if holder and holder ~= token then return result end
if holder then
  redis.call('PEXPIRE', lease, duration) -- in place of SET, which a Redis without free memory refuses
else
  redis.call('SET', lease, token, 'PX', duration)
end
result[1] = 'ok'

local pending = redis.pcall('XPENDING', stream, group, '-', '+', count)
if pending.err then
  if not pending.err:find('NOGROUP', 1, true) then return pending end
  redis.call('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM')
  pending = {}
end

local taken = 0 -- bytes
local function add(id, again, age, fields)
  local size = 0
  for _, text in ipairs(fields) do size = size + #text end
  taken = taken + size
  if size > bytes then fields = {} end
  local n = #result
  result[n + 1], result[n + 2], result[n + 3], result[n + 4], result[n + 5] = id, again, age, size, fields
end

if #pending > 0 then
  local anew = {} -- what has counted nowhere: now it may
  for _, entry in ipairs(pending) do
    local id, age, deliveries = entry[1], entry[3], entry[4]
    local found = redis.call('XRANGE', stream, id, id)[1]
    if deliveries > 0 then
      add(id, 1, age, found and found[2] or {})
    else
      anew[#anew + 1] = id -- XCLAIM forgets the entry if it was deleted from the stream
      if found then add(id, 0, 0, found[2]) end
    end
    if taken >= bytes then break end
  end
  if #anew > 0 then
    anew[#anew + 1], anew[#anew + 2], anew[#anew + 3] = 'RETRYCOUNT', '1', 'JUSTID'
    redis.call('XCLAIM', stream, group, consumer, '0', unpack(anew))
  end
  return result
end
while count > 0 and taken < bytes do
  local most = math.min(count, PIECE)
  local read = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', most, 'STREAMS', stream, '>')
  local entries = read and read[1] and read[1][2] or {}
  for _, entry in ipairs(entries) do add(entry[1], 0, 0, entry[2]) end
  count = #entries < most and 0 or count - most
end
return result
