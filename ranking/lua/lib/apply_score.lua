      -- The part of apply.lua that carries an update out on a board without a window. It sets result:
      -- the result without its first letter, or why the update is refused.
      local amount, condition, data, held = tonumber(ARGV[i + 2]), ARGV[i + 5], '', ''
      local seen = call('ZSCORE', members, member)
      local key = seen
      --+ if moderation
      if not key and moderated then key = call('ZSCORE', hiddens, member) end
      local hide = hides ~= '' and hides:byte(#results) == 49 -- '1'
      --+ end
      --+ if leaving
      if key and ttl > 0 and tonumber(call('ZSCORE', entered, member) or now) <= now - ttl then
        -- Its time is over, and more were due than one batch removes.
        if unlisted then return {'new', format('%d', now)} end
        remove(member, seen)
        seen, key = false, false
      end
      --+ end
      local had, had_rank, rank
      if key then had = sign * floor(key) + 0 end -- +0: never -0
      --+ if tied
      if seen then had_rank = rank_of(member, seen) end
      --+ else
      if seen then had_rank = call('ZRANK', members, member) + 1 end
      --+ end
      --+ if data
      if key and with_data then held = call('HGET', datas, member) or '' end
      --+ end

      local score, own, change = amount, true, nil -- own: the score is the update's own
      if op == 'remove' then
        score, own = nil, false
        if not had then result = 'g' end
      --+ if taking_back
      elseif taken then
        score, own = undone(taken, record:sub(CONTENT + 1, CONTENT + 1), member, had), false
      --+ end
      elseif condition == 'exists' and not had or condition == 'absent' and had then
        score, own = had, false
      elseif op == 'sum' then
        score, change = (had or 0) + amount, amount
        if score < min or score > max then result = 'r' end
        --+ if leaving
        if limit > 0 then result = 's' end -- members that left the board have lost their sum
        --+ end
      elseif amount < min or amount > max then
        result = 'r'
      elseif op ~= 'set' then
        if op == 'best' and had and sign * had <= sign * amount then score, own = had, false end
        change = had and score - had or 0
      end
      if change and not result and (change > max_change or change < -max_change) then result = 'c' end

      --+ if data
      data = own and ARGV[i + DATA] or ''
      if data == '' then data = held elseif data == 'null' then data = '' end
      --+ end
      local stays = score == had and data == held
      --+ if moderation
      stays = stays and (not had or hide == not seen)
      --+ end
      if result then
        -- it is refused
      elseif stays then
        stayed, rank = true, had_rank
      elseif unlisted then
        return {'new', format('%d', now)}
      --+ if leaving
      elseif not score then
        remove(member, seen)
        wrote = true
      --+ end
      else
        local new, there, shown = key, true, true -- whether it is on the board, hidden members included; whether it has a rank
        if score ~= had then -- reached now
          local s = sign * score + 0
          --+ if moderation
          new = ties == 'member' and format('%d', s) or key_of(members, moderated and hiddens or nil, s, clock - from, span)
          --+ else
          new = ties == 'member' and format('%d', s) or key_of(members, nil, s, clock - from, span)
          --+ end
        end
        --+ if moderation
        if hide then
          shown = false
          if seen then leave(member, key) end
          call('ZADD', hiddens, new, member)
          if not moderated then moderated = '0' end -- the rest of this moderation is not in force yet
        end
        --+ end
        --+ if leaving
        if shown and limit > 0 and not had and is_beyond(limit, member, new) then
          there, shown = false, false
        elseif ttl > 0 and not had then
          call('ZADD', entered, format('%d', now), member)
        end
        --+ end
        --+ if data
        if there and data ~= held then
          if data == '' then call('HDEL', datas, member) else call('HSET', datas, member, data) end
          with_data = '1'
        end
        --+ end
        if shown then
          --+ if moderation
          if had and not seen then call('ZREM', hiddens, member) end
          --+ end
          --+ if tied leaving moderation
          rank = move(member, seen or nil, new, data)
          --+ else
          --+ file apply_move
          --+ end
          --+ if leaving
          if limit > 0 and not seen and trim(limit, TRIM) > 0 and not call('ZSCORE', members, member) then there, rank = false, nil end
          --+ end
        end
        wrote = wrote or there
        if not there then score = nil end
      end
