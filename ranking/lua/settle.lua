-- Gives a period that has closed its delivery id, and announces it, once. Nothing is
-- written to it from then on, whatever becomes of the clock.
--
-- KEYS  1 hash         the board's periods: name to 'opens closes [id settled [done]]', and
--                      '/' to when the last that is settled had ended
--       2 hash         meta of the period: seq, settled
--       3 sorted set   with a member_ttl, its members by when they entered, µs since 1970
-- ARGV  1 period
--       2 lease        until when the caller may count on what it knows of the board
--       3 ended        when the period did; both in µs since 1970
--       4 seq          that the message tells of
--       5 id           for the delivery
--       6 channel      of the feed
--       7 message
--       8 ttl          µs after which a member leaves; 0: never
-- Result {the period as it is noted now}: without an id where it has not ended, or is
--         not as the message tells, or somebody has yet to leave it whose time was over
--         before that, or the lease is over; '' where it is gone
-- Cost   O(log n), and the message to each node

local periods, meta, entered = KEYS[1], KEYS[2], KEYS[3]
local period, lease, ended, seq = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local id, channel, message, ttl = ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8])

local call = redis.call

-- Nothing is written if it cannot be announced, see board.lua.
local allowed = redis.acl_check_cmd
if allowed and not allowed('PUBLISH', channel, '') then return redis.error_reply('NORIGHT the Redis user may not PUBLISH') end

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local noted = call('HGET', periods, period)
if not noted then return {''} end
local _, words = noted:gsub('%S+', '')
if words > 2 or now < ended or now >= lease or (call('HGET', meta, 'seq') or '0') ~= seq then return {noted} end
if ttl > 0 and call('ZCOUNT', entered, '-inf', string.format('(%.0f', ended - ttl)) > 0 then return {noted} end
noted = noted .. ' ' .. id .. ' ' .. string.format('%.0f', now)
call('HSET', periods, period, noted)
if ended > tonumber(call('HGET', periods, '/') or 0) then call('HSET', periods, '/', string.format('%.0f', ended)) end
call('HSET', meta, 'settled', '1')
call('PUBLISH', channel, message)
return {noted}
