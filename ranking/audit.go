package ranking

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
)

// Moderator names the author of an act of moderation, and the reason.
type Moderator struct {
	Reason string `json:"reason,omitzero"` // up to 256 bytes of UTF-8 without control characters
	By     string `json:"by,omitzero"`     // the author; likewise
}

const maxReasonBytes = 256

func (m Moderator) check() error {
	for _, f := range []struct{ name, text string }{{"reason", m.Reason}, {"by", m.By}} {
		if f.text == "" {
			continue
		}
		if reason := definition.TextFault(f.text, maxReasonBytes); reason != "" {
			return Invalid(f.name, reason)
		}
	}
	return nil
}

// Action is one line of the audit: one act of moderation.
type Action struct {
	Line   string    `json:"-"`               // cursor; later lines have greater ones
	At     time.Time `json:"-"`               // when Redis added the line
	Action string    `json:"action"`          // hide, show, set, take_back or erase
	Board  string    `json:"board,omitzero"`  // the instance, for an act on one board
	Kind   string    `json:"kind,omitzero"`   // of the members, for an act on all boards of a kind
	Event  string    `json:"event,omitzero"`  // the event that was taken back
	ID     string    `json:"id,omitzero"`     // of that event
	Member string    `json:"member,omitzero"` // the member that the act was about
	Score  *int64    `json:"score,omitzero"`  // the score that was set
	Was    *int64    `json:"was,omitzero"`    // the score before
	Moderator
}

// MaxAudit is the most lines that one call of Audit reads.
const MaxAudit = 1000

// auditKept is the approximate number of lines that the audit keeps.
const auditKept = 100_000

// audit adds a line to the audit. The store acknowledges an act only after its line is
// written.
func (s *Store) audit(ctx context.Context, a Action) error {
	line, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode a line of the audit: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	add := &redis.XAddArgs{Stream: s.keys.Audit(), MaxLen: auditKept, Approx: true, Values: []any{"line", line}}
	if err := s.rdb.XAdd(ctx, add).Err(); err != nil {
		return fmt.Errorf("%w: %w: write to the audit: %w", ErrUnavailable, ErrOutcomeUnknown, err)
	}
	return nil
}

// auditID is the form of a Redis stream id: ms since 1970 and a number.
var auditID = regexp.MustCompile(`^[0-9]{1,15}-[0-9]{1,10}$`)

// Audit reads up to limit lines of the audit (1 to MaxAudit), the latest first. It begins
// before the line before, or with the latest line for "". The audit keeps about the last
// 100,000 lines.
func (s *Store) Audit(ctx context.Context, before string, limit int) ([]Action, error) {
	if limit < 1 || limit > MaxAudit {
		return nil, Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", limit, MaxAudit))
	}
	from := "+"
	if before != "" {
		if !auditID.MatchString(before) {
			return nil, Invalid("cursor", "is not a cursor that this server gave")
		}
		from = before
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	lines, err := s.rdb.XRevRangeN(ctx, s.keys.Audit(), from, "-", int64(limit)+1).Result()
	if err != nil {
		return nil, fmt.Errorf("read the audit: %w: %w", ErrUnavailable, err)
	}
	list := make([]Action, 0, len(lines))
	for _, l := range lines {
		if l.ID == before || len(list) == limit {
			continue
		}
		text, _ := l.Values["line"].(string)
		a := Action{Line: l.ID}
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return nil, fmt.Errorf("%w: the audit holds %q, which is not a valid line", ErrUnavailable, definition.Clip(text))
		}
		var ms int64
		if _, err := fmt.Sscanf(l.ID, "%d-", &ms); err != nil {
			return nil, fmt.Errorf("%w: the audit holds the id %q, which is not a valid stream id", ErrUnavailable, definition.Clip(l.ID))
		}
		a.At = time.UnixMilli(ms).UTC()
		list = append(list, a)
	}
	return list, nil
}
