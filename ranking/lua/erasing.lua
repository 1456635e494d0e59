-- Has a member be erased, from the start where that is under way, and looked after: whoever
-- is at it finds that it begins anew.
--
-- KEYS  1 hash         erasures: kind and member to JSON, see erase.go
--       2 sorted set   agenda: to when it is due, µs since 1970
--       3 stream       audit
-- ARGV  1 field        of the erasure
--       2 member       of the agenda
--       3 line         for the audit
--       4 kept         lines that the audit keeps, approximately
-- Result {what is noted now}: 'began', in µs since 1970, is of this one alone
-- Cost   O(log n)

local erasures, agenda, audit = KEYS[1], KEYS[2], KEYS[3]
local field, member, line, kept = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local call, format = redis.call, string.format

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local was = call('HGET', erasures, field) or ''
local began = math.max(now, tonumber(was:match('"began":(%d+)') or 0) + 1)
local noted = format('{"boards":0,"removed":0,"began":%.0f}', began)
-- The line is first: if Redis refuses it, nothing has changed.
call('XADD', audit, 'MAXLEN', '~', kept, '*', 'line', line)
call('HSET', erasures, field, noted)
-- Somebody may be at one that is under way: he has it on the agenda for when he is stood
-- in for, and for now when he finds out.
if was == '' or was:find('"ended":', 1, true) then
  call('ZADD', agenda, format('%.0f', now), member)
else
  call('ZADD', agenda, 'NX', format('%.0f', now), member)
end
return {noted}
