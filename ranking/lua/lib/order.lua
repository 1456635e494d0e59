-- The order of members, for other scripts to begin with.

-- Whether one member comes after another: by bytes, as sorted sets have it. (Lua's <
-- follows the server's locale.)
local function after(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = a:byte(i), b:byte(i)
    if x ~= y then return x > y end
  end
  return #a > #b
end

