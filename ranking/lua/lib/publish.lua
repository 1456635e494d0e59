  -- Adds the changes to seq, and publishes them. The clock is past all that was written.
  call('HSET', meta, 'seq', format('%d', seq + #changes), 'clock', format('%d', clock))
  if #changes > 0 then
    call(PUBLISH, channel, format('%s\31%s\31%s\31%d\31%d\30', board, period, epoch, seq + 1, now) .. table.concat(changes, '\30'))
  end
