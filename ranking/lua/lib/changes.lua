-- Functions for the changes of a board-period. Follows board.lua.

local function score_of(key) return sign * floor(key) + 0 end -- +0: never -0

local function publish(epoch, seq, clock)
--+ file publish
end
