-- Reads the state and the size of a board-period.
--
-- KEYS  1 sorted set   member by sort key
--       2 hash         meta: epoch, seq, clock, span, built
--       3, 4           not used
--       5 sorted set   for a live window only: its events, see window.lua
-- Result {now, built or '0', oldest, frozen or '', epoch or '', seq, total, clock or '0', span or '0', first key or
--         '', last key or ''}
--         now, built (when the build of the result began) and clock (when the board last changed)
--         are in µs since 1970; span is in µs. oldest is when the oldest event happened, in ms since
--         1970, '0' for none.
-- Cost   O(log n)

local members, meta, events = KEYS[1], KEYS[2], KEYS[5]

local call = redis.call

local time = call('TIME')
local now = string.format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2]))
local state = call('HMGET', meta, 'epoch', 'seq', 'clock', 'span', 'built', 'frozen')
local first, last = call('ZRANGE', members, 0, 0, 'WITHSCORES'), call('ZRANGE', members, -1, -1, 'WITHSCORES')
local oldest = events and call('ZRANGE', events, 0, 0, 'WITHSCORES')[2] or '0'
return {now, state[5] or '0', oldest, state[6] or '', state[1] or '', state[2] or '0', call('ZCARD', members),
  state[3] or '0', state[1] and state[4] or '0', first[2] or '', last[2] or ''}
