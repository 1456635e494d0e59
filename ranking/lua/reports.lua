-- Deletes the reports of erasures that are no longer kept. Follows lib/erasure.lua.
--
-- KEYS  1 hash         erasures, see erasing.lua
--       2 sorted set   reports, see erasing.lua
--       3 sorted set   agenda of erasures, which says when the next deletion is due
-- Result {'ok'}
-- Cost   O(log n) a report, for a bounded number of reports

delete_reports(KEYS[1], KEYS[2], KEYS[3])
return {'ok'}
