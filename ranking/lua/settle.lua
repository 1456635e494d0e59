-- Settles a closed period, once: stores the id of its delivery, and publishes the message to the
-- feed. From then on no update counts in the period, even if a clock is set back.
--
-- KEYS  1 hash         the board's periods: name to 'opens closes [frozen | waiting | id settled [done]]', and '/' to the
--                      end of the last settled period; times in µs since 1970
--       2 hash         meta of the period: seq, clock, settled, frozen
--       3 sorted set   with a member_ttl, members by when they entered, µs since 1970
-- ARGV  1 period
--       2 lease        end of the time in which the caller may rely on its copy of the definitions
--       3 ended        when the period ended; both in µs since 1970
--       4 seq          of the state that the message describes; '' on a shard that another one announces: there is no
--                      message, and from then on no update counts there, also where the shard has not got the period
--       5 id           for the delivery; the script appends the clock of the board's last change, so that
--                      after a loss of writes another result has another id, and the same one the same
--       6 channel      of the feed
--       7 message
--       8 ttl          µs after which a member leaves; 0: never
-- Result {the record of the period after the call, whether this call has settled it: '1' or ''}; the
--         record is '' if the period is gone, or, with '1', if a shard has none and takes no update in it any more.
--         It has no id if the period has not ended, has another seq, or has a member whose ttl was over
--         before the end; or if the lease is over. Nor has it one while the board-period is frozen: its result is not public.
-- Cost   O(log n), and the message to each node

local periods, meta, entered = KEYS[1], KEYS[2], KEYS[3]
local period, lease, ended, seq = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local id, channel, message, ttl = ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8])

local call = redis.call

-- The script writes nothing that it may not publish, see board.lua.
local allowed = redis.acl_check_cmd
if allowed and channel ~= '' and not allowed('PUBLISH', channel, '') then
  return redis.error_reply('NORIGHT the Redis user may not PUBLISH')
end

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
-- Later updates are refused, also where the clock is set back.
local function close()
  if ended > tonumber(call('HGET', periods, '/') or 0) then call('HSET', periods, '/', string.format('%.0f', ended)) end
end

local record = call('HGET', periods, period)
if not record and (seq ~= '' or now < ended or now >= lease) then return {'', ''} end
if not record then
  close()
  return {'', '1'}
end
local _, words = record:gsub('%S+', '')
if tonumber(call('HGET', meta, 'frozen') or '') then return {record, ''} end
if words > 2 or now < ended or now >= lease then return {record, ''} end
if seq ~= '' and (call('HGET', meta, 'seq') or '0') ~= seq then return {record, ''} end
if ttl > 0 and call('ZCOUNT', entered, '-inf', string.format('(%.0f', ended - ttl)) > 0 then return {record, ''} end
record = record .. ' ' .. id .. '_' .. (call('HGET', meta, 'clock') or '0') .. ' ' .. string.format('%.0f', now)
call('HSET', periods, period, record)
close()
call('HSET', meta, 'settled', '1')
if channel ~= '' then call('PUBLISH', channel, message) end
return {record, '1'}
