-- Reads all definitions, where they are not those that the caller knows, and how far
-- moderation has come.
--
-- KEYS  1 hash         definitions: 'version', and what store.define has put there
--       2 sorted set   hidden, see censor.lua
--       3 sorted set   shown, see censor.lua
-- ARGV  1 version      that the caller knows
-- Result {now in µs since 1970, revision of the moderation, 0 for none, version,
--         {field, value, ...} or {}}
-- Cost   O(1), or O(definitions)

local definitions, hidden, shown = KEYS[1], KEYS[2], KEYS[3]
local known = ARGV[1]

local call, format = redis.call, string.format

local time = call('TIME')
local now = format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2]))
local function latest(set) return tonumber(call('ZRANGE', set, -1, -1, 'WITHSCORES')[2] or 0) end
local version = call('HGET', definitions, 'version') or '0'
return {
  now, format('%.0f', math.max(latest(hidden), latest(shown))), version,
  version == known and {} or call('HGETALL', definitions)
}
