-- Raises the revision of the moderation to at least the given one. A node calls it after Redis has
-- lost a later revision.
--
-- KEYS  1 hash         definitions: 'moderated' is the latest revision, see censor.lua
-- ARGV  1 revision     µs since 1970
-- Result {'ok'}
-- Cost   O(1)

local definitions, revision = KEYS[1], ARGV[1]

if tonumber(redis.call('HGET', definitions, 'moderated') or 0) < tonumber(revision) then
  redis.call('HSET', definitions, 'moderated', revision)
end
return {'ok'}
