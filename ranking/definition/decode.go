package definition

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ParseBoard reads the definition of one board from the JSON object in the body of a PUT:
//
//	{"period":"week","timezone":"Asia/Shanghai"}
//
// The object may contain the board's name, as the output of MarshalJSON does; then the name
// must equal board. The result is normalized. An error is a FieldError that names the field.
func ParseBoard(board string, body []byte) (Board, error) {
	d := Board{Name: board}
	v, err := parseJSON("", body)
	if err == nil {
		err = d.read(v)
	}
	if err == nil {
		d, err = d.Normalize()
	}
	return d, rooted("body", err)
}

// asDefined writes durations and times in the form that definitions use.
var asDefined = json.WithMarshalers(json.JoinMarshalers(
	json.MarshalFunc(func(d time.Duration) ([]byte, error) {
		if d == Live {
			return json.Marshal(liveText)
		}
		return json.Marshal(FormatDuration(d))
	}),
	json.MarshalFunc(func(t time.Time) ([]byte, error) { return json.Marshal(t.UTC().Format(TimeForm)) }),
))

// MarshalJSON writes a normalized definition; ParseBoard reads it.
func (d Board) MarshalJSON() ([]byte, error) {
	type plain Board // without this method
	return json.Marshal(plain(d), asDefined)
}

// UnmarshalJSON reads the output of MarshalJSON, or any other definition that contains the
// board's name.
func (d *Board) UnmarshalJSON(b []byte) error {
	board, err := nameIn(b, "board")
	if err == nil {
		*d, err = ParseBoard(board, b)
	}
	return err
}

// boardFields are the fields that readField knows, apart from the name. An error lists them.
var boardFields = []string{
	"mode", "order", "ties", "period", "base", "timezone", "week_starts", "day_starts_at", "keep", "retain", "starts", "ends",
	"window", "refresh", "member_ttl", "limit", "tie_span", "min", "max", "max_change", "union", "max_instances", "kind", "display",
}

// read copies the fields of an object into d.
func (d *Board) read(v value) error {
	return v.object("an object with the fields of a board, or {} for the defaults", boardFields, func(f field) error { return d.readField(v.path, f) })
}

// readField reads one field of the object at path.
func (d *Board) readField(path string, f field) error {
	switch f.name {
	case "board":
		return readName(f, d.Name)
	case "mode":
		return readText(f.value, &d.Mode)
	case "order":
		return readText(f.value, &d.Order)
	case "ties":
		return readText(f.value, &d.Ties)
	case "period":
		return readText(f.value, &d.Period)
	case "base":
		return readTime(f.value, &d.Base)
	case "timezone":
		return readText(f.value, &d.Timezone)
	case "week_starts":
		return readText(f.value, &d.WeekStarts)
	case "day_starts_at":
		return readText(f.value, &d.DayStartsAt)
	case "keep":
		d.Keep = new(int)
		return readInteger(f.value, d.Keep, 0)
	case "retain":
		return readDuration(f.value, &d.Retain)
	case "starts":
		return readTime(f.value, &d.Starts)
	case "ends":
		return readTime(f.value, &d.Ends)
	case "window":
		return readRange(f.value, &d.Window, wantWindow)
	case "refresh":
		if f.value.kind == '"' && f.value.text == liveText {
			d.Refresh = Live
			return nil
		}
		return readRange(f.value, &d.Refresh, wantWindowRefresh)
	case "member_ttl":
		return readDuration(f.value, &d.MemberTTL)
	case "limit":
		return readInteger(f.value, &d.Limit, 1)
	case "tie_span":
		return readDuration(f.value, &d.TieSpan)
	case "min":
		d.Min = new(int64)
		return readBound(f.value, d.Min)
	case "max":
		d.Max = new(int64)
		return readBound(f.value, d.Max)
	case "max_change":
		return readInteger(f.value, &d.MaxChange, 1)
	case "union":
		d.Union = new(Union)
		return d.Union.read(f.value)
	case "max_instances":
		return readInteger(f.value, &d.MaxInstances, 1)
	case "kind":
		return readText(f.value, &d.Kind)
	case "display":
		return d.Display.read(f.value)
	}
	return f.unknown(path, "a board", boardFields)
}

