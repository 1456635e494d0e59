-- Makes pending scores of a frozen board-period public, as they are: each member comes to the sort key that it would have without the
-- freeze. When none is left, the freeze ends. Follows lib/board.lua, lib/changes.lua, lib/order.lua, lib/rank.lua, lib/leaving.lua
-- and lib/notify.lua.
--
-- KEYS  1 to 15        see board.lua and freeze.lua
-- ARGV  1 to 5         see board.lua
--       6 shape        of the definition
--       7 revision     of the moderation that the caller knows
--       8 hides        '1' or '0' for each member: it is hidden; '': none is
--       9 birth        'from span epoch' for a new board-period
--      10 times        'opens closes' of the period, see settle.lua
--      11 freezes      when the definition freezes it, if that time has come; 0: it does not, or not yet
--      12 kind         of the members
--      13 rest         '1': reveal what is left and is no step: hidden members, and data
--         then members, up to 128
-- Result {'no'}: it is not frozen, {'shape'}, {'behind', the revision in force}, or
--         {'ok', members left, 1 if the freeze has ended, else 0, then for each given member '' if it is public already, or
--           rank ' ' score ' ' old rank ' ' old score; '-': none}
-- Cost   O(log n) a member, and up to 128 more at the end

local shape, revision, hides, birth, times = ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9], ARGV[10]
local freezes, kind, rest = tonumber(ARGV[11]), ARGV[12], ARGV[13] == '1'
local pending, pending_hiddens, pending_datas, publics, newcomers = KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15]
local FIRST, GONE, MOST = 14, 2 ^ 60, 128

local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'shape', 'frozen', 'pending', 'from', 'span', 'moderated', 'data')
local epoch, seq, frozen = state[1], tonumber(state[2] or 0), state[5]
local over = 'ended ' .. ARGV[11]
if frozen and frozen:find('^ended') and frozen ~= over then frozen = nil end
if frozen == over or not frozen and freezes == 0 then return {'no'} end
if state[4] and state[4] ~= shape then return {'shape'} end
if state[9] and revision < tonumber(state[9]) then return {'behind', state[9]} end
clock = math.max(now, tonumber(state[3] or 0) + 1, tonumber(state[6] or 0) + 1)

-- Creates the public board-period before its first member comes.
local function ensure()
  if epoch then return end
  epoch = create(birth, shape, state[7], state[8], state[9] and 0 or revision, kind)
  if revision > 0 then state[9] = state[9] or format('%d', revision) end
end

-- Stores the data that a member has from now on, and returns them; '' for none.
local function take_data(member)
  local data = call('HGET', pending_datas, member)
  if not data then return call('HGET', datas, member) or '' end
  call('HDEL', pending_datas, member)
  if data == 'null' then
    call('HDEL', datas, member)
    return ''
  end
  call('HSET', datas, member, data)
  if not state[10] then call('HSET', meta, 'data', '1') end
  return data
end

-- Brings a member from its public key, or false, to a key. Returns its rank and its score; '-' for none.
local function show(member, public, key, hide)
  if tonumber(key) >= GONE then
    call('HDEL', pending_datas, member)
    if public or call('ZSCORE', hiddens, member) then
      remove(member, public)
    end
    return '-', '-'
  end
  ensure()
  local data = take_data(member)
  if hide then
    if public then leave(member, public) end
    call('ZADD', hiddens, key, member)
    if not state[9] then call('HSET', meta, 'moderated', '0') end
    return '-', score_of(key)
  end
  call('ZREM', hiddens, member)
  return move(member, public or nil, key, data), score_of(key)
end

local results, revealed = {'ok', 0, 0}, false
for i = FIRST, #ARGV do
  local member, result = ARGV[i], ''
  local key = call('ZSCORE', pending, member)
  if key then
    local public = call('ZSCORE', members, member)
    local old = public and format('%d %d', rank_of(member, public), score_of(public)) or '- -'
    local rank, score = show(member, public, key, hides:byte(i - FIRST + 1) == 49) -- '1'
    result = (rank == '-' and rank or format('%d', rank)) .. ' ' .. (score == '-' and score or format('%d', score)) .. ' ' .. old
    revealed = true
    call('ZREM', pending, member)
    call('ZREM', publics, member)
    call('ZREM', newcomers, member)
  end
  results[#results + 1] = result
end
local left = call('ZCARD', pending)
if left == 0 and (rest or revealed) then
  local hidden = call('ZRANGE', pending_hiddens, 0, MOST - 1, 'WITHSCORES')
  for i = 1, #hidden, 2 do
    show(hidden[i], call('ZSCORE', members, hidden[i]), hidden[i + 1], true)
    call('ZREM', pending_hiddens, hidden[i])
  end
  if call('ZCARD', pending_hiddens) == 0 then
    -- HSCAN would find ever fewer: from its cursor 0 it passes the places of those that came before.
    for _, member in ipairs(call('HRANDFIELD', pending_datas, MOST)) do
      local public, data = call('ZSCORE', members, member), take_data(member)
      if public then move(member, public, public, data) end
    end
    if call('EXISTS', pending_datas) == 0 then results[3] = 1 end
  end
end
if #changes > 0 then
  clock = clock + #changes
  publish(epoch, seq, clock)
  seq = seq + #changes
end
if results[3] == 1 then
  call('HDEL', meta, 'pending')
  if freezes > 0 then call('HSET', meta, 'frozen', over) else call('HDEL', meta, 'frozen') end
  ensure() -- the period may be empty, but it is there, as without the freeze: housekeeping settles and deletes it
  record_period(times, '')
  notify(epoch, seq, clock)
elseif revealed and not state[6] then
  call('HSET', meta, 'frozen', format('%d', frozen or freezes))
end
results[2] = left
return results
