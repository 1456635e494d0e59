      -- The part of apply.lua that carries an update out on a board without a window. It sets result:
      -- the result without its first letter, or why the update is refused; and the standings before and after.
      local amount, condition = tonumber(ARGV[i + 2]), ARGV[i + 5]
      local seen = call('ZSCORE', members, member)
      local key = seen
      --+ if whole
      if not key and moderated then key = call('ZSCORE', hiddens, member) end
      local hide = hides ~= '' and hides:byte(#results) == 49 -- '1'
      if key and ttl > 0 and tonumber(call('ZSCORE', entered, member) or now) <= now - ttl then
        -- Its time is over, and more were due than one batch removes.
        if unlisted then return {'new', format('%d', now)} end
        leaving.remove(member, seen)
        seen, key = false, false
      end
      local data, held = '', key and with_data and call('HGET', datas, member) or ''
      --+ end
      if key then had = sign * floor(key) + 0 end -- +0: never -0
      --+ if whole
      if seen and tied then had_rank = ranks.of(member, seen) end
      --+ end
      if seen and not had_rank then had_rank = call('ZRANK', members, member) + 1 end

--+ file apply_amount
      local stays = score == had
      --+ if whole
      if own and has_data then data = ARGV[i + DATA] end
      if data == '' then data = held elseif data == 'null' then data = '' end
      stays = stays and data == held and (not had or hide == not seen)
      --+ end
      if result then
        -- it is refused
      elseif stays then
        stayed, rank = true, had_rank
      elseif unlisted then
        return {'new', format('%d', now)}
      --+ if whole
      elseif not score then
        leaving.remove(member, seen)
        wrote = true
      --+ end
      else
        local new, there = key, true -- whether the member has a place on the board
        if score ~= had then -- reached now
          local s = sign * score + 0
          new = ties == 'member' and format('%d', s) or key_of(members, moderated and hiddens or nil, s, clock - from, span)
        end
        --+ if whole
        if hide then
          if seen then ranks.leave(member, key) end
          call('ZADD', hiddens, new, member)
          if not moderated then moderated = '0' end -- the rest of this moderation is not in force yet
        elseif limit > 0 and not had then
          there = not leaving.is_beyond(limit, member, new)
        end
        if there and ttl > 0 and not had then call('ZADD', entered, format('%d', now), member) end
        if there and data ~= held then
          if data == '' then call('HDEL', datas, member) else call('HSET', datas, member, data) end
          with_data = '1'
        end
        if there and had and not seen and not hide then call('ZREM', hiddens, member) end
        if there and not hide then
        --+ end
--+ file apply_move
        --+ if whole
        end
        if there and limit > 0 and not seen and not hide and leaving.trim(limit, TRIM) > 0
            and not call('ZSCORE', members, member) then there, rank = false, nil end
        if not there then score = nil end
        --+ end
        wrote = wrote or there
      end
