package definition

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FieldRule restricts the values of a field of an event. It holds for every sender. A field that is used
// as a score may have Min, Max or both. A field that is used in a board or a member may have Kind. Choices are for pages.
type FieldRule struct {
	Min  *int64 `json:"min,omitzero"`  // least value; nil for none
	Max  *int64 `json:"max,omitzero"`  // greatest value; nil for none
	Kind string `json:"kind,omitzero"` // the value is a member that has a profile of this kind; "" for any value
	// Choices are the amounts that pages offer: 1 to 6 integers from 1, ascending and within the bounds. They restrict no
	// sender: a page sends quick taps together, as one sum. nil: pages choose some within the bounds.
	Choices []int64 `json:"choices,omitzero"`
}

// maxChoices bounds Choices by the room of a phone.
const maxChoices = 6

// FieldRules are the rules of an event's fields, by the name of the field.
type FieldRules map[string]FieldRule

// MarshalJSON writes the rules in the order of their names, so that equal rules are equal texts.
func (r FieldRules) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]FieldRule(r), json.Deterministic(true))
}

// check refuses an integer beyond the bounds. field names it in the error, which is of the kind
// ErrOutOfRange.
func (r FieldRule) check(field string, n int64) error {
	if (r.Min == nil || n >= *r.Min) && (r.Max == nil || n <= *r.Max) {
		return nil
	}
	return &FieldError{Field: field, Reason: fmt.Sprintf("is %d; want %s", n, r.bounds()), Kind: ErrOutOfRange}
}

// bounds words Min and Max for an error.
func (r FieldRule) bounds() string {
	switch {
	case r.Max == nil:
		return fmt.Sprintf("at least %d", *r.Min)
	case r.Min == nil:
		return fmt.Sprintf("at most %d", *r.Max)
	}
	return fmt.Sprintf("%d to %d", *r.Min, *r.Max)
}

// compileRules checks the sender and the rules of an event whose updates are compiled.
func (c *compiledEvent) compileRules(e Event) error {
	if u := c.fields[e.Sender]; e.Sender != "" && u == nil {
		return Invalid("sender", fmt.Sprintf("is %q, which is not a field of event %s, which has %s", Clip(e.Sender), e.Name, c.list()))
	} else if u != nil && !u.member {
		return Invalid("sender", fmt.Sprintf("is %s, which names no member; want a field that stands in a member", e.Sender))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Rules)) {
		if err := c.compileRule(e.Name, name, e.Rules[name]); err != nil {
			return err
		}
		if e.Rules[name].Kind != "" {
			c.kinds = append(c.kinds, name)
		}
	}
	c.onlyKeys = c.missingRule(e)
	return nil
}

func (c *compiledEvent) compileRule(event, name string, r FieldRule) error {
	path, u := FieldPath("fields", name), c.fields[name]
	if u == nil {
		return Invalid(path, fmt.Sprintf("is not a field of event %s, which has %s", event, c.list()))
	}
	if r.Min == nil && r.Max == nil && r.Kind == "" && r.Choices == nil {
		return Invalid(path, "has no rule; want min and max for a score, or kind for a board or a member")
	}
	for _, b := range []struct {
		name  string
		bound *int64
	}{{"min", r.Min}, {"max", r.Max}} {
		if b.bound != nil && u.fieldType() != IntegerField {
			return Invalid(path+"."+b.name, fmt.Sprintf("bounds an integer, but %s is not used as a score", name))
		}
	}
	if err := CheckBounds(path+".min", r.Min, path+".max", r.Max); err != nil {
		return err
	}
	if r.Choices != nil && u.fieldType() != IntegerField {
		return Invalid(path+".choices", fmt.Sprintf("are integers, but %s is not used as a score", name))
	}
	if err := r.checkChoices(path + ".choices"); err != nil {
		return err
	}
	if r.Kind == "" {
		return nil
	}
	if u.fieldType() != TextField {
		return Invalid(path+".kind", fmt.Sprintf("is for a member, but %s is used in no board and no member", name))
	}
	if !kindName.MatchString(r.Kind) {
		return Invalid(path+".kind", fmt.Sprintf("is %q; %s", Clip(r.Kind), wantKind))
	}
	return nil
}

func (r FieldRule) checkChoices(path string) error {
	if len(r.Choices) > maxChoices {
		return Invalid(path, fmt.Sprintf("has %d amounts; want at most %d", len(r.Choices), maxChoices))
	}
	least := int64(1)
	for i, n := range r.Choices {
		if n < least || n > MaxScore {
			return Invalid(ItemPath(path, i), fmt.Sprintf("is %d; want ascending integers from 1, such as 1, 9, 99", n))
		}
		if err := r.check(ItemPath(path, i), n); err != nil {
			return Invalid(ItemPath(path, i), fmt.Sprintf("is %d; want one within the bounds of the field, %s", n, r.bounds()))
		}
		least = n + 1
	}
	return nil
}

