      -- The part of apply.lua that carries an update out on a board with a window: the update adds an
      -- event, or removes events. It stands in place of apply_score.lua. It sets result: the result
      -- without its first letter, or why the update is refused; and the standings before and after.
      local score_text, condition, data, held, hide = ARGV[i + 2], ARGV[i + 5], '', '', false
      local amount, tally = tonumber(score_text), call('HGET', tallies, member)
      local count, plus, minus = 0, 0, 0 -- see window.lua
      if tally then
        count, plus, minus = tally:match('^(%d+) (%d+) (%d+)$')
        count, plus, minus = tonumber(count), tonumber(plus), tonumber(minus)
      end
      local seen = call('ZSCORE', members, member)
      local key = seen
      if not key and moderated then key = call('ZSCORE', hiddens, member) end
      hide = hides ~= '' and hides:byte(#results) == 49 -- '1'
      if not live then key = false end
      if key then had = plus - minus end
      if key and seen then had_rank = tied and ranks.of(member, seen) or call('ZRANK', members, member) + 1 end
      data = has_data and ARGV[i + DATA] or ''
      if key and with_data then held = call('HGET', datas, member) or '' end

      local ms, forgets = nil, false -- when the event to add happened; whether the earlier events are forgotten
      local to, more, less = count, plus, minus -- the tally after the update
      if op == 'remove' then
        if count == 0 and (live or not seen) then result = 'g' end
        forgets, to, more, less = true, 0, 0, 0
      elseif taken then
        local n = taken:match(' @(%x+)')
        if unlisted then return {'new', format('%d', now)} end
        if call('ZREM', events, member .. '|' .. n .. '|' .. score_text) == 1
          and tonumber(n, 16) > tonumber(call('ZSCORE', forgotten, member) or -1) then
          to = to - 1
          if mode == 'sum' and amount < 0 then less = less + amount elseif mode == 'sum' then more = more - amount end
        end
      elseif condition == 'exists' and count == 0 or condition == 'absent' and count > 0 then
        to = count
      elseif op ~= mode and op ~= 'set' then
        result = 'w'
      elseif not live and data ~= '' then
        result = 'x'
      else
        local this = floor(now / 1000)
        ms = ARGV[i + AT] == '' and this or tonumber(ARGV[i + AT])
        if op == 'set' then forgets, to, more, less = count > 0, 0, 0, 0 end
        to = to + 1
        if mode == 'sum' and amount < 0 then less = less - amount elseif mode == 'sum' then more = more + amount end
        if ms > this + AHEAD then
          result = 'h'
        elseif math.min(ms, this) <= over then
          result = 'o'
        elseif op ~= 'sum' and (amount < min or amount > max) or more > MOST or less > MOST then
          result = 'r'
        -- A sum may pass its bounds when events leave, but no update takes it there.
        elseif op == 'sum' and (more - less < min and amount < 0 or more - less > max and amount > 0) then
          result = 'r'
        elseif op ~= 'set' and (amount > max_change or amount < -max_change) then
          result = 'c'
        end
        ms = math.min(ms, this)
      end

      if result then
        -- it is refused
      elseif not ms and not forgets and to == count then
        stayed, score, rank = true, had, had_rank
      elseif unlisted then
        return {'new', format('%d', now)}
      else
        wrote = true
        if forgets then call('ZADD', forgotten, format('%d', clock - 1), member) end
        if ms then call('ZADD', events, format('%d', ms), format('%s|%x|%s', member, clock, score_text)) end
        if to > 0 then
          call('HSET', tallies, member, format('%d %d %d', to, more, less))
        else
          call('HDEL', tallies, member)
        end
        if not ms or data == '' then data = held elseif data == 'null' then data = '' end
        if not live and (to > 0 or op ~= 'remove') then
          -- the next result counts the change
        elseif to == 0 then
          if key or not live then
            if seen then ranks.leave(member, seen) else call('ZREM', hiddens, member) end
            if with_data then call('HDEL', datas, member) end
          end
        elseif more - less == had and data == held and hide == not seen then
          score, rank = had, had_rank
        else
          local new = key
          score = more - less
          if score ~= had then -- reached now
            local s = sign * score + 0 -- +0: never -0
            new = ties == 'member' and format('%d', s) or key_of(members, moderated and hiddens or nil, s, clock - from, span)
          end
          if data ~= held then
            if data == '' then call('HDEL', datas, member) else call('HSET', datas, member, data) end
            with_data = '1'
          end
          if hide then
            if seen then ranks.leave(member, key) end
            call('ZADD', hiddens, new, member)
            if not moderated then moderated = '0' end -- the rest of this moderation is not in force yet
          elseif had and not seen then
            call('ZREM', hiddens, member)
          end
          if not hide then
--+ file apply_move
          end
        end
      end
      if not result and not live then result = period .. ' - - - -' end
