-- Functions for the changes of a board-period. Follows board.lua.

local function score_of(key) return sign * floor(key) + 0 end -- +0: never -0

-- Publishes the changes and adds them to seq. The clock is past all that was written.
local function publish(epoch, seq, clock)
  call('HSET', meta, 'seq', format('%d', seq + #changes), 'clock', format('%d', clock))
  if #changes == 0 then return end
  call('PUBLISH', channel, format('%s\31%s\31%s\31%d\31%d\30', board, period, epoch, seq + 1, now) .. table.concat(changes, '\30'))
end

