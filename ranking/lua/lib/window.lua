-- Removes the events of a window that are over. Each update of a board with a window adds an event,
-- which counts until its time is over. The script sets the fields of window before it calls
-- window.sweep. Follows changes.lua, ranks and sort_key.lua.
--
-- KEYS  the last four:
--         sorted set   events: 'member|n|score' by when they happened, ms since 1970; n is the
--                      board's clock when the event came, in hex, which no other event has; ids of
--                      members may contain '|'
--         hash         tallies: member to 'count plus minus': how many of its events count, and with
--                      mode sum what they add and what they subtract. Both sums are bounded, so
--                      each stays exact when events leave
--         sorted set   forgotten: members to the n up to which their events do not count any more,
--                      though some may still be there
--         string       the lock of the node that builds the result, see lock.lua

local events, tallies, forgotten, lock = KEYS[#KEYS - 3], KEYS[#KEYS - 2], KEYS[#KEYS - 1], KEYS[#KEYS]

local window = {
  length = nil, -- ms
  mode = nil, -- sum, best or last
  live = nil, -- whether events leave the scores one by one
  with_data = nil, -- whether some members have had data
  moderated = nil -- whether somebody was ever hidden
}

local FORGOTTEN_EACH = 32 -- forgotten members that one call drops at most
local BUILDS = 600 * 1000000 -- µs that a build may take

-- Returns the time, in ms, up to which events may go. A build under way still reads later ones.
local function goes_until()
  local over = floor(now / 1000) - window.length
  if window.live then return over end
  local till, since = (call('GET', lock) or ''):match('^%S+ (%d+) (%d+)$')
  if till and now < tonumber(till) then return math.min(over, floor(since / 1000) - window.length) end
  return over
end

local function parse(event)
  local member, n, score = event:match('^(.*)|(%x+)|(-?%d+)$')
  return member, tonumber(n, 16), tonumber(score)
end

local function tally_of(text)
  if not text then return 0, 0, 0 end
  local count, plus, minus = text:match('^(%d+) (%d+) (%d+)$')
  return tonumber(count), tonumber(plus), tonumber(minus)
end

-- Takes an event out of a tally.
local function without(score, count, plus, minus)
  if window.mode ~= 'sum' then return count - 1, 0, 0 end
  if score < 0 then return count - 1, plus, minus + score end
  return count - 1, plus - score, minus
end

-- Gives a member of a live board the score of its tally, reached now.
local function set_score(member, count, score, from, span)
  local seen = call('ZSCORE', members, member)
  local key = seen or window.moderated and call('ZSCORE', hiddens, member)
  if not key or count > 0 and score_of(key) == score then return end
  clock = clock + 1 -- each member has its own time, which orders equal scores
  if count <= 0 then
    if seen then leave(member, key) else call('ZREM', hiddens, member) end
    if window.with_data then call('HDEL', datas, member) end
    return
  end
  local s = sign * score + 0 -- +0: never -0
  local new = ties == 'member' and format('%d', s) or key_of(members, window.moderated and hiddens or nil, s, clock - from, span)
  if seen then
    move(member, key, new, window.with_data and call('HGET', datas, member) or '')
  else
    call('ZADD', hiddens, new, member)
  end
end

-- Drops some forgotten members whose events have all gone, also from a result under way.
local function drop_forgotten(over)
  local past = call('ZRANGEBYSCORE', forgotten, '-inf', format('%d', over * 1000 - BUILDS), 'LIMIT', '0', FORGOTTEN_EACH)
  if #past > 0 then call('ZREM', forgotten, unpack(past)) end
end

-- Removes events that are over, the oldest first and at most so many, and on a live board takes
-- them out of the scores. Returns how many it removed, whether the board began a new life, and
-- whether more events are over. A live board begins a new life, with the given epoch, when more
-- events are over than one call removes and no event counts any more.
function window.sweep(most, from, span, epoch)
  local over = goes_until()
  local due = call('ZRANGEBYSCORE', events, '-inf', format('%d', over), 'LIMIT', 0, most)
  if #due == most and tonumber(call('ZRANGE', events, -1, -1, 'WITHSCORES')[2]) <= over then
    call('UNLINK', events, tallies, forgotten)
    if window.live and call('EXISTS', members, hiddens) > 0 then
      call('UNLINK', members, datas, distinct, hiddens)
      clock = clock + 1
      call('HSET', meta, 'epoch', epoch, 'seq', '1', 'clock', format('%d', clock))
      call(PUBLISH, channel, format('%s\31%s\31%s\0311', board, period, epoch))
      return most, true, false
    end
    return most, false, false
  end
  if #due == 0 then
    drop_forgotten(over)
    return 0, false, false
  end
  -- A member with several events changes once, in the order of the last ones.
  local whose, names, last, of = {}, {}, {}, {}
  for i, event in ipairs(due) do
    local member, n, score = parse(event)
    local its = of[member]
    if not its then
      its = {}
      of[member], whose[#whose + 1] = its, member
    end
    names[i], last[member] = member, i
    its[#its + 1], its[#its + 2] = n, score
  end
  local texts, dead = call('HMGET', tallies, unpack(whose)), {}
  if call('EXISTS', forgotten) == 1 then dead = call('ZMSCORE', forgotten, unpack(whose)) end
  local worth, kept, gone = {}, {}, {}
  for i, member in ipairs(whose) do
    local count, plus, minus = tally_of(texts[i])
    local before, since = count, tonumber(dead[i] or -1)
    local its = of[member]
    for j = 1, #its, 2 do
      if its[j] > since then count, plus, minus = without(its[j + 1], count, plus, minus) end
    end
    if count ~= before then
      if count > 0 then
        kept[#kept + 1], kept[#kept + 2] = member, format('%d %d %d', count, plus, minus)
      else
        gone[#gone + 1] = member
      end
      worth[member] = {count, plus - minus}
    end
  end
  if #kept > 0 then call('HSET', tallies, unpack(kept)) end
  if #gone > 0 then call('HDEL', tallies, unpack(gone)) end
  call('ZREMRANGEBYRANK', events, 0, #due - 1)
  if #due < most then drop_forgotten(over) end
  local oldest = #due == most and call('ZRANGE', events, 0, 0, 'WITHSCORES')[2]
  if window.live then
    for i, member in ipairs(names) do
      local now_is = last[member] == i and worth[member]
      if now_is then set_score(member, now_is[1], now_is[2], from, span) end
    end
  end
  return #due, false, oldest and tonumber(oldest) <= over
end
