-- Requests the erasure of a member. A pending erasure starts again. The walk under way for the kind
-- does not serve this request. Follows lib/erasure.lua.
--
-- KEYS  1 hash         erasures: kind and member to JSON, see member_erase.go; kind to the JSON of
--                      the walk under way, see walk.lua
--       2 sorted set   pending: members of the kind to when their erasure began, µs since 1970
--       3 sorted set   reports: fields of erasures to when they ended, µs since 1970
--       4 sorted set   agenda of erasures: kinds to when their walk continues, µs since 1970
--       5 stream       audit
-- ARGV  1 field        of the erasure
--       2 kind
--       3 member
--       4 line         for the audit
--       5 kept         lines that the audit keeps, approximately
--       6 most         erasures of a kind that may be pending
--       7 boards       '1': boards have this kind; '0': none has it, so the erasure ends at once. Erasures of kinds that
--                      callers make up delay no others
-- Result {'ok', the state as JSON}: no other request of the member has its 'began', in µs since 1970;
--         or {'full'}: too many are pending, and the call has changed nothing
-- Cost   O(log n)

local erasures, pending, reports, agenda, audit = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local field, kind, member, line, kept, most, boards = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]

local waits = call('ZSCORE', pending, member)
local ends = boards == '0' and not waits
if not waits and not ends and call('ZCARD', pending) >= most then return {'full'} end
local was, walk = call('HGET', erasures, field) or '', call('HGET', erasures, kind) or ''
local began = math.max(now, (number_of(was, 'began') or 0) + 1, (number_of(walk, 'began') or 0) + 1)
local state = state_of(0, 0, 0, began)
if ends then state = state .. format(',"ended":%.0f', began) end
state = state .. '}'
-- The line comes first: if Redis refuses it, the call has changed nothing.
call('XADD', audit, 'MAXLEN', '~', kept, '*', 'line', line)
call('HSET', erasures, field, state)
if ends then
  call('ZADD', reports, format('%.0f', began), field)
  delete_reports(erasures, reports, agenda)
else
  call('ZREM', reports, field)
  call('ZADD', pending, format('%.0f', began), member)
  -- NX: a kind that a node has claimed keeps its time.
  call('ZADD', agenda, 'NX', format('%.0f', now), kind)
end
return {'ok', state}
