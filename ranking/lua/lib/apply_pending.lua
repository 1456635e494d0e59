      -- The part of apply.lua that carries an update out on a frozen board-period, see freeze.lua. It changes only what is pending. It
      -- sets result: the result without its first letter, with the rank '*', or in capitals why the update is refused.
      local amount, condition = tonumber(ARGV[i + 2]), ARGV[i + 5]
      local hide = hides ~= '' and hides:byte(#results) == 49 -- '1'
      local public, waits, hidden = call('ZSCORE', members, member), call('ZSCORE', pending, member), false
      if not waits then
        waits = call('ZSCORE', pending_hiddens, member)
        hidden = waits
      end
      local there = public or moderated and call('ZSCORE', hiddens, member) -- the key that the public board-period has
      local key = waits or there
      if key and tonumber(key) >= GONE then key = false end
      local data, held = '', ''
      if key then
        had = sign * floor(key) + 0 -- +0: never -0
        held = call('HGET', pending_datas, member) or with_data and call('HGET', datas, member) or ''
        if held == 'null' then held = '' end
      end

--+ file apply_amount
      local stays = score == had
      if own and has_data then data = ARGV[i + DATA] end
      if data == '' then data = held elseif data == 'null' then data = '' end
      stays = stays and data == held and (not waits or hide == (hidden and true))
      if result then
        result = result:upper()
      elseif stays then
        stayed = true
      elseif unlisted then
        return {exists and 'new' or 'wait', format('%d', now)}
      else
        if not score then
          leaving.note_left(member)
          data, waits = '', there and format('%.0f', GONE) or ''
        elseif score ~= had then -- reached now
          local s = sign * score + 0
          waits = ties == 'member' and format('%d', s) or key_of(pending, members, s, clock - from, span)
          if moderated and ties ~= 'member' then
            local past = key_of(pending_hiddens, hiddens, s, clock - from, span)
            if tonumber(past) > tonumber(waits) then waits = past end
          end
        end
        if waits == '' or waits and hide then call('ZREM', pending, member) end
        if waits == '' or waits and not hide then call('ZREM', pending_hiddens, member) end
        if waits == '' or waits and hide then
          call('ZREM', publics, member)
          call('ZREM', newcomers, member)
        end
        if waits == '' then
          call('HDEL', pending_datas, member)
        elseif waits and hide then
          call('ZADD', pending_hiddens, waits, member)
          if not moderated then moderated = '0' end -- the rest of this moderation is not in force yet
        elseif waits then
          call('ZADD', pending, waits, member)
          call('ZADD', public and publics or newcomers, public or waits, member)
        end
        if waits ~= '' and data ~= held then call('HSET', pending_datas, member, data == '' and 'null' or data) end
        wrote = true
      end
      result = result or format('%s %s * %s -', period, score and format('%d', score) or '-', had and format('%d', had) or '-')
