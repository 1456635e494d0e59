  -- The part of apply.lua that removes the events of a window that are over, before the updates.
  -- Follows apply_ids.lua and rank.lua.
  if open and shaped and call('ZRANGEBYSCORE', events, '-inf', format('%d', over), 'LIMIT', '0', '1')[1] then
    -- The events go first, because the answer to an update counts the events that are left.
    if unlisted then return {'new', format('%d', now)} end
    local SWEEP = 16 -- events that a batch removes at most, and one more for each of its updates
--+ file changes
--+ file window
    window.length, window.mode, window.live = length, mode, live
    window.with_data, window.moderated = with_data, moderated
    local before, fresh = clock, ARGV[10]:match('%S+$') -- fresh: an epoch
    local _, anew, more = window.sweep((#ARGV - first + 1) / STEP + SWEEP, from, span, fresh)
    if anew then exists, epoch, seq = fresh, fresh, 1 end
    wrote = clock > before -- hidden members have a key of that time too
    clock = clock + 1
    if more and not behind then
      if wrote then publish(epoch, seq, clock) end
      return {'due', format('%d', now)}
    end
  end
