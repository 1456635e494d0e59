-- Removes events that have left a window, and on a live board their part of the scores. Follows
-- lib/board.lua, lib/changes.lua, lib/rank.lua, lib/sort_key.lua and lib/window.lua.
--
-- KEYS  1 to 10        see board.lua
--       11 to 14       see window.lua
-- ARGV  1 to 5         see board.lua
--       6 lease        end of the time in which the caller may rely on its copy of the definitions, µs
--                      since 1970
--       7 shape        of the definition
--       8 window       ms
--       9 mode         sum, best or last
--      10 live         '1': a live board
--      11 most         events that this call removes at most
--      12 epoch        for a live board that loses its last event
-- Result {'ok', now in µs since 1970, number of removed events, when the oldest remaining event
--         happened in ms since 1970 (0: none)}, {'stale'} (the lease is over) or {'shape'} (the board is
--         of another shape)
-- Cost   O(most * log n)

local lease, shape = tonumber(ARGV[6]), ARGV[7]
window.length, window.mode, window.live = tonumber(ARGV[8]), ARGV[9], ARGV[10] == '1'
local most, epoch = tonumber(ARGV[11]), ARGV[12]

if now >= lease then return {'stale'} end
local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'from', 'span', 'shape', 'data', 'moderated')
window.with_data, window.moderated = state[7], state[8]
if state[6] and state[6] ~= shape then return {'shape'} end
local removed = 0
if state[6] then
  clock = math.max(now, tonumber(state[3]) + 1)
  local before, restarted = clock, false
  removed, restarted = window.sweep(most, tonumber(state[4] or 0), tonumber(state[5] or 0), epoch)
  if clock > before and not restarted then publish(state[1], tonumber(state[2]), clock + 1) end
end
local oldest = call('ZRANGE', events, 0, 0, 'WITHSCORES')[2]
return {'ok', format('%.0f', now), removed, oldest and format('%.0f', tonumber(oldest)) or 0}
