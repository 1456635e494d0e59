package definition

import (
	"cmp"
	"errors"
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

// Event maps one thing that happened onto updates of many boards, so that a caller sends it
// once. The caller sends the fields whose names stand in braces in the updates.
// The uses of a field decide its type. A score needs an integer, and a board or a member needs
// a string. A field that is used only in data may have any JSON value but null.
type Event struct {
	Name string `json:"event"` // by the rule of a board without placeholders; not "periods", which is a feed
	// Sender is the field that names the viewer who sends the event, as a member; "" if viewers may not send
	// it. See CheckSender.
	Sender string        `json:"sender,omitzero"`
	Rules  FieldRules    `json:"fields,omitzero"` // nil for none
	IDs    time.Duration `json:"ids,omitzero"`    // how long the id of an occurrence counts at least: 10m to 7d. Default 10m
	// FreezeFeed says that the feed goes on while a board of the event is frozen. Else it pauses. Default: it pauses.
	FreezeFeed FreezeFeed `json:"freeze_feed,omitzero"`
	Show       *Show      `json:"show,omitzero"` // what the page about the event shows; nil: it has no page
	Updates    []Target   `json:"updates"`       // 1 to 32

	compiled *compiledEvent // set by Normalize
	inObject bool           // the boards file has an object for the event, and not a list of updates
}

// Target is one update that an event makes.
type Target struct {
	Board  string `json:"board"`  // "stars", "fans:{star}", "hot:{genre}:phone": fields may stand in its parts
	Member string `json:"member"` // "{user}", "car {number}"
	Score  Amount `json:"score,omitzero"`
	// Columns, on a board with columns, takes the place of Score; see Update.Columns. nil on another board.
	Columns ColumnAmounts `json:"columns,omitzero"`
	Op      Mode          `json:"op,omitzero"` // see Update.Op
	If      Condition     `json:"if,omitzero"` // see Update.If
	// Data is an object; a string in it that is a field, such as "{user}", is replaced by the field's value.
	Data jsontext.Value `json:"data,omitzero"`
}

// Amount is "{flowers}", "-{flowers}", or an integer, which is a number in JSON.
type Amount string

// ColumnAmounts are the amounts of an update's columns, by the name of the column.
type ColumnAmounts map[string]Amount

// MarshalJSON writes the amounts in the order of their names, so that equal amounts are equal texts.
func (c ColumnAmounts) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]Amount(c), json.Deterministic(true))
}

// FieldType is the type of an event's field, which follows from its uses.
type FieldType int

// The types of fields.
const (
	AnyField     FieldType = iota // any JSON value but null; the field is used only in data
	IntegerField                  // an integer; the field is used as a score
	TextField                     // a string; the field is used in a board or a member
)

// FieldNames returns the names of the event's fields, sorted. The event must be normalized.
func (e Event) FieldNames() []string { return e.compiled.names }

// FieldType returns the type of a field. It returns false for a name that no field has. The event must be normalized.
func (e Event) FieldType(name string) (is FieldType, ok bool) {
	if u := e.compiled.fields[name]; u != nil {
		return u.fieldType(), true
	}
	return AnyField, false
}

// maxTargets bounds the updates of an event.
const maxTargets = 32

// PeriodsFeed is the name of the feed of settled periods. The feed of an event has the name
// of the event.
const PeriodsFeed = "periods"

// compiledEvent is an event that is ready for Expand.
type compiledEvent struct {
	targets []target
	fields  map[string]*use
	names   []string // of the fields, sorted
	digest  string   // of the updates, which differ between two definitions of the event

	kinds    []string // fields with a rule that has a kind, sorted
	onlyKeys string   // why nobody but keys may send the event; "": the rules bound all its fields
	shown    string   // see ShownField
}

// target is a Target that is ready for Expand.
type target struct {
	base   string
	parts  []template
	member template
	score  amount
	column map[string]amount // nil for an update with a score
	op     Mode
	cond   Condition
	data   template // JSON; a field's value is inserted as it came
}

// amount is an integer, the value of a field, or minus the value of a field.
type amount struct {
	field string // "" when the amount is n
	n     int64  // the amount, or the factor of the field: 1 or -1
}

