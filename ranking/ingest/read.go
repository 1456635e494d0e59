package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// originField is the field of a replayed entry that names the entry that the producer wrote. No event has
// a field of this name, because of its colon.
const originField = "rankcast:entry"

// eventField is the field that names the event of an entry.
const eventField = "event"

// updateFields are the fields of an entry with an update.
var updateFields = []string{"board", "member", "score", "columns", "id", "op", "if", "data", "at"}

// Codes of dead letters beside those of Config.Explain. The updates of such an entry may have counted.
const (
	codeUnknown = "outcome_unknown" // its request id may be forgotten, and it may have counted
	codePartly  = "partly_refused"  // an event that counts on some of its boards
	codeDeleted = "entry_deleted"   // deleted from the stream after its delivery
	// codeMismatch is also of an entry that has counted before its board got a window, which changes its time.
	codeMismatch = "idempotency_mismatch" // its id was used for another update
)

// codeTooLarge is of an entry above maxBatchBytes, which has counted nowhere.
const codeTooLarge = "too_large"

// message is an entry and what becomes of it.
type message struct {
	entry
	origin string // id of the entry that the producer wrote

	mayCount bool // the message may have counted: a delivery has left that open
	isAbsent bool // a script has just found that Redis does not know its request id

	board  string // of an update
	update definition.Update
	event  string // of an event; "" for an update
	call   ranking.EventCall

	updates int     // that the message makes
	result  string  // "" until it is known
	problem Problem // of a dead letter
}

// refuse makes the message a dead letter with a problem.
func (m *message) refuse(p Problem) { m.result, m.problem = resultRefused, p }

// refuseBeforeLookup is refuse for a message whose request id no script has looked up. If an earlier delivery has left open
// whether its updates count, they may have counted then, under other definitions.
func (m *message) refuseBeforeLookup(p Problem) {
	m.refuse(p)
	if m.mayCount {
		m.result, m.problem = resultUnknown, Problem{Code: codeUnknown, Field: p.Field,
			Detail: "may have counted before it was refused: " + p.Code + ": " + p.Detail}
	}
}

// noteFailure notes what a passing error says about the message. A script that finds no room for its request id does not
// know the id. A call of a consumer that had the stream before may still be under way.
func (m *message) noteFailure(err error) {
	switch {
	case errors.Is(err, definition.ErrTooManyIDs):
		m.isAbsent = true
	case errors.Is(err, definition.ErrOutcomeUnknown) ||
		!errors.Is(err, definition.ErrUnavailable) && !errors.Is(err, definition.ErrOverloaded):
		m.mayCount = true
	}
}

// explain describes the error of a refused entry.
func (c *consumer) explain(err error) Problem {
	p := c.cfg.Explain(err)
	if errors.Is(err, definition.ErrIDMismatch) {
		p.Code = codeMismatch
	}
	return p
}

// mayBeForgotten reports whether Redis may have forgotten the request id of a message that counted when it was delivered
// first. now is Redis's clock.
func (c *consumer) mayBeForgotten(ctx context.Context, m *message, now time.Time) (bool, error) {
	if m.age <= definition.LeastIDs-idsMargin {
		return false, nil
	}
	var count time.Duration
	var err error
	if since := now.Add(-m.age); m.event != "" {
		count, err = c.store.EventIDsCount(ctx, m.event, since)
	} else {
		count, err = c.store.IDsCount(ctx, m.board, since)
	}
	if err != nil && isPassing(err) {
		return false, err
	}
	return err != nil || m.age > count-idsMargin, nil
}

// read decodes the entries. It refuses those that are wrong in themselves, and those that are too old. An
// error means that the definitions cannot be read. now is Redis's clock.
func (c *consumer) read(ctx context.Context, all []*message, now time.Time) error {
	for _, m := range all {
		err := c.decode(ctx, m) // also of an entry that is too old: its dead letter names its origin
		if m.size > maxBatchBytes {
			m.refuse(Problem{Code: codeTooLarge, Detail: fmt.Sprintf("has %d bytes; want %d at most", m.size, maxBatchBytes)})
			continue
		}
		forgotten, lookupErr := c.mayBeForgotten(ctx, m, now)
		if lookupErr != nil {
			return lookupErr
		}
		if forgotten {
			m.result, m.problem = resultUnknown, Problem{Code: codeUnknown,
				Detail: fmt.Sprintf("was delivered %v ago and never acknowledged; it may have counted", m.age.Round(time.Second))}
			continue
		}
		switch {
		case len(m.fields) == 0:
			m.result, m.problem = resultUnknown, Problem{Code: codeDeleted,
				Detail: "was deleted from the stream before it was acknowledged; it may have counted"}
		case err != nil && isPassing(err):
			return err
		case err != nil && m.event == "":
			m.refuse(c.explain(err)) // each delivery refuses such an entry
		case err != nil:
			m.refuseBeforeLookup(c.explain(err))
		}
	}
	return nil
}

