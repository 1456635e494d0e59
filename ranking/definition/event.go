package definition

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/internal/keyspace"
)

// Event maps one thing that happened onto updates of many boards, so that a
// caller tells it once: it sends the fields that stand in braces in the updates.
// A field is of the type that its uses want: an integer as a score, text in a
// board or a member, any JSON but null where it is in data alone.
type Event struct {
	Name    string   `json:"event"` // as a board without placeholders; not "periods", which is a feed
	Updates []Target `json:"updates"`

	compiled *compiledEvent // by Normalize
}

// Target is one update that an event makes.
type Target struct {
	Board  string         // "stars", "fans:{star}", "hot:{genre}:phone": fields stand in its parts
	Member string         // "{user}", "car {number}"
	Score  string         // "{flowers}", "-{flowers}", or an integer, which in JSON is a number
	Op     Mode           // as Update.Op
	If     Condition      // as Update.If
	Data   jsontext.Value // an object; a text in it that is a field, such as "{user}", becomes its value
}

// Field is a field of an event.
type Field struct {
	Name string
	Type FieldType
}

// FieldType is what an event's field must be, as its uses want.
type FieldType int

// The types of fields.
const (
	AnyField     FieldType = iota // any JSON but null: it is in data alone
	IntegerField                  // it is a score
	TextField                     // it is in a board or a member
)

// Fields are the event's fields by name; none are known before Normalize.
func (e Event) Fields() []Field {
	if e.compiled == nil {
		return nil
	}
	fields := make([]Field, len(e.compiled.names))
	for i, name := range e.compiled.names {
		fields[i] = Field{name, e.compiled.fields[name].fieldType()}
	}
	return fields
}

// maxTargets bounds the updates of an event.
const maxTargets = 32

// PeriodsFeed is the feed of periods that close. Events have feeds of their names.
const PeriodsFeed = "periods"

// compiledEvent is an event made ready to be expanded.
type compiledEvent struct {
	targets []target
	fields  map[string]*use
	names   []string // of the fields, sorted
	digest  string   // of the updates: tells them from others that the event made before
}

type target struct {
	base   string
	parts  []template
	member template
	score  amount
	op     Mode
	cond   Condition
	data   template // JSON: what a field stands for goes in as it came
}

// amount is an integer, or that of a field or minus that.
type amount struct {
	field string // "" for n itself
	n     int64  // 1 or -1 times the field
}

// use is what a field is used as, and where that is.
type use struct {
	integer, text string
	part          bool // in a board, where less is allowed than in a member
}

func (u use) fieldType() FieldType {
	switch {
	case u.integer != "":
		return IntegerField
	case u.text != "":
		return TextField
	default:
		return AnyField
	}
}

// Normalize returns e ready to be expanded, or a FieldError that says what is
// wrong where, such as updates[1].score.
func (e Event) Normalize() (Event, error) {
	if !baseName.MatchString(e.Name) {
		return e, Invalid("event", wantBase)
	}
	if e.Name == PeriodsFeed {
		return e, Invalid("event", "is the name of a feed of its own; choose another")
	}
	if n := len(e.Updates); n < 1 || n > maxTargets {
		return e, Invalid("updates", fmt.Sprintf("has %d; want 1 to %d", n, maxTargets))
	}
	c := &compiledEvent{fields: make(map[string]*use)}
	e.Updates = slices.Clone(e.Updates)
	for i := range e.Updates {
		path := ItemPath("updates", i)
		t, err := c.compile(path, &e.Updates[i])
		if err != nil {
			return e, err
		}
		c.targets = append(c.targets, t)
	}
	c.names = slices.Sorted(maps.Keys(c.fields))
	c.digest = digestOf(e.Updates)
	e.compiled = c
	return e, nil
}

func digestOf(updates []Target) string {
	var b []byte
	for _, t := range updates {
		for _, s := range []string{t.Board, t.Member, t.Score, string(t.Op), string(t.If), string(t.Data)} {
			b = append(append(b, s...), keyspace.FieldSep...)
		}
		b = append(b, keyspace.RecordSep...)
	}
	return Digest(b)
}

// compile makes one update ready. Its data is brought into one form.
func (c *compiledEvent) compile(path string, t *Target) (target, error) {
	compiled := target{op: t.Op, cond: t.If}
	if err := c.compileBoard(path+".board", t.Board, &compiled); err != nil {
		return compiled, err
	}
	if err := c.compileMember(path+".member", t.Member, &compiled); err != nil {
		return compiled, err
	}
	if err := c.compileScore(path+".score", t.Score, &compiled); err != nil {
		return compiled, err
	}
	if t.Op != "" {
		if err := oneOf(path+".op", &t.Op, Sum, Best, Last); err != nil {
			return compiled, err
		}
	}
	if t.If != "" {
		if err := oneOf(path+".if", &t.If, Exists, Absent); err != nil {
			return compiled, err
		}
	}
	return compiled, c.compileData(path+".data", t, &compiled)
}

func (c *compiledEvent) compileBoard(path, board string, t *target) error {
	if board == "" {
		return Invalid(path, "is missing")
	}
	if strings.Contains(board, "@") {
		return Invalid(path, "has a period; an event updates what is open: leave the @ away")
	}
	parts := strings.Split(board, ":")
	if t.base = parts[0]; !baseName.MatchString(t.base) {
		return Invalid(path, wantBase+"; fields stand after that, such as fans:{star}")
	}
	if len(parts)-1 > maxParts {
		return Invalid(path, fmt.Sprintf("has %d parts; want %d at most", len(parts)-1, maxParts))
	}
	for i, s := range parts[1:] {
		p, err := parseTemplate(s)
		if err == nil {
			err = p.literals(partFault, maxPartBytes)
		}
		if err != nil {
			return Invalid(path, fmt.Sprintf("part %d %v", i+1, err))
		}
		for name := range p.fields() {
			if err := c.useText(path, name); err != nil {
				return err
			}
			c.fields[name].part = true
		}
		t.parts = append(t.parts, p)
	}
	return nil
}

