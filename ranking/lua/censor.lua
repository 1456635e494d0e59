-- Hides a member on a board or on all boards of a kind, or shows it again. Follows lib/shown.lua.
--
-- KEYS  1 sorted set   hidden: where 31 member, to the revision that hid the member
--       2 sorted set   shown: where 31 member, to the revision that showed the member again; of the
--                      last day, and the latest of them
--       3 hash         definitions: 'moderated' is the latest revision. Up to the revision
--                      'forgotten', shown may lack members; without this field it lacks none.
--       4 stream       audit
-- ARGV  1 where        'k/' kind or 'b/' instance
--       2 member
--       3 hide         '1': hide the member; '0': show it again
--       4 most         members that may be hidden
--       5 line         that the audit gets if this call changes anything; '': none
--       6 kept         lines that the audit keeps, approximately
--       7 remembered   members that shown keeps
-- Result {'ok', revision, 1 if this call changed anything, else 0} or {'full'}: too many are hidden.
--         A revision is in µs since 1970 by Redis's clock, and greater than all before it. Without a
--         change it is the one that hid the member, or 0.
-- Cost   O(log n)

local hidden, shown, definitions, audit = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local entry, hide, most = ARGV[1] .. '\31' .. ARGV[2], ARGV[3] == '1', tonumber(ARGV[4])
local line, kept, remembered = ARGV[5], ARGV[6], tonumber(ARGV[7])

local STEP = 16 -- members that one call removes from shown; it adds one

local call, format = redis.call, string.format

local since = call('ZSCORE', hidden, entry)
if hide == (since and true or false) then
  return {'ok', format('%.0f', tonumber(since or 0)), 0}
end
if hide and call('ZCARD', hidden) >= most then return {'full'} end
local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local revision = format('%.0f', math.max(now, tonumber(call('HGET', definitions, 'moderated') or 0) + 1))
-- The line comes first: if Redis refuses it, the call has changed nothing.
if line ~= '' then call('XADD', audit, 'MAXLEN', '~', kept, '*', 'line', line) end
call('ZREM', hide and shown or hidden, entry)
call('ZADD', hide and hidden or shown, revision, entry)
call('HSET', definitions, 'moderated', revision)
trim_shown(shown, definitions, remembered, now, STEP)
return {'ok', revision, 1}
