-- Puts members on an agenda, or changes when they are due. Follows lib/full_set.lua.
--
-- KEYS  1 sorted set   agenda: member to when it is due, µs since 1970
-- ARGV  1 when         'NX': only members that are not there; 'LT': none to a later time; 'GT': none
--                      to an earlier time
--       2 ...          two for each member, 1 to 1,000 members: when it is due, and the member
-- Result {'ok'}
-- Cost   O(log n) for each member

redis.call('ZADD', KEYS[1], unpack(ARGV))
return {'ok'}
