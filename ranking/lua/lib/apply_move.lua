          -- The part of apply.lua that does what move of rank.lua does, without a function.
          if new ~= seen then call('ZADD', members, new, member) end
          rank = call('ZRANK', members, member) + 1
          changes[#changes + 1] = format('%s\31%s\31%s\31%d', member, seen or '', new, rank)
          --+ if data
          if data ~= '' then changes[#changes] = changes[#changes] .. '\31' .. data end
          --+ end
