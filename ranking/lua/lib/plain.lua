-- What stands for window.lua on a board that has none. Other scripts begin with this one.

local window = nil

