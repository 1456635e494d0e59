-- Moves dead letters back to the end of their stream. Each new entry names the entry that the
-- producer wrote, so that it has the same request id and the same time.
--
-- KEYS  1 stream       of the producers
--       2 stream       of the dead letters
-- ARGV  1 from         id of the first dead letter
--       2 to           id of the last one; '' for the last one that there is
--       3 count        of the dead letters of this call, at most
--       4 origin       the field that names the entry that the producer wrote
--       5 and more     codes of the dead letters that stay
-- Result {last, to, moved, left}: the last id that this call has seen, or ''; the last of all; how
--         many dead letters the call has moved, and how many it has left
-- Cost   O(count)

local stream, dead = KEYS[1], KEYS[2]
local from, to, count, origin = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local HEAD = 12 -- the names and values in front of those of the entry: stream, entry, code, field, detail, time

local stay = {}
for i = 5, #ARGV do stay[ARGV[i]] = true end
if to == '' then
  local last = redis.call('XREVRANGE', dead, '+', '-', 'COUNT', 1)[1]
  if not last then return {'', '', 0, 0} end
  to = last[1]
end
local last, moved, left = '', 0, 0
for _, letter in ipairs(redis.call('XRANGE', dead, from, to, 'COUNT', count)) do
  local id, fields = letter[1], letter[2]
  last = id
  local entry, code = fields[4], fields[6]
  local start = HEAD + 1
  if fields[start] == origin then start = start + 2 end -- a replayed entry was refused again
  if stay[code] or start > #fields then
    left = left + 1
  else
    redis.call('XADD', stream, '*', origin, entry, unpack(fields, start))
    redis.call('XDEL', dead, id)
    moved = moved + 1
  end
end
return {last, to, moved, left}
