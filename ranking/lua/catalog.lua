-- Reads all definitions, where they are not those that the caller knows, and how far
-- moderation has come.
--
-- KEYS  1 hash         definitions: 'version', what store.define has put there, and
--                      'moderated', see censor.lua
-- ARGV  1 version      that the caller knows
-- Result {now in µs since 1970, revision of the moderation, 0 for none, version,
--         {field, value, ...} or {}}
-- Cost   O(1), or O(definitions)

local definitions, known = KEYS[1], ARGV[1]

local call = redis.call

local time = call('TIME')
local now = string.format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2]))
local version = call('HGET', definitions, 'version') or '0'
return {
  now, call('HGET', definitions, 'moderated') or '0', version,
  version == known and {} or call('HGETALL', definitions)
}
