package ranking

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// windowPage is the number of events that one call of events.lua reads. Such a call holds
// Redis for about half a millisecond.
const windowPage = 256

// windowScore is a member's score by its events so far.
type windowScore struct {
	score int64
	ms, n int64 // time, and number, of the latest event
}

// windowScores returns the scores of a window at the time of the build: of all events that
// counted then. It ignores later events.
func (w *builder) windowScores(ctx context.Context) ([]scored, error) {
	over := w.now/1000 - w.rule.Window.Milliseconds()
	members := make(map[string]windowScore)
	args := []any{windowPage, over, w.clock}
	for {
		began := time.Now()
		r, err := w.s.callScript(ctx, script.Events, []string{w.keys.Window[0], w.keys.Window[2]}, args)
		if err != nil {
			return nil, err
		}
		rows := r.List()
		for rows.More() {
			text := rows.Text()
			ms := rows.Number()
			member, n, score, ok := parseWindowEvent(text)
			if !ok {
				rows.Fail("has an invalid event")
				break
			}
			was, there := members[member]
			members[member] = joinEvents(w.rule, was, there, windowScore{score, ms, n})
		}
		ms, event := r.Text(), r.Text()
		if err := cmp.Or(r.Err, rows.Err, w.keepLock(ctx, time.Since(began))); err != nil {
			return nil, err
		}
		if event == "" {
			break
		}
		args = append(args[:3], ms, event)
	}
	scores := make([]scored, 0, len(members))
	for member, m := range members {
		scores = append(scores, scored{member, m.score})
	}
	return scores, nil
}

// joinEvents adds one event to a member's score. there reports whether the member has a
// score already.
func joinEvents(r *definition.Compiled, was windowScore, there bool, next windowScore) windowScore {
	switch {
	case !there:
		return next
	case r.Mode == definition.Sum:
		next.score += was.score
		return next
	case r.Mode == definition.Best && r.Order.Sign()*next.score >= r.Order.Sign()*was.score:
		return was
	case r.Mode == definition.Last && (next.ms < was.ms || next.ms == was.ms && next.n < was.n):
		return was
	}
	return next
}

// parseWindowEvent splits an event: see window.lua.
func parseWindowEvent(text string) (member string, n, score int64, ok bool) {
	last := strings.LastIndexByte(text, '|')
	middle := strings.LastIndexByte(text[:max(last, 0)], '|')
	if middle < 1 {
		return "", 0, 0, false
	}
	n, err := strconv.ParseInt(text[middle+1:last], 16, 64)
	score, wrong := strconv.ParseInt(text[last+1:], 10, 64)
	return text[:middle], n, score, err == nil && wrong == nil
}
