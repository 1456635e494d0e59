-- Reads a part of the history of a board-period, and the state of the history with it.
--
-- KEYS  1 hash         meta: moderated, the revision of the moderation by which the board was changed last
--       2 hash         state of the history, see record.lua
--       3 stream       steps, see record.lua
--       4 hash         numbers, see record.lua
-- ARGV  1 from         ms since 1970; 0: begin at the first step
--       2 to           ms since 1970: the last step at most; '+': none
--       3 before       steps up to from, at most; 0: none
--       4 after        steps after from, at most
--       5 member       whose number the caller wants; '': none
-- Result {moderated or '0', last or '0', seen or '0', the member's 'number rank at' or '', {at, step, ...}, {at, step, ...}}
--         first the steps up to from, the latest first, then those after it in order; at, last and seen are in ms
--         since 1970. last and seen are '0' before the first step.
-- Cost   O(log n + before + after)

local meta, state, steps, numbers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local from, to, before, after, member = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local call = redis.call

local function flat(entries)
  local list = {}
  for _, entry in ipairs(entries) do
    list[#list + 1] = string.match(entry[1], '^%d+')
    list[#list + 1] = entry[2][2]
  end
  return list
end

local known = call('HMGET', state, 'last', 'seen')
local earlier, start = {}, '-'
if from > 0 then
  start = string.format('%.0f', from + 1)
  if before ~= '0' then earlier = call('XREVRANGE', steps, string.format('%.0f', from), '-', 'COUNT', before) end
end
local number = member ~= '' and call('HGET', numbers, member) or ''
local later = flat(call('XRANGE', steps, start, to, 'COUNT', after))
return {call('HGET', meta, 'moderated') or '0', known[1] or '0', known[2] or '0', number, flat(earlier), later}
