package ranking

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// Moderator names the author of an act of moderation, and the reason.
type Moderator struct {
	Reason string `json:"reason,omitzero"` // up to 256 bytes that definition.TextFault accepts
	By     string `json:"by,omitzero"`     // the author; likewise
}

const maxReasonBytes = 256

// Check returns a FieldError, "reason" or "by", for a text that the audit does not take.
func (m Moderator) Check() error {
	for _, f := range []struct{ name, text string }{{"reason", m.Reason}, {"by", m.By}} {
		if f.text == "" {
			continue
		}
		if reason := definition.TextFault(f.text, maxReasonBytes); reason != "" {
			return definition.Invalid(f.name, reason)
		}
	}
	return nil
}

// Action is one line of the audit: one act of moderation.
type Action struct {
	Line   string    `json:"-"`               // cursor; later lines have greater ones
	At     time.Time `json:"-"`               // when Redis added the line
	Action string    `json:"action"`          // one of Actions
	Board  string    `json:"board,omitzero"`  // the instance, for an act on one board; or the board that was defined or deleted
	Kind   string    `json:"kind,omitzero"`   // of the members, for an act on all boards of a kind
	Event  string    `json:"event,omitzero"`  // the event that was taken back, defined or deleted
	ID     string    `json:"id,omitzero"`     // of the occurrence that was taken back
	Sub    *string   `json:"sub,omitzero"`    // of the Sender of that occurrence; nil for a trusted caller
	Member string    `json:"member,omitzero"` // the member that the act was about
	Score  *int64    `json:"score,omitzero"`  // the score that was set
	// Columns and WasColumns are the columns of the two scores, a JSON object; nil on a board without columns.
	Columns    jsontext.Value `json:"columns,omitzero"`
	Was        *int64         `json:"was,omitzero"` // the score before
	WasColumns jsontext.Value `json:"was_columns,omitzero"`
	Moderator
}

const (
	actionHide, actionShow               = "hide", "show"
	actionSet, actionTakeBack            = "set", "take_back"
	actionErase                          = "erase"
	actionDefineBoard, actionDeleteBoard = "define_board", "delete_board"
	actionDefineEvent, actionDeleteEvent = "define_event", "delete_event"
	actionFreeze, actionUnfreeze         = "freeze", "unfreeze"
	actionReveal                         = "reveal"
)

// Actions are the acts that have lines in the audit.
var Actions = []string{actionHide, actionShow, actionSet, actionTakeBack, actionErase, actionFreeze, actionUnfreeze, actionReveal,
	actionDefineBoard, actionDeleteBoard, actionDefineEvent, actionDeleteEvent}

// MaxAudit is the most lines that one call of Audit reads.
const MaxAudit = 1000

// auditKept is the approximate number of lines that the audit keeps.
const auditKept = 100_000

// line encodes the line of an act, for a script.
func (a Action) line() ([]byte, error) {
	line, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encode a line of the audit: %w", err)
	}
	return line, nil
}

// audit adds the line of an act to the audit. For an act with an id it adds one line,
// however many callers report that act within ten minutes; added is true for one of them. With
// the id "" it adds a line each time.
//
// The store acknowledges an act only after its line is written. The script that hides, shows
// or erases a member writes the line itself, and so does the script that changes definitions.
// So neither exists without the other. A take-back, a set score and the deletion of an instance
// change a board, which another node of a cluster may hold. Their line follows the change, and
// after a failure in between the caller repeats the act.
func (s *Store) audit(ctx context.Context, a Action, id string) (added bool, err error) {
	line, err := a.line()
	if err != nil {
		return false, err
	}
	ids := s.keys.AuditIDs()
	r := script.Audit.Run(ctx, s.rdb, append([]string{s.keys.Audit()}, ids[:]...),
		[]any{line, auditKept, id, definition.LeastIDSpan.Microseconds()})
	if r.Err != nil {
		return false, fmt.Errorf("%w: write to the audit: %w", definition.ErrOutcomeUnknown, r.Err)
	}
	return r.Text() == "added", r.Err
}

// auditID is the form of a Redis stream id: ms since 1970 and a number.
var auditID = regexp.MustCompile(`^[0-9]{1,15}-[0-9]{1,10}$`)

// Audit reads up to limit lines of the audit (1 to MaxAudit), the latest first. It begins
// before the line before, or with the latest line for "". The audit keeps about the last
// 100,000 lines. A call waits for its turn, up to
// Config.CallTimeout: see WithCaller.
func (s *Store) Audit(ctx context.Context, before string, limit int) ([]Action, error) {
	if limit < 1 || limit > MaxAudit {
		return nil, definition.Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", limit, MaxAudit))
	}
	from := "+"
	if before != "" {
		if !auditID.MatchString(before) {
			return nil, errCursor
		}
		if strings.Trim(before, "0-") == "" {
			return []Action{}, nil // nothing is before the id 0-0, and Redis refuses the question
		}
		from = "(" + before
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	var list []Action
	err := s.inTurn(ctx, func() (err error) {
		list, err = s.readAudit(ctx, from, limit)
		return err
	})
	return list, err
}

// readAudit reads up to limit lines of the audit from one on, the latest first.
func (s *Store) readAudit(ctx context.Context, from string, limit int) ([]Action, error) {
	lines, err := s.rdb.XRevRangeN(ctx, s.keys.Audit(), from, "-", int64(limit)).Result()
	if err != nil {
		return nil, fmt.Errorf("read the audit: %w: %w", definition.ErrUnavailable, err)
	}
	list := make([]Action, 0, len(lines))
	for _, l := range lines {
		text, _ := l.Values["line"].(string)
		a := Action{Line: l.ID}
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return nil, fmt.Errorf("%w: the line %q of the audit is not valid JSON", definition.ErrUnavailable, definition.Clip(l.ID))
		}
		var ms int64
		if _, err := fmt.Sscanf(l.ID, "%d-", &ms); err != nil {
			return nil, fmt.Errorf("%w: the audit holds the id %q, which is not a valid stream id", definition.ErrUnavailable, definition.Clip(l.ID))
		}
		a.At = time.UnixMilli(ms).UTC()
		list = append(list, a)
	}
	return list, nil
}