func (d *Display) read(v value) error {
	fields := []string{"unit", "decimals", "format"}
	return v.object("an object, such as {decimals: 2}", fields, func(f field) error {
		switch f.name {
		case "unit":
			return readText(f.value, &d.Unit)
		case "decimals":
			return readInteger(f.value, &d.Decimals, 0)
		case "format":
			return readText(f.value, &d.Format)
		}
		return f.unknown(v.path, "display", fields)
	})
}

// readName checks that the name in a body equals the name of the definition being read.
func readName(f field, name string) error {
	var given string
	if err := readText(f.value, &given); err != nil {
		return err
	}
	if given != name {
		return f.refuse("is %q, but the request is for %q", Clip(given), Clip(name))
	}
	return nil
}

// nameIn returns the name that the JSON of a definition contains.
func nameIn(b []byte, field string) (string, error) {
	v, err := parseJSON("", b)
	if err != nil {
		return "", rooted("body", err)
	}
	for _, f := range v.fields {
		if f.name == field {
			var name string
			return name, readText(f.value, &name)
		}
	}
	return "", Invalid(field, "is missing")
}

// ParseEvent reads one event from the JSON object in the body of a PUT:
//
//	{"updates":[{"board":"stars","member":"{star}","score":"{flowers}"}]}
//
// The object may contain the event's name, which must then equal event. The result is
// normalized. An error is a FieldError that names the field, such as updates[0].score.
func ParseEvent(event string, body []byte) (Event, error) {
	e := Event{Name: event}
	v, err := parseJSON("", body)
	if err == nil {
		err = e.read(v)
	}
	if err == nil {
		e, err = e.Normalize()
	}
	return e, rooted("body", err)
}

// UnmarshalJSON reads the JSON of an event that contains the event's name.
func (e *Event) UnmarshalJSON(b []byte) error {
	event, err := nameIn(b, "event")
	if err == nil {
		*e, err = ParseEvent(event, b)
	}
	return err
}

// MarshalJSON writes t. An integer score becomes a JSON number, and a field a string.
func (t Target) MarshalJSON() ([]byte, error) {
	score := any(t.Score)
	if integerText.MatchString(t.Score) {
		score = jsontext.Value(t.Score)
	}
	return json.Marshal(struct {
		Board  string         `json:"board"`
		Member string         `json:"member"`
		Score  any            `json:"score"`
		Op     Mode           `json:"op,omitzero"`
		If     Condition      `json:"if,omitzero"`
		Data   jsontext.Value `json:"data,omitzero"`
	}{t.Board, t.Member, score, t.Op, t.If, t.Data})
}

func (e *Event) read(v value) error {
	fields := []string{"updates"}
	return v.object("an object with updates", fields, func(f field) error {
		switch f.name {
		case "event":
			return readName(f, e.Name)
		case "updates":
			return e.readUpdates(f.value)
		}
		return f.unknown(v.path, "an event", fields)
	})
}

func (e *Event) readUpdates(v value) error {
	if v.kind != '[' {
		return v.want("a list of updates, such as [{board: stars, member: \"{star}\", score: 1}]")
	}
	for _, item := range v.items {
		var t Target
		if err := t.read(item); err != nil {
			return err
		}
		e.Updates = append(e.Updates, t)
	}
	return nil
}

func (t *Target) read(v value) error {
	fields := []string{"board", "member", "score", "op", "if", "data"}
	return v.object("an object with board, member and score", fields, func(f field) (err error) {
		switch f.name {
		case "board":
			return readText(f.value, &t.Board)
		case "member":
			return readText(f.value, &t.Member)
		case "score":
			return t.readScore(f.value)
		case "op":
			return readText(f.value, &t.Op)
		case "if":
			return readText(f.value, &t.If)
		case "data":
			t.Data, err = f.json(nil)
			return err
		}
		return f.unknown(v.path, "an update", fields)
	})
}

// readScore reads an integer, or a string that names a field.
func (t *Target) readScore(v value) error {
	if v.kind == '"' {
		if integerText.MatchString(v.text) {
			return v.refuse("is the string %q; want a number without quotes, or a field such as \"{flowers}\"", Clip(v.text))
		}
		return readText(v, &t.Score)
	}
	var n int64
	if err := readBound(v, &n); err != nil {
		return err
	}
	t.Score = strconv.FormatInt(n, 10)
	return nil
}
