      -- The part of apply.lua that finds the score which an update leads to: score, nil if the member has none then; own, whether that is
      -- the update's own; and result, if the update is refused. had is the score before.
      local own, change = true, nil -- own: the score is the update's own
      score = amount
      if op == 'remove' then
        score, own = nil, false
        if not had then result = 'g' end
      --+ if whole
      elseif taken then
        score, own = taking_back.undone(taken, record:sub(CONTENT + 1, CONTENT + 1), member, had), false
      --+ end
      elseif condition == 'exists' and not had or condition == 'absent' and had then
        score, own = had, false
      elseif op == 'sum' then
        --+ if whole
        if columns then amount, result = columns.change(had or 0, ARGV[i + 2]) end
        --+ end
        score, change = (had or 0) + amount, amount
        if score < min or score > max then result = 'r' end
        --+ if whole
        if limit > 0 then result = 's' end -- members that left the board have lost their sum
        --+ end
      elseif amount < min or amount > max then
        result = 'r'
      elseif op ~= 'set' then
        if op == 'best' and had and sign * had <= sign * amount then score, own = had, false end
        change = had and score - had or 0
      end
      if change and not result and (change > max_change or change < -max_change) then result = 'c' end
