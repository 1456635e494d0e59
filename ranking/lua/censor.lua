-- Notes that a member is hidden on a board or everywhere of a kind, or is not any more.
-- Begins with shown.lua.
--
-- KEYS  1 sorted set   hidden: where 31 member, to the revision that hid it
--       2 sorted set   shown: likewise, of those that were hidden before, the latest of
--                      the last day
--       3 hash         definitions: 'moderated' is the latest revision; 'forgotten' is
--                      that up to which shown may lack members; none: it lacks none
--       4 stream       audit
-- ARGV  1 where        'k/' kind or 'b/' instance
--       2 member
--       3 hide         '1', or '0' to show it again
--       4 most         members that may be hidden
--       5 line         for the audit, which gets it if this changes anything; '' for none
--       6 kept         lines that the audit keeps, approximately
--       7 remembered   members that shown keeps
-- Result {'ok', revision, whether it was otherwise before: 1 or 0} or {'full'}
--         A revision is the µs since 1970 by Redis's clock, and later than all before it.
-- Cost   O(log n)

local hidden, shown, definitions, audit = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local entry, hide, most = ARGV[1] .. '\31' .. ARGV[2], ARGV[3] == '1', tonumber(ARGV[4])
local line, kept, remembered = ARGV[5], ARGV[6], tonumber(ARGV[7])

local STEP = 16 -- members of shown that go at a time: more than come

local call, format = redis.call, string.format

local since = call('ZSCORE', hidden, entry)
if hide == (since and true or false) then
  return {'ok', format('%.0f', tonumber(since or 0)), 0}
end
if hide and call('ZCARD', hidden) >= most then return {'full'} end
local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local revision = format('%.0f', math.max(now, tonumber(call('HGET', definitions, 'moderated') or 0) + 1))
-- The line is first: if Redis refuses it, nothing has changed.
if line ~= '' then call('XADD', audit, 'MAXLEN', '~', kept, '*', 'line', line) end
call('ZREM', hide and shown or hidden, entry)
call('ZADD', hide and hidden or shown, revision, entry)
call('HSET', definitions, 'moderated', revision)
trim_shown(shown, definitions, remembered, now, STEP)
return {'ok', revision, 1}
