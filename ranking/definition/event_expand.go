package definition

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/internal/keyspace"
)

// BoardUpdate is an update and the board that it is for.
type BoardUpdate struct {
	Board  string // a board or an instance of a family, without a period: "fans:s17"
	Update Update
}

// Expand returns the updates that an event with these fields makes, in the order of its
// definition. Each update passes Update.Check. fields must hold all fields of the event and
// no others, so the caller first removes the id of the request. fields may also hold AtField,
// which becomes the At of all updates. A FieldError names the field that is wrong; its kind is
// ErrOutOfRange for an integer beyond ±MaxScore or the bounds of its rule, and ErrInvalid otherwise.
// NamedMembers returns what the caller must check beyond that. Expand may be called concurrently.
func (e Event) Expand(fields map[string]jsontext.Value) ([]BoardUpdate, error) {
	return e.expand(fields, e.Rules)
}

// ExpandRecorded is Expand for an occurrence that has counted before: its integers need not be within the present bounds.
func (e Event) ExpandRecorded(fields map[string]jsontext.Value) ([]BoardUpdate, error) {
	return e.expand(fields, nil)
}

func (e Event) expand(fields map[string]jsontext.Value, bounds FieldRules) ([]BoardUpdate, error) {
	if e.compiled == nil {
		var err error
		if e, err = e.Normalize(); err != nil {
			return nil, err
		}
	}
	x := expansion{e: e.compiled, bounds: bounds, text: make(map[string]string, len(fields)),
		json: make(map[string]string, len(fields))}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if e.CarriesTime(fields) && name == AtField {
			continue
		}
		if _, known := e.compiled.fields[name]; !known {
			return nil, Invalid(FieldPath("", name), fmt.Sprintf("is not a field of event %s, which has %s", e.Name, e.compiled.list()))
		}
	}
	for _, name := range e.compiled.names {
		v, there := fields[name]
		if !there {
			return nil, Invalid(name, fmt.Sprintf("is missing; event %s has %s", e.Name, e.compiled.list()))
		}
		if err := x.read(name, v); err != nil {
			return nil, err
		}
	}
	var at time.Time
	if e.CarriesTime(fields) {
		var err error
		if at, err = ParseAt(fields[AtField]); err != nil {
			return nil, err
		}
	}
	updates := make([]BoardUpdate, len(e.compiled.targets))
	for i, t := range e.compiled.targets {
		var err error
		if updates[i], err = x.target(t); err != nil {
			return nil, err
		}
		updates[i].Update.At = at
	}
	return updates, nil
}

// AtField is the field that holds the time at which an event happened. An event whose own
// updates have a field of that name carries no time.
const AtField = "at"

// CarriesTime reports whether fields hold the time at which the event happened. The event must
// be normalized.
func (e Event) CarriesTime(fields map[string]jsontext.Value) bool {
	_, there := fields[AtField]
	return there && e.compiled.fields[AtField] == nil
}

// list names the fields for an error.
func (c *compiledEvent) list() string { return cmp.Or(strings.Join(c.names, ", "), "no fields") }

// expansion holds the values of an event's fields.
type expansion struct {
	e       *compiledEvent
	bounds  FieldRules        // for integers
	text    map[string]string // fields used as text
	json    map[string]string // all fields, compact
	integer map[string]int64
}

// read checks that v has the type that the uses of the field require, and stores it in x.
func (x *expansion) read(name string, v jsontext.Value) error {
	compact := v.Clone()
	if err := compact.Format(); err != nil {
		return Invalid(name, fmt.Sprintf("is not valid JSON: %v", err))
	}
	x.json[name] = string(compact)
	u := x.e.fields[name]
	switch string(compact) {
	case `null`:
		return Invalid(name, "is null; want a value")
	case `""`:
		return Invalid(name, "is empty; want a value")
	}
	switch u.fieldType() {
	case IntegerField:
		if v.Kind() != '0' {
			return Invalid(name, fmt.Sprintf("is %s; want an integer without quotes", Clip(string(compact))))
		}
		n, err := ParseScore(name, string(compact))
		if err == nil {
			err = x.bounds[name].check(name, n)
		}
		if err != nil {
			return err
		}
		if x.integer == nil {
			x.integer = make(map[string]int64)
		}
		x.integer[name] = n
	case TextField:
		var s string
		if json.Unmarshal(compact, &s) != nil {
			return Invalid(name, fmt.Sprintf("is %s; want a string", Clip(string(compact))))
		}
		reason := TextFault(s, MaxIDBytes)
		if u.part {
			reason = partFault(s)
		}
		if reason != "" {
			return Invalid(name, reason)
		}
		x.text[name] = s
	}
	return nil
}

// target makes one update. Each value is right by itself here, so an error comes from several
// values together; it names the field with the longest value.
func (x *expansion) target(t target) (BoardUpdate, error) {
	text := func(field string) string { return x.text[field] }
	n := Name{Base: t.base, Parts: make([]string, len(t.parts))}
	for i, p := range t.parts {
		n.Parts[i] = p.expand(text)
		if reason := partFault(n.Parts[i]); reason != "" {
			return BoardUpdate{}, Invalid(x.longest(p, text), fmt.Sprintf("makes a part of board %s that %s", t.base, reason))
		}
	}
	u := Update{Member: t.member.expand(text), Op: t.op, If: t.cond}
	if reason := cmp.Or(TextFault(u.Member, MaxIDBytes), dotFault(u.Member)); reason != "" {
		return BoardUpdate{}, Invalid(x.longest(t.member, text), fmt.Sprintf("makes a member of board %s that %s", t.base, reason))
	}
	if u.Score = x.amount(t.score); t.column != nil {
		u.Columns = make(map[string]int64, len(t.column))
		for name, a := range t.column {
			u.Columns[name] = x.amount(a)
		}
	}
	if t.data != nil {
		value := func(field string) string { return x.json[field] }
		u.Data = t.data.expand(value)
		if n := len(u.Data); n > MaxDataBytes {
			return BoardUpdate{}, Invalid(x.longest(t.data, value),
				fmt.Sprintf("makes the data on board %s %d bytes long; want at most %d", t.base, n, MaxDataBytes))
		}
	}
	err := u.checkEffect()
	return BoardUpdate{Board: n.Instance(), Update: u}, err
}

func (x *expansion) amount(a amount) int64 {
	if a.field == "" {
		return a.n
	}
	return a.n * x.integer[a.field]
}

// longest returns the field of p with the longest value; of several such fields the first.
func (x *expansion) longest(p template, value func(string) string) string {
	var longest string
	for field := range p.fields() {
		if longest == "" || len(value(field)) > len(value(longest)) {
			longest = field
		}
	}
	return longest
}

// Digest identifies the content of an event under a request id. It does not depend on the
// spelling of the fields, see canonical. It has the same form as the digest of an update. The event must be normalized.
func (e Event) Digest(fields map[string]jsontext.Value) string {
	b := append([]byte(e.Name), keyspace.FieldSep...)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v := fields[name].Clone()
		if name == AtField && e.CarriesTime(fields) {
			if at, err := ParseAt(v); err == nil {
				v = strconv.AppendInt(nil, at.UnixMilli(), 10) // the same for both forms of a time
			}
		}
		// Expand refuses a value that is not valid JSON.
		b = append(append(append(append(b, name...), keyspace.FieldSep...), canonical(v)...), keyspace.RecordSep...)
	}
	return Digest(b)
}
