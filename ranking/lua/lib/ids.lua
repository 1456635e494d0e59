-- Request ids, each with a record of its result. Two hashes keep them in turns. The scripts divide time into
-- spans of one length, at least as long as an id counts: lengths are in µs, and the caller gives them. While
-- the length stays as it is, one hash has the ids of one span, and the other one those of the span
-- before, so an id is known for one to two spans.
--
-- The field '' of a hash holds 'start ends', in µs since 1970: start is that of the span in which the
-- hash got its first id, and from ends on it is free. A hash becomes free at no other time. A new id sets the
-- ends: its hash stays as long as that id, and the other hash no longer. So after a change of the length, or after the
-- clock was set back, each id still stays for the length from now on.
--
-- No id is in both hashes: so it does not matter which of them is read first.
--
-- Redis deletes a free hash by itself, also that of a board without writes. Without its setting
-- lazyfree-lazy-expire, Redis answers no command meanwhile: it needed 0.4 s for a million ids. So the hash
-- stays for a minute more, in which the next id deletes it in the background.
local IDS_FREE = 60 * 1000000 -- µs

-- Returns start and ends of a hash; -1 and 0: it is free.
local function ids_span(hash, now)
  local start, ends = (redis.call('HGET', hash, '') or ''):match('^(%d+) (%d+)$')
  ends = tonumber(ends or 0)
  if now >= ends then return -1, 0 end
  return tonumber(start), ends
end

-- Returns the records of ids in a hash, as HMGET does. For one id HMGET takes three times as long as HGET.
local function ids_read(hash, ids)
  if #ids == 1 then return {redis.call('HGET', hash, ids[1])} end
  return redis.call('HMGET', hash, unpack(ids))
end

-- Looks up ids. now is in µs since 1970. Returns the records that are known, by id, and what
-- the functions below need.
local function ids_find(hashes, now, length, ids)
  if #ids == 0 then return {} end
  local start0, ends0 = ids_span(hashes[0], now)
  local start1, ends1 = ids_span(hashes[1], now)
  local known, place, start, ends = {}, {}, {[0] = start0, start1}, {[0] = ends0, ends1}
  local newer, span, is_new = start1 > start0 and 1 or 0, now - now % length, false
  if start[newer] < 0 then
    is_new = true
  elseif span > start[newer] and start[1 - newer] < 0 then
    newer = 1 - newer
    is_new = true
  end
  local has_older = start[1 - newer] >= 0
  local now_has = not is_new and ids_read(hashes[newer], ids)
  local before_had = has_older and ids_read(hashes[1 - newer], ids)
  for i, id in ipairs(ids) do
    if now_has and now_has[i] then
      known[id], place[id] = now_has[i], newer
    elseif before_had and before_had[i] then
      known[id], place[id] = before_had[i], 1 - newer
    end
  end
  local keep = span + 2 * length
  if is_new or start[newer] > now then start[newer] = span end -- the clock may have been set back since
  return known, {
    newer = newer, has_older = has_older, is_new = is_new, -- the hash that takes new ids, and whether it gets its first
    start = start, ends = ends,
    keep = keep, -- until when the hash newer is kept with new ids, and the other one at most
    place = place -- the hash of each id that is known
  }
end

-- Returns how many more ids the hashes may take if they may hold most, and when the first of them becomes free, in µs
-- since 1970. ends and keep are as in ids_find.
local function ids_room(hashes, ends, most, keep)
  local room, free = most, keep
  for i = 0, 1 do
    if ends[i] > 0 then
      room = room - redis.call('HLEN', hashes[i]) + 1 -- the field '' is no id
      free = math.min(free, ends[i])
    end
  end
  return room, free
end

local function ids_expire(hash, start, ends, now)
  redis.call('HSET', hash, '', string.format('%.0f %.0f', start, ends))
  redis.pcall('PEXPIRE', hash, string.format('%.0f', math.ceil((ends + IDS_FREE - now) / 1000)))
end

-- Stores records of ids: {id, record, id, record, ...}. now is Redis's clock, in µs since 1970. A known id moves to the
-- hash of the new ones.
local function ids_keep(hashes, held, records, now)
  if #records == 0 then return end
  local newer = held.newer
  for i = 1, #records, 2 do
    if held.place[records[i]] == 1 - newer then redis.call('HDEL', hashes[1 - newer], records[i]) end
  end
  if held.is_new then redis.call('UNLINK', hashes[newer], hashes[held.has_older and newer or 1 - newer]) end
  redis.call('HSET', hashes[newer], unpack(records))
  if held.keep ~= held.ends[newer] then ids_expire(hashes[newer], held.start[newer], held.keep, now) end
  if held.ends[1 - newer] > held.keep then ids_expire(hashes[1 - newer], held.start[1 - newer], held.keep, now) end
end

