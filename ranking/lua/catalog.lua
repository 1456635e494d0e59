-- Reads all definitions, unless the caller has their version, and the revision of the moderation.
--
-- KEYS  1 hash         definitions: 'layout', see layout.go; 'version'; 'moderated' and 'forgotten', see censor.lua; and the
--                      fields that define.lua and mark.lua write
-- ARGV  1 version      that the caller has
-- Result {now in µs since 1970, layout ('': none), version ('0': none), revision of the moderation
--         ('0': none), {field, value, ...}}; the list is empty if the caller has this version
-- Cost   O(1), or O(fields) for another version

local definitions, known = KEYS[1], ARGV[1]

local call = redis.call

local time = call('TIME')
local now = string.format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2]))
local state = call('HMGET', definitions, 'layout', 'version', 'moderated')
local version = state[2] or '0'
return {
  now, state[1] or '', version, state[3] or '0',
  version == known and {} or call('HGETALL', definitions)
}
