          -- The part of apply.lua that moves a member to its new key. Without ties it does what move of rank.lua does, without
          -- the cost of a function.
          --+ if whole
          if tied then
            rank = ranks.move(member, seen or nil, new, data)
          else
          --+ end
            if new ~= seen then call('ZADD', members, new, member) end
            rank = call('ZRANK', members, member) + 1
            changes[#changes + 1] = format('%s\31%s\31%s\31%d', member, seen or '', new, rank)
          --+ if whole
            if data ~= '' then changes[#changes] = changes[#changes] .. '\31' .. data end
          end
          --+ end
