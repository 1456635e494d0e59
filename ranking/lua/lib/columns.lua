-- The columns of a score, see Columns in ranking/definition. Follows apply_state.lua. All numbers are integers below 2^53, so
-- that they are exact.

local each = {} -- of each column, from the left: its sign in a score, its least value, its greatest value
for s, low, high in ARGV[21]:gmatch('(%S+) (%S+) (%S+)') do each[#each + 1] = {tonumber(s), tonumber(low), tonumber(high)} end

-- Returns the values of the columns in a score.
local function split(score)
  local values = {}
  for i = #each, 1, -1 do
    local s, low, high = each[i][1], each[i][2], each[i][3]
    local least, width = s > 0 and low or -high, high - low + 1
    local v = (score - least) % width + least
    values[i], score = s * v, (score - v) / width
  end
  return values
end

-- Returns the score of values.
local function join(values)
  local score = 0
  for i, c in ipairs(each) do score = score * (c[3] - c[2] + 1) + c[1] * values[i] end
  return score
end

-- Returns by how much a score changes when amounts are added to its columns; or 0, and the result for the first column that would
-- leave its range.
local function change(score, amounts)
  local values, i = split(score), 0
  for n in amounts:gmatch('%S+') do
    i = i + 1
    values[i] = values[i] + n
    if values[i] < each[i][2] or values[i] > each[i][3] then return 0, ('bejklquv'):sub(i, i) end
  end
  return join(values) - score
end

-- Returns a score less what an update changed that led from an old score to a new one. Each column stays in its range.
local function less(score, new, old)
  local values, to, from = split(score), split(new), split(old)
  for i, c in ipairs(each) do values[i] = math.max(c[2], math.min(c[3], values[i] - to[i] + from[i])) end
  return join(values)
end