// decode decodes an entry. A FieldError names the field that is wrong.
func (c *consumer) decode(ctx context.Context, m *message) error {
	fields := make(fields, len(m.fields)/2)
	for pair := range slices.Chunk(m.fields, 2) {
		name, value := pair[0], pair[1]
		if _, twice := fields[name]; twice {
			return definition.Invalid(definition.FieldPath("", name), "occurs twice in the entry")
		}
		fields[name] = value
	}
	if origin, there := fields[originField]; there {
		if _, ok := timeOf(origin); !ok || len(origin) > len("18446744073709551615-18446744073709551615") {
			return definition.Invalid(originField, "is not the id of an entry")
		}
		m.origin = origin
		delete(fields, originField)
	}
	id, err := fields.optional("id")
	if err != nil {
		return err
	}
	id = cmp.Or(id, c.stream+" "+m.origin)
	if event, there := fields[eventField]; there {
		delete(fields, eventField)
		delete(fields, "id")
		m.event = event
		return c.decodeEvent(ctx, m, id, fields)
	}
	return m.decodeUpdate(id, fields)
}

// decodeUpdate decodes an update.
func (m *message) decodeUpdate(id string, f fields) (err error) {
	for name := range f {
		if !slices.Contains(updateFields, name) {
			return definition.Invalid(definition.FieldPath("", name),
				"is not a field of an update; want "+strings.Join(updateFields, ", ")+"; or event and the fields of the event")
		}
	}
	columns, hasColumns := f["columns"]
	for _, name := range updateFields[:3] {
		if _, there := f[name]; !there && !(name == "score" && hasColumns) {
			return definition.Invalid(name, "is missing")
		}
	}
	m.board, m.updates = f["board"], 1
	u := &m.update
	u.Member, u.ID = f["member"], id
	score, hasScore := f["score"]
	switch {
	case hasScore && hasColumns:
		return definition.ErrTwoScores
	case hasColumns:
		u.Columns, err = definition.ParseColumns("columns", columns)
	default:
		u.Score, err = definition.ParseScore("score", score)
	}
	if err != nil {
		return err
	}
	op, err := f.optional("op")
	if err != nil {
		return err
	}
	condition, err := f.optional("if")
	if err != nil {
		return err
	}
	u.Op, u.If = definition.Mode(op), definition.Condition(condition)
	if data, there := f["data"]; there {
		if u.Data = data; data == "" {
			return definition.Invalid("data", "is empty; want JSON")
		}
	}
	if at, there := f["at"]; there {
		u.At, err = definition.ParseAt(timeValue(at))
		return err
	}
	u.At, _ = timeOf(m.origin)
	u.AtIfWindowed = true
	return nil
}

// decodeEvent decodes an event.
func (c *consumer) decodeEvent(ctx context.Context, m *message, id string, f fields) error {
	e, err := c.store.Event(ctx, m.event)
	if err != nil {
		return err
	}
	m.updates = len(e.Updates)
	m.call = ranking.EventCall{ID: id, Fields: make(map[string]jsontext.Value, len(f)+1)}
	for name, value := range f {
		fieldType, own := e.FieldType(name)
		switch {
		case fieldType == definition.IntegerField:
			if _, err := definition.ParseScore(name, value); err != nil {
				return err
			}
			m.call.Fields[name] = jsontext.Value(value)
		case name == definition.AtField && !own:
			m.call.Fields[name] = timeValue(value)
		default:
			text, err := jsontext.AppendQuote(nil, value)
			if err != nil {
				return definition.Invalid(definition.FieldPath("", name), "is not valid UTF-8")
			}
			m.call.Fields[name] = text
		}
	}
	_, given := f[definition.AtField]
	if _, own := e.FieldType(definition.AtField); !given && !own {
		at, _ := timeOf(m.origin)
		m.call.Fields[definition.AtField], m.call.AtIfWindowed = jsontext.Value(fmt.Sprint(at.UnixMilli())), true
	}
	return nil
}

// fields are the fields of an entry.
type fields map[string]string

// optional returns the value of a field, or "" without the field. An empty value is an error.
func (f fields) optional(name string) (string, error) {
	value, there := f[name]
	if there && value == "" {
		return "", definition.Invalid(name, "is empty")
	}
	return value, nil
}

// timeValue returns a time as JSON: a number is milliseconds since 1970.
func timeValue(text string) jsontext.Value {
	if text != "" && strings.Trim(text, "0123456789") == "" {
		return jsontext.Value(text)
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return jsontext.Value(`""`) // no time either
	}
	return quoted
}
