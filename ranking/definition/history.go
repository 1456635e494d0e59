package definition

import (
	"time"

	"rankcast/ranking/calendar"
)

// historyRange is the range of the step of a history.
var historyRange = durationRange{10 * time.Second, day, "is not a whole number of s, m, h or d, such as 10s or 1m, from 10s to 1d"}

// MaxHistory is the most steps that the history of one period has by the clock. The history of a board
// without periods keeps at least so many of the latest.
const MaxHistory = 10_000

func (d *Board) checkHistory(FamilyName) error {
	return fault("history", historyRange.fault(d.History))
}

// HistoryStep is the time from one step of the history of a period to the next: the smallest multiple
// of History by which the period has at most MaxHistory steps. It is History on a board without
// periods, and 0 where no history is recorded.
func (r *Compiled) HistoryStep(p calendar.Period) time.Duration {
	if r.History == 0 || p.Closes.IsZero() {
		return r.History
	}
	opens, most := p.Opens, r.History*MaxHistory
	if starts := r.startsAt(); starts.After(opens) {
		opens = starts
	}
	length := r.PeriodEnd(p).Sub(opens)
	return r.History * max(1, (length+most-1)/most)
}
