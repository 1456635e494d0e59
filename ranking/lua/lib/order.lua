-- The order of members with equal sort keys.

-- Reports whether one member comes after another, by bytes, as in a sorted set. (Lua's < depends on
-- the locale of the server.)
local function after(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = a:byte(i), b:byte(i)
    if x ~= y then return x > y end
  end
  return #a > #b
end