// missingRule names a rule without which callers who may be anybody could choose a score, or create boards
// and members; "" for none.
func (c *compiledEvent) missingRule(e Event) string {
	missing := func(field, rule string) string {
		return fmt.Sprintf("the definition of the event does not give %s %s, so only keys may send it", field, rule)
	}
	for _, name := range c.names {
		rule := e.Rules[name]
		switch c.fields[name].fieldType() {
		case IntegerField:
			if rule.Min == nil || rule.Max == nil {
				return missing(name, "both min and max")
			}
		case TextField:
			if rule.Kind == "" && name != e.Sender {
				return missing(name, "a kind")
			}
		}
	}
	return ""
}

// CheckSender refuses callers who may be anybody, where the definition does not say what they may send. sub
// is the member for whom the caller has a token; "" for an anonymous caller. The error is a FieldError of the
// kind ErrForbidden. The event must be normalized.
func (e Event) CheckSender(sub string) error {
	switch {
	case sub != "" && e.Sender == "":
		return forbidden("event", "the definition of the event names no sender, so viewers may not send it")
	case e.compiled.onlyKeys != "":
		return forbidden("event", e.compiled.onlyKeys)
	}
	return nil
}

// CheckSent refuses fields that a caller who may be anybody may not send; sub is as for CheckSender. Expand
// has accepted the fields. The sender of a viewer's event must be sub. An anonymous caller chooses the
// sender. Neither says when the event happened. Where an event uses a field in data alone, its value is a text
// or a number, of at most MaxIDBytes. The error is a FieldError; its kind is ErrForbidden for the first two.
func (e Event) CheckSent(sub string, fields map[string]jsontext.Value) error {
	if e.CarriesTime(fields) {
		return forbidden(AtField, "is the time of the event, which only keys may set; omit it")
	}
	if sub != "" {
		if got := textOf(fields[e.Sender]); got != sub {
			return forbidden(e.Sender, fmt.Sprintf("is %q, but the token is for %q", Clip(got), Clip(sub)))
		}
	}
	for _, name := range e.compiled.names {
		if e.compiled.fields[name].fieldType() != AnyField {
			continue
		}
		if err := checkSmall(name, fields[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkSmall refuses a value of a field that is neither a short text nor a number.
func checkSmall(name string, v jsontext.Value) error {
	switch v.Kind() {
	case '"':
		return CheckText(name, textOf(v))
	case '0':
		if n := len(v); n > MaxIDBytes {
			return Invalid(name, fmt.Sprintf("has %d digits; want at most %d", n, MaxIDBytes))
		}
		if _, err := strconv.ParseFloat(string(v), 64); err != nil { // it is JSON, so it is out of range
			return Invalid(name, "is a number that few programs can read; want one within ±1e308")
		}
		return nil
	}
	return Invalid(name, fmt.Sprintf("is %s; without a key want a string or a number", kinds[v.Kind()]))
}

// NamedMember is a member that a field of an event names, and that must have a profile of a kind.
type NamedMember struct{ Field, Kind, Member string }

// NamedMembers returns the members that need a profile, by the rules of the event. Expand has accepted the
// fields.
func (e Event) NamedMembers(fields map[string]jsontext.Value) []NamedMember {
	var all []NamedMember
	for _, name := range e.compiled.kinds {
		all = append(all, NamedMember{name, e.Rules[name].Kind, textOf(fields[name])})
	}
	return all
}

// Missing is the error for a member without a profile of the kind.
func (m NamedMember) Missing() error {
	return Invalid(m.Field, fmt.Sprintf("is %q, which has no profile of the kind %s", Clip(m.Member), m.Kind))
}

// textOf decodes a string; "" for another value.
func textOf(v jsontext.Value) string {
	var s string
	_ = json.Unmarshal(v, &s)
	return s
}

func (e *Event) readRules(v Value) error {
	if v.Kind != '{' || len(v.Fields) == 0 {
		return v.Want("the fields that have rules, such as {flowers: {min: 1, max: 99}}")
	}
	e.Rules = make(FieldRules)
	for _, f := range v.Fields {
		var r FieldRule
		if err := r.read(f.Value); err != nil {
			return err
		}
		e.Rules[f.Name] = r
	}
	return nil
}

func (r *FieldRule) read(v Value) error {
	return ReadFields(v, r, "an object, such as {min: 1, max: 99} or {kind: star}", "the rule of a field", ruleReaders)
}

// ruleReaders read the fields of the rule of a field.
var ruleReaders = []FieldReader[FieldRule]{
	{Name: "min", Read: func(r *FieldRule, v Value) error { return readOptional(v, &r.Min, readBound) }},
	{Name: "max", Read: func(r *FieldRule, v Value) error { return readOptional(v, &r.Max, readBound) }},
	{Name: "kind", Read: func(r *FieldRule, v Value) error { return ReadText(v, &r.Kind) }},
	{Name: "choices", Read: (*FieldRule).readChoices},
}

func (r *FieldRule) readChoices(v Value) error {
	if v.Kind != '[' || len(v.Items) == 0 {
		return v.Want("a list of amounts, such as [1, 9, 99]")
	}
	r.Choices = make([]int64, len(v.Items))
	for i, item := range v.Items {
		if err := readBound(item, &r.Choices[i]); err != nil {
			return err
		}
	}
	return nil
}
