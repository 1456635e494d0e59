-- The events of a board with a window: each update adds one, which counts until its time is
-- over. Other scripts begin with this one, after board.lua and key.lua, and set what
-- window needs before they use it.
--
-- KEYS  the last four:
--         sorted set   events: 'member|n|score' by when they happened, ms since 1970; n is
--                      the board's clock when it came, in hex, which no other has; ids of
--                      members may contain '|'
--         hash         tallies: member to how many of its events count, and with mode sum
--                      what those come to that add and those that subtract: 'count plus
--                      minus'. Both are bounded, so that the rest is exact whenever some go
--         sorted set   forgotten: members to the n up to which their events do not count any
--                      more, though they may still be there
--         string       the lock of who builds the board, see lock.lua

local events, tallies, forgotten, lock = KEYS[#KEYS - 3], KEYS[#KEYS - 2], KEYS[#KEYS - 1], KEYS[#KEYS]

local window = {
  length = nil, -- ms
  mode = nil, -- sum, best or last
  live = nil, -- whether points leave the board one by one
  with_data = nil, -- whether some have had data
  moderated = nil -- whether anybody was ever hidden
}

local SOME = 32
local BUILDS = 600 * 1000000 -- µs that a build may take

window.MOST = 2 ^ 53 - 1 -- of what adds, and of what subtracts

-- Until when, in ms, it is over for what happened.
function window.over() return floor(now / 1000) - window.length end

-- Until when, in ms, events go: not those that whoever builds has yet to read.
local function goes_until()
  local over = window.over()
  if window.live then return over end
  local till, since = (call('GET', lock) or ''):match('^%S+ (%d+) (%d+)$')
  if till and now < tonumber(till) then return math.min(over, floor(tonumber(since) / 1000) - window.length) end
  return over
end

local function parse(event)
  local member, n, score = event:match('^(.*)|(%x+)|(-?%d+)$')
  return member, tonumber(n, 16), tonumber(score)
end

-- What counts of a member: how many events, and what they come to.
local function tally_of(text)
  if not text then return 0, 0, 0 end
  local count, plus, minus = text:match('^(%d+) (%d+) (%d+)$')
  return tonumber(count), tonumber(plus), tonumber(minus)
end

function window.tally(member) return tally_of(call('HGET', tallies, member)) end

local function text_of(count, plus, minus) return format('%.0f %.0f %.0f', count, plus, minus) end

function window.keep(member, count, plus, minus)
  if count > 0 then call('HSET', tallies, member, text_of(count, plus, minus)) else call('HDEL', tallies, member) end
end

-- Counts an event in or, with a step of -1, out.
function window.count(score, step, count, plus, minus)
  if window.mode ~= 'sum' then return count + step, 0, 0 end
  if score < 0 then return count + step, plus, minus - step * score end
  return count + step, plus + step * score, minus
end

-- Has the score of a member on a live board be what its tally says, now.
local function come_to(member, count, score, from, span)
  local seen = call('ZSCORE', members, member)
  local key = seen or window.moderated and call('ZSCORE', hiddens, member)
  if not key or count > 0 and score_of(key) == score then return end
  clock = clock + 1 -- each has its own, by which equals are ordered
  if count <= 0 then
    if seen then leave(member, key) else call('ZREM', hiddens, member) end
    if window.with_data then call('HDEL', datas, member) end
    return
  end
  local s = sign * score + 0 -- +0: never -0
  local new = ties == 'member' and format('%.0f', s) or key_of(members, window.moderated and hiddens or nil, s, clock - from, span)
  if seen then
    move(member, key, new, window.with_data and call('HGET', datas, member) or '')
  else
    call('ZADD', hiddens, new, member)
  end
end

-- Has those not be forgotten any more whose events all have gone, also from what may be
-- being built; some at a time.
local function let_go(over)
  local past = call('ZRANGEBYSCORE', forgotten, '-inf', format('%.0f', over * 1000 - BUILDS), 'LIMIT', 0, SOME)
  if #past > 0 then call('ZREM', forgotten, unpack(past)) end
end

-- Has events go whose time is over, so many at most, the oldest first, and on a live board
-- what they were worth. It says how many, whether all is gone (where there are more, and
-- none that counts, a live board is another from then on, with that epoch), and whether
-- there are more that are to go.
function window.sweep(most, from, span, epoch)
  local over = goes_until()
  local due = call('ZRANGEBYSCORE', events, '-inf', format('%.0f', over), 'LIMIT', 0, most)
  if #due == most and tonumber(call('ZRANGE', events, -1, -1, 'WITHSCORES')[2]) <= over then
    call('UNLINK', events, tallies, forgotten)
    if window.live and call('EXISTS', members, hiddens) > 0 then
      call('UNLINK', members, datas, distinct, hiddens)
      clock = clock + 1
      call('HSET', meta, 'epoch', epoch, 'seq', '1', 'clock', format('%.0f', clock))
      call('PUBLISH', channel, format('%s\31%s\31%s\0311', board, period, epoch))
      return most, true, false
    end
    return most, false, false
  end
  if #due == 0 then
    let_go(over)
    return 0, false, false
  end
  -- One that has several goes down once, at the place of its last.
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
      if its[j] > since then count, plus, minus = window.count(its[j + 1], -1, count, plus, minus) end
    end
    if count ~= before then
      if count > 0 then
        kept[#kept + 1], kept[#kept + 2] = member, text_of(count, plus, minus)
      else
        gone[#gone + 1] = member
      end
      worth[member] = {count, plus - minus}
    end
  end
  if #kept > 0 then call('HSET', tallies, unpack(kept)) end
  if #gone > 0 then call('HDEL', tallies, unpack(gone)) end
  call('ZREMRANGEBYRANK', events, 0, #due - 1)
  if #due < most then let_go(over) end
  local oldest = #due == most and call('ZRANGE', events, 0, 0, 'WITHSCORES')[2]
  if window.live then
    for i, member in ipairs(names) do
      local now_is = last[member] == i and worth[member]
      if now_is then come_to(member, now_is[1], now_is[2], from, span) end
    end
  end
  return #due, false, oldest and tonumber(oldest) <= over
end

-- Has none of a member's events count any more that came before a moment of the board's
-- clock.
function window.forget(member, at) call('ZADD', forgotten, format('%.0f', at - 1), member) end

-- The event of an update that came at a moment of the board's clock.
function window.event(member, at, score) return format('%s|%x|%s', member, at, score) end

-- Whether such an event is there, and counts; it goes.
function window.undo(member, at, score)
  return call('ZREM', events, window.event(member, at, score)) == 1 and at > tonumber(call('ZSCORE', forgotten, member) or -1)
end