// use holds the types that a field is used as.
type use struct {
	integer, text string // the path of the first use as an integer, and as text; "" for none
	part          bool   // used in a part of a board, which allows fewer characters than a member
	member        bool   // used in a member
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

// Normalize returns e ready for Expand, or a FieldError that names the field that is wrong,
// such as updates[1].score.
func (e Event) Normalize() (Event, error) {
	if reason := baseFault(e.Name); reason != "" {
		return e, Invalid("event", reason)
	}
	if e.Name == PeriodsFeed {
		return e, Invalid("event", "is the name of the feed of settled periods; choose another name")
	}
	if reason := idsRange.fault(e.IDs); reason != "" {
		return e, Invalid("ids", reason)
	}
	if err := optional("freeze_feed", e.FreezeFeed, FeedOn); err != nil {
		return e, err
	}
	if n := len(e.Updates); n < 1 || n > maxTargets {
		return e, Invalid("updates", fmt.Sprintf("has %d updates; want 1 to %d", n, maxTargets))
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
	if e.Rules = maps.Clone(e.Rules); len(e.Rules) == 0 {
		e.Rules = nil
	}
	if err := c.compileRules(e); err != nil {
		return e, err
	}
	if err := c.compileShow(&e); err != nil {
		return e, err
	}
	e.compiled = c
	return e, nil
}

// digestOf returns the digest of an event's updates, see UpdatesDigest.
func digestOf(updates []Target) string {
	var b []byte
	for _, t := range updates {
		for _, s := range []string{t.Board, t.Member, string(t.Score), string(t.Op), string(t.If), string(t.Data)} {
			b = append(append(b, s...), keyspace.FieldSep...)
		}
		for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
			b = append(append(append(append(b, name...), keyspace.FieldSep...), t.Columns[name]...), keyspace.FieldSep...)
		}
		b = append(b, keyspace.RecordSep...)
	}
	return Digest(b)
}

// compile checks one update and makes it ready for Expand. It replaces t.Data by its compact
// form.
func (c *compiledEvent) compile(path string, t *Target) (target, error) {
	compiled := target{op: t.Op, cond: t.If}
	if err := cmp.Or(c.compileBoard(path+".board", t.Board, &compiled), c.compileMember(path+".member", t.Member, &compiled),
		c.compileScore(path, t, &compiled),
		optional(path+".op", t.Op, Sum, Best, Last), optional(path+".if", t.If, Exists, Absent)); err != nil {
		return compiled, err
	}
	return compiled, c.compileData(path+".data", t, &compiled)
}

func (c *compiledEvent) compileBoard(path, board string, t *target) error {
	if board == "" {
		return Invalid(path, "is missing")
	}
	if strings.Contains(board, "@") {
		return Invalid(path, "has a period, but an event updates the current period; omit the @ and what follows it")
	}
	base, parts, err := splitName(path, board, "parts", "; fields follow after a colon, such as fans:{star}")
	if err != nil {
		return err
	}
	t.base = base
	for i, s := range parts {
		p, err := parseTemplate(s)
		if err != nil {
			return Invalid(path, fmt.Sprintf("part %d %v", i+1, err))
		}
		if reason := partFault(p.shortest()); reason != "" {
			return Invalid(path, fmt.Sprintf("part %d %s", i+1, reason))
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
	if t.member, err = parseTemplate(member); err != nil {
		return Invalid(path, err.Error())
	}
	shortest := t.member.shortest()
	if reason := cmp.Or(dotFault(shortest), TextFault(shortest, MaxIDBytes)); reason != "" {
		return Invalid(path, reason)
	}
	for name := range t.member.fields() {
		if err := c.useText(path, name); err != nil {
			return err
		}
		c.fields[name].member = true
	}
	return nil
}

func (c *compiledEvent) compileScore(path string, t *Target, compiled *target) (err error) {
	if t.Columns == nil {
		compiled.score, err = c.compileAmount(path+".score", string(t.Score))
		return err
	}
	if t.Score != "" {
		return Invalid(path+".score", "cannot stand beside columns")
	}
	if n := len(t.Columns); n == 0 || n > MaxColumns {
		return Invalid(path+".columns", fmt.Sprintf("has %d columns; want 1 to %d", n, MaxColumns))
	}
	compiled.column = make(map[string]amount, len(t.Columns))
	for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
		if compiled.column[name], err = c.compileAmount(FieldPath(path+".columns", name), string(t.Columns[name])); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiledEvent) compileAmount(path, score string) (a amount, err error) {
	if score == "" {
		return a, Invalid(path, "is missing")
	}
	if integerText.MatchString(score) {
		n, err := strconv.ParseInt(score, 10, 64)
		if err != nil || n < -MaxScore || n > MaxScore {
			return a, Invalid(path, fmt.Sprintf("is %s; want an integer within ±%d", Clip(score), int64(MaxScore)))
		}
		return amount{n: n}, nil
	}
	text, minus := strings.CutPrefix(score, "-")
	p, err := parseTemplate(text)
	if err != nil {
		return a, Invalid(path, err.Error())
	}
	if len(p) != 1 || p[0].field == "" {
		return a, Invalid(path,
			fmt.Sprintf("is %q; want an integer, a single field such as {flowers}, or a negated field such as -{flowers}", Clip(score)))
	}
	a = amount{field: p[0].field, n: 1}
	if minus {
		a.n = -1
	}
	u := c.use(a.field)
	if u.text != "" {
		return a, Invalid(path, fmt.Sprintf("uses the field %s as an integer; %s uses it as text", a.field, u.text))
	}
	u.integer = cmp.Or(u.integer, path)
	return a, nil
}

func (c *compiledEvent) compileData(path string, t *Target, compiled *target) error {
	if t.Data == nil {
		return nil
	}
	v, err := parseJSON(path, t.Data)
	if err != nil {
		return err
	}
	if compiled.data, err = dataIn(v); err != nil {
		return err
	}
	if n := len(compiled.data.shortest()); n > MaxDataBytes {
		return v.Refuse("has at least %d bytes; want at most %d", n, MaxDataBytes)
	}
	for name := range compiled.data.fields() {
		c.use(name)
	}
	t.Data = compiled.data.source()
	return nil
}

// use returns the use of a field, which it creates for a new field.
func (c *compiledEvent) use(name string) *use {
	u := c.fields[name]
	if u == nil {
		u = new(use)
		c.fields[name] = u
	}
	return u
}

// useText records that the field is used as text at path, or returns a FieldError where it is
// also used as an integer.
func (c *compiledEvent) useText(path, name string) error {
	u := c.use(name)
	if u.integer != "" {
		return Invalid(path, fmt.Sprintf("uses the field %s as text; %s uses it as an integer", name, u.integer))
	}
	u.text = cmp.Or(u.text, path)
	return nil
}

// CheckBoards checks that each update of the event is for a defined board, which can take it. there reports whether a
// slot has a definition, and defined has those that the caller can read. A FieldError names the first update that is wrong.
func (e Event) CheckBoards(defined map[string]Board, there map[string]bool) error {
	for i, u := range e.Updates {
		path := ItemPath("updates", i)
		if !there[u.Slot()] {
			return Invalid(path+".board", fmt.Sprintf("is for %s, but there is no such board; define it first", Clip(u.Board)))
		}
		if is, field, reason := u.Conflict(defined[u.Slot()]); is != "" {
			return Invalid(path+field, reason)
		}
	}
	return fault(e.freezeFault(defined))
}

// FreezeConflict says why a board cannot be as defined while the event updates it; "" if it can.
func (e Event) FreezeConflict(defined map[string]Board) string {
	field, reason := e.freezeFault(defined)
	return strings.TrimSpace(field + " " + reason)
}

// Conflict says why the board d can never take the update: the type of board ("union" or
// "window"), the field of the update, and the reason. All are "" when d can take it.
func (t Target) Conflict(d Board) (is, field, reason string) {
	switch {
	case d.Union != nil:
		return "union", ".board", fmt.Sprintf("is for %s, a union, which is built from other boards; update those boards instead", d.Name)
	case d.IsWindowed() && t.Op != "" && t.Op != d.Mode:
		return "window", ".op", fmt.Sprintf("is %s, but %s has a window and mode %s; want the mode of the board as op, or omit op",
			t.Op, d.Name, d.Mode)
	case d.IsWindowed() && !d.IsLive() && t.Data != nil:
		return "window", ".data", fmt.Sprintf("does not apply to %s, which has a window whose result is built; omit it", d.Name)
	}
	return t.columnsConflict(d)
}

// columnsConflict is Conflict for the columns of a board, or of the update.
func (t Target) columnsConflict(d Board) (is, field, reason string) {
	switch {
	case d.Name == "" || d.Columns == nil && t.Columns == nil:
		return "", "", ""
	case d.Columns == nil:
		return "columns", ".columns", fmt.Sprintf("does not apply to %s, which has no columns; want score", d.Name)
	case t.Columns == nil:
		return "columns", ".score", fmt.Sprintf("does not apply to %s, which has columns; want %s", d.Name, d.Columns.example())
	}
	if fault, is := errors.AsType[*FieldError](checkKnown(d.Columns, ".columns", t.Columns)); is {
		return "columns", fault.Field, fault.Reason
	}
	if name := missingColumn(d.Columns, t.Columns, cmp.Or(t.Op, d.Mode)); name != "" {
		return "columns", ".columns", fmt.Sprintf("lacks %s; only an update with op sum may leave columns out", name)
	}
	return "", "", ""
}

// Slot is the slot of the board that the update is for.
func (t Target) Slot() string { return SlotOf(t.Board) }

// MemberField returns the field that is the member of the update as a whole. ok is false where another text is the member.
func (t Target) MemberField() (field string, ok bool) {
	field, ok = PlaceholderIn(t.Member)
	return field, ok && !strings.ContainsAny(field, "{}")
}

// IsEventName reports whether an event may have the name: 1 to 64 characters of a-z, 0-9,
// dot, underscore and hyphen, of which the first is a letter or a digit.
func IsEventName(name string) bool { return baseName.MatchString(name) }

// UpdatesDigest returns a digest of the updates of a normalized event. It differs between two
// definitions of the event whose updates differ.
func (e Event) UpdatesDigest() string { return e.compiled.digest }
