-- The part of apply.lua that looks up the request ids of the batch, see ids.lua. Follows apply_state.lua.

local CONTENT, DIGEST = 11, 13 -- bytes of a digest: without the op, and with that of the first time

local known, kept = {}, {} -- records by id; those to store: {id, record, id, record, ...}
local ids, held, keep_ids = {[0] = KEYS[3], [1] = KEYS[4]}, nil, nil
local room, free -- how many more ids the board may take, and when it may take some again; nil: the batch has no new id
local asked = {}
for i = first + 3, #ARGV, STEP do
  if ARGV[i] ~= '' then asked[#asked + 1] = ARGV[i] end
end
if #asked > 0 then -- a batch without ids makes no functions, see board.lua
--+ file ids
  local length, most = ARGV[14]:match('^(%d+) (%d+)$')
  known, held = ids_find(ids, now, tonumber(length), asked)
  keep_ids = ids_keep
  for _, id in ipairs(asked) do
    if not known[id] then
      room, free = ids_room(ids, held.ends, tonumber(most), held.keep)
      break
    end
  end
end

