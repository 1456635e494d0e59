-- The part of apply.lua for a board-period with a moderation in force. Follows board.lua.

-- Returns the key of a member that is hidden, or false.
local function hidden_key(member) return call('ZSCORE', hiddens, member) end

