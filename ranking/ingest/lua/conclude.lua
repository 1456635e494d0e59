-- Acknowledges entries, and deletes them from the stream. Moves refused ones to the dead letters. The time since the
-- delivery of those that have counted nowhere begins anew.
--
-- KEYS  1 stream       of the producers
--       2 stream       of the dead letters
--       3 string       lease: the token of its holder
-- ARGV  1 token        of the caller
--       2 duration     of the lease, ms
--       3 group        of the consumers
--       4 time         for the dead letters, RFC 3339
--       5 count        of the entries that are applied
--       6 count        of the entries that stay, and have counted nowhere so far
--       7 and more     ids of the applied ones; then two for each entry that stays: id, and how many deliveries may have
--                      sent it (after 0 its next delivery is as the first); then five for each dead letter: id, id of
--                      the entry that the producer wrote, code, field, detail
-- Result {'ok'} or {'busy'}: the caller does not hold the lease, and nothing has changed
-- Cost   O(entries)

local stream, dead, lease = KEYS[1], KEYS[2], KEYS[3]
local token, duration, group, time, applied, stay = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local consumer = 'rankcast' -- see take.lua
local FIRST = 7
local MOST = 4000 -- of the names and values of an entry, because unpack takes some 8,000 at most

if redis.call('GET', lease) ~= token then return {'busy'} end
redis.call('PEXPIRE', lease, duration)

local letters = FIRST + applied + 2 * stay
for i = letters, #ARGV, 5 do
  local id, origin, code, field, detail = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  if #redis.call('XPENDING', stream, group, id, id, 1) > 0 then
    local found = redis.call('XRANGE', stream, id, id)[1]
    local fields = found and found[2] or {}
    -- XADD comes first: where Redis refuses it, the entry stays.
    redis.call('XADD', dead, '*', 'stream', stream, 'entry', origin, 'code', code, 'field', field, 'detail', detail, 'time', time,
      unpack(fields, 1, math.min(#fields, MOST)))
    redis.call('XACK', stream, group, id)
    redis.call('XDEL', stream, id)
  end
end
if applied > 0 then
  redis.call('XACK', stream, group, unpack(ARGV, FIRST, FIRST + applied - 1))
  redis.call('XDEL', stream, unpack(ARGV, FIRST, FIRST + applied - 1))
end
for i = FIRST + applied, letters - 1, 2 do
  redis.call('XCLAIM', stream, group, consumer, '0', ARGV[i], 'RETRYCOUNT', ARGV[i + 1], 'JUSTID')
end
return {'ok'}
