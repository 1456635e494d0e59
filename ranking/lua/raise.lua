-- Has the moderation be at a revision at least, where what it was at has been lost.
--
-- KEYS  1 hash         definitions: 'moderated' is the latest revision, see censor.lua
-- ARGV  1 revision
-- Result {'ok'}
-- Cost   O(1)

local definitions, revision = KEYS[1], ARGV[1]

if tonumber(redis.call('HGET', definitions, 'moderated') or 0) < tonumber(revision) then
  redis.call('HSET', definitions, 'moderated', revision)
end
return {'ok'}
