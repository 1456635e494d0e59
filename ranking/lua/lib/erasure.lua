-- The states of erasures. A state is JSON in the hash of erasures. The state of an erasure that has
-- ended is a report, which Redis keeps for a day.

local call, format = redis.call, string.format

local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local REPORTS = 100000 -- kept at most
local KEPT = 24 * 3600 * 1000000 -- µs that a report is kept
local SOME = 1000 -- reports deleted in one call at most
local DELETION = '/' -- the item on the agenda for reports to be deleted; no kind has this name

-- Returns a whole number of a state or of a walk, or nil.
local function number_of(text, name) return tonumber(text:match('"' .. name .. '":(%d+)') or '') end

local function state_of(boards, removed, left, began) -- without its end
  local text = format('{"boards":%.0f,"removed":%.0f,"began":%.0f', boards, removed, began)
  if left > 0 then text = text .. format(',"left":%.0f', left) end
  return text
end

-- Deletes reports whose time is over, and the oldest where there are too many. Schedules the next
-- deletion.
local function delete_reports(erasures, reports, agenda)
  local gone = call('ZRANGEBYSCORE', reports, '-inf', format('%.0f', now - KEPT), 'LIMIT', 0, SOME)
  local beyond = math.min(call('ZCARD', reports) - REPORTS, SOME)
  if beyond > #gone then gone = call('ZRANGE', reports, 0, beyond - 1) end
  for _, field in ipairs(gone) do
    call('ZREM', reports, field)
    if (call('HGET', erasures, field) or ''):find('"ended":', 1, true) then call('HDEL', erasures, field) end
  end
  local oldest = call('ZRANGE', reports, 0, 0, 'WITHSCORES')
  if oldest[2] then
    call('ZADD', agenda, format('%.0f', tonumber(oldest[2]) + KEPT), DELETION)
  else
    call('ZREM', agenda, DELETION)
  end
end
