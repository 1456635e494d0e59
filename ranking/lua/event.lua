-- Carries out occurrences of one event on a Redis that holds all of their boards: records their
-- ids, applies their updates, and publishes them. Four scripts do the work, see Event in
-- ranking/internal/script. They stand in front of this file, as functions of KEYS and ARGV:
--
--   begin      begin.lua
--   plain      apply.lua, the plain script
--   whole      apply.lua, the whole script
--   publish    publish.lua
--
-- KEYS  1, 2 hashes    ids of the event, see begin.lua
--       then those of each board, see apply.lua
-- ARGV  1, 2 counts    of the arguments of begin.lua, and of publish.lua
--       3 boards       count
--       then three for each board:
--         script       'plain' or 'whole'
--         keys, args   counts of its keys and of its arguments
--       then the arguments of begin.lua, those of publish.lua, and those of each board
-- Result {begun, replies, published}
--         begun        the result of begin.lua. If it has another word than 'n' and 's', no update was applied,
--                      and the result ends here
--         replies      for each board the result of apply.lua, or an error. If an update was not
--                      applied, or its board is frozen, the occurrences were not published, and the result
--                      ends here
--         published    the result of publish.lua, or an error
-- Errors no board has changed after an error of this script. The caller relies on that, because it
--        then sends again also what has no id. So all that may fail once a board was called runs
--        in pcall
-- Cost   that of begin.lua, apply.lua and publish.lua

local BOARDS, BOARD = 3, 3 -- arguments before those of the boards, and of each board
local APPLIED, DUPLICATE = ('a'):byte(), ('d'):byte() -- begin the result of an update that counts

local begin_args, publish_args, boards = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local args_used = BOARDS + boards * BOARD
local begun = begin(KEYS, {unpack(ARGV, args_used + 1, args_used + begin_args)})
for _, state in ipairs(begun) do
  if state ~= 'n' and state ~= 's' then return {begun} end
end
args_used = args_used + begin_args
local items = {unpack(ARGV, args_used + 1, args_used + publish_args)}
args_used = args_used + publish_args

-- try calls one of the scripts, and returns its result or its error.
local function try(run, keys, args)
  local ok, result = pcall(run, keys, args)
  if not ok and type(result) ~= 'table' then return redis.error_reply('ERR ' .. result) end
  return result
end

local keys_used = 2
local replies, counted = {}, true
for i = BOARDS + 1, BOARDS + boards * BOARD, BOARD do
  local keys, args = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local reply = try(ARGV[i] == 'whole' and whole or plain, {unpack(KEYS, keys_used + 1, keys_used + keys)},
    {unpack(ARGV, args_used + 1, args_used + args)})
  keys_used, args_used = keys_used + keys, args_used + args
  replies[#replies + 1] = reply
  counted = counted and (reply[1] == 'ok' or reply[1] == 'full')
  for n = 2, #reply do
    local first = reply[n]:byte()
    counted = counted and (first == APPLIED or first == DUPLICATE) and not reply[n]:find(' * ', 1, true)
  end
end
if not counted then return {begun, replies} end
return {begun, replies, try(publish, KEYS, items)}
