package ranking

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"
)

// recountPage is how many events one call of events.lua reads, which holds Redis for
// about half a millisecond then.
const recountPage = 256

// recounted is what a member comes to by its events so far.
type recounted struct {
	score int64
	ms, n int64 // of the latest
}

// recount is what a window comes to at the time of the build: all that counted then,
// whatever has come since.
func (w *builder) recount(ctx context.Context) ([]scored, error) {
	over := w.now/1000 - w.rule.Window.Milliseconds()
	members := make(map[string]recounted)
	args := []any{recountPage, over, w.clock}
	for {
		began := time.Now()
		r, err := w.callKeys(ctx, eventsScript, []string{w.keys.window[0], w.keys.window[2]}, args)
		if err != nil {
			return nil, err
		}
		rows := r.list()
		for len(rows.rest) > 0 && rows.err == nil {
			text := rows.text()
			ms := rows.number()
			member, n, score, ok := parseWindowEvent(text)
			if !ok {
				rows.fail("has an event that is none")
				break
			}
			was, there := members[member]
			members[member] = joinEvents(w.rule, was, there, recounted{score, ms, n})
		}
		ms, event := r.text(), r.text()
		if err := cmp.Or(r.err, rows.err, w.between(ctx, time.Since(began))); err != nil {
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

// joinEvents adds one event to the result of a member, who may have had none.
func joinEvents(r *rule, was recounted, there bool, next recounted) recounted {
	switch {
	case !there:
		return next
	case r.Mode == Sum:
		next.score += was.score
		return next
	case r.Mode == Best && r.Order.sign()*next.score >= r.Order.sign()*was.score:
		return was
	case r.Mode == Last && (next.ms < was.ms || next.ms == was.ms && next.n < was.n):
		return was
	}
	return next
}

// parseWindowEvent takes an event apart, see window.lua.
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