func (c *compiledEvent) compileMember(path, member string, t *target) error {
	if member == "" {
		return Invalid(path, "is missing")
	}
	var err error
	if t.member, err = parseTemplate(member); err == nil {
		err = t.member.literals(memberFault, MaxIDBytes)
	}
	if err != nil {
		return Invalid(path, err.Error())
	}
	for name := range t.member.fields() {
		if err := c.useText(path, name); err != nil {
			return err
		}
	}
	return nil
}

func memberFault(s string) string { return TextFault(s, MaxIDBytes) }

func (c *compiledEvent) compileScore(path, score string, t *target) error {
	if score == "" {
		return Invalid(path, "is missing")
	}
	if integerText.MatchString(score) {
		n, err := strconv.ParseInt(score, 10, 64)
		if err != nil || n < -MaxScore || n > MaxScore {
			return Invalid(path, fmt.Sprintf("is %s; want an integer within ±%d", Clip(score), int64(MaxScore)))
		}
		t.score = amount{n: n}
		return nil
	}
	text, minus := strings.CutPrefix(score, "-")
	p, err := parseTemplate(text)
	if err != nil {
		return Invalid(path, err.Error())
	}
	if len(p) != 1 || p[0].field == "" {
		return Invalid(path, fmt.Sprintf("is %q; want an integer, a field alone such as {flowers}, or minus that: -{flowers}", Clip(score)))
	}
	t.score = amount{field: p[0].field, n: 1}
	if minus {
		t.score.n = -1
	}
	u := c.use(t.score.field)
	if u.text != "" {
		return Invalid(path, fmt.Sprintf("uses the field %s as an integer; %s uses it as text", t.score.field, u.text))
	}
	u.integer = cmp.Or(u.integer, path)
	return nil
}

func (c *compiledEvent) compileData(path string, t *Target, compiled *target) error {
	if t.Data == nil {
		return nil
	}
	v, err := parseJSON(path, t.Data)
	if err != nil {
		return err
	}
	if v.kind != '{' {
		return v.want("an object, such as {user: \"{user}\"}")
	}
	if compiled.data, err = v.pattern(nil); err != nil {
		return err
	}
	if n := compiled.data.least(); n > MaxDataBytes {
		return v.refuse("has %d bytes at least; want %d at most", n, MaxDataBytes)
	}
	for name := range compiled.data.fields() {
		c.use(name)
	}
	t.Data, err = v.json(nil)
	return err
}

func (c *compiledEvent) use(name string) *use {
	u := c.fields[name]
	if u == nil {
		u = new(use)
		c.fields[name] = u
	}
	return u
}

func (c *compiledEvent) useText(path, name string) error {
	u := c.use(name)
	if u.integer != "" {
		return Invalid(path, fmt.Sprintf("uses the field %s as text; %s uses it as an integer", name, u.integer))
	}
	u.text = cmp.Or(u.text, path)
	return nil
}

// CheckBoards looks at an event beside the definitions there are; has knows them by
// slot. A FieldError tells which update is for a board that there is not.
func (e Event) CheckBoards(has func(slot string) bool) error {
	for i, u := range e.Updates {
		base, _, _ := strings.Cut(u.Board, ":")
		parts := strings.Count(u.Board, ":")
		if has(SlotOf(base, parts)) {
			continue
		}
		path := ItemPath("updates", i) + ".board"
		var others []string
		for n := range maxParts + 1 {
			if has(SlotOf(base, n)) {
				others = append(others, strconv.Itoa(n))
			}
		}
		if len(others) > 0 {
			return Invalid(path, fmt.Sprintf("has %d parts after %s; there are boards of that name with %s", parts, base, strings.Join(others, ", ")))
		}
		return Invalid(path, fmt.Sprintf("is for %s, but there is no such board", base))
	}
	return nil
}

// Conflict tells why a board never takes an update: what it is, and what is wrong with which
// field; "" where it does.
func (t Target) Conflict(d Board) (is, field, reason string) {
	switch {
	case d.Union != nil:
		return "union", ".board", fmt.Sprintf("is for %s, a union, which is built from other boards; update these", d.Name)
	case d.IsWindowed() && t.Op != "" && t.Op != d.Mode:
		return "window", ".op", fmt.Sprintf("is %s, and %s has a window and mode %s, which is the only op there", t.Op, d.Name, d.Mode)
	case d.IsWindowed() && !d.IsLive() && t.Data != nil:
		return "window", ".data", fmt.Sprintf("does not apply to %s, which has a window whose result is built", d.Name)
	}
	return "", "", ""
}

// Slot is that of the board that an update is for.
func (t Target) Slot() string {
	base, _, _ := strings.Cut(t.Board, ":")
	return SlotOf(base, strings.Count(t.Board, ":"))
}

// IsEventName reports whether an event may have that name: 1 to 64 characters of a-z, 0-9,
// dot, underscore and hyphen, the first of them a letter or a digit.
func IsEventName(name string) bool { return baseName.MatchString(name) }

// UpdatesDigest tells the updates of a normalized event from those that the event made by
// another definition.
func (e Event) UpdatesDigest() string { return e.compiled.digest }
