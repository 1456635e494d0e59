-- Carries out occurrences of one event on a Redis that holds all of their boards: records their
-- ids, applies their updates, and publishes them. Three scripts do the work, see Event in
-- ranking/internal/script. They stand in front of this file, as functions of KEYS and ARGV:
--
--   begin      begin.lua
--   apply      a list of apply.lua, each with the parts that some of the boards need
--   publish    publish.lua
--
-- KEYS  1, 2 hashes    ids of the event, see begin.lua
--       then those of each board, see apply.lua
-- ARGV  1, 2 counts    of the arguments of begin.lua, and of publish.lua
--       3 boards       count
--       then three for each board:
--         script       place in apply
--         keys, args   counts of its keys and of its arguments
--       then the arguments of begin.lua, those of publish.lua, and those of each board
-- Result {begun, replies, published}
--         begun        the result of begin.lua. If it has 'm' or 't', no update was applied, and
--                      the result ends here
--         replies      for each board the result of apply.lua, or an error. If an update was not
--                      applied, the occurrences were not published, and the result ends here
--         published    the result of publish.lua, or an error
-- Cost   that of begin.lua, apply.lua and publish.lua

local begins, publishes, boards = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local BOARDS, BOARD = 3, 3 -- arguments before those of the boards, and of each board
local APPLIED, DUPLICATE = 97, 100 -- 'a' and 'd', with which the result of an update begins

local at = BOARDS + boards * BOARD -- number of arguments that have been used
local begun = begin(KEYS, {unpack(ARGV, at + 1, at + begins)})
for _, state in ipairs(begun) do
  if state == 'm' or state == 't' then return {begun} end
end
at = at + begins
local items = {unpack(ARGV, at + 1, at + publishes)}
at = at + publishes

local key = 2 -- number of keys that have been used
local replies, counted = {}, true
for i = BOARDS + 1, BOARDS + boards * BOARD, BOARD do
  local keys, args = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  -- A board that Redis cannot write to fails no other board.
  local ok, reply = pcall(apply[tonumber(ARGV[i])], {unpack(KEYS, key + 1, key + keys)}, {unpack(ARGV, at + 1, at + args)})
  if not ok and type(reply) ~= 'table' then reply = redis.error_reply('ERR ' .. reply) end
  key, at = key + keys, at + args
  replies[#replies + 1] = reply
  counted = counted and reply[1] == 'ok'
  for n = 2, #reply do
    local first = reply[n]:byte()
    counted = counted and (first == APPLIED or first == DUPLICATE)
  end
end
if not counted then return {begun, replies} end
local ok, published = pcall(publish, KEYS, items)
if not ok and type(published) ~= 'table' then published = redis.error_reply('ERR ' .. published) end
return {begun, replies, published}
