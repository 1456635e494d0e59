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
	return d, Rooted("body", err)
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
	"title", "description", "icon", "mode", "order", "ties", "period", "base", "timezone", "week_starts", "day_starts_at", "keep",
	"retain", "starts", "ends", "window", "refresh", "member_ttl", "limit", "tie_span", "min", "max", "max_change",
	"union", "history", "ids", "max_instances", "kind", "display",
}

// read copies the fields of an object into d.
func (d *Board) read(v Value) error {
	return v.ReadObject("an object with the fields of a board, or {} for the defaults", boardFields,
		func(f FieldValue) error { return d.readField(v.Path, f) })
}

// readField reads one field of the object at path.
func (d *Board) readField(path string, f FieldValue) error {
	switch f.Name {
	case "board":
		return readName(f, d.Name)
	case "title":
		return d.Title.read(f.Value)
	case "description":
		return d.Description.read(f.Value)
	case "icon":
		return ReadText(f.Value, &d.Icon)
	case "mode":
		return ReadText(f.Value, &d.Mode)
	case "order":
		return ReadText(f.Value, &d.Order)
	case "ties":
		return ReadText(f.Value, &d.Ties)
	case "period":
		return ReadText(f.Value, &d.Period)
	case "base":
		return readTime(f.Value, &d.Base)
	case "timezone":
		return ReadText(f.Value, &d.Timezone)
	case "week_starts":
		return ReadText(f.Value, &d.WeekStarts)
	case "day_starts_at":
		return ReadText(f.Value, &d.DayStartsAt)
	case "keep":
		d.Keep = new(int)
		return readInteger(f.Value, d.Keep, 0)
	case "retain":
		return readDuration(f.Value, &d.Retain)
	case "starts":
		return readTime(f.Value, &d.Starts)
	case "ends":
		return readTime(f.Value, &d.Ends)
	case "window":
		return readRange(f.Value, &d.Window, wantWindow)
	case "refresh":
		if f.Value.Kind == '"' && f.Value.Text == liveText {
			d.Refresh = Live
			return nil
		}
		return readRange(f.Value, &d.Refresh, wantWindowRefresh)
	case "member_ttl":
		return readDuration(f.Value, &d.MemberTTL)
	case "limit":
		return readInteger(f.Value, &d.Limit, 1)
	case "tie_span":
		return readDuration(f.Value, &d.TieSpan)
	case "min":
		return readOptionalBound(f.Value, &d.Min)
	case "max":
		return readOptionalBound(f.Value, &d.Max)
	case "max_change":
		return readInteger(f.Value, &d.MaxChange, 1)
	case "union":
		d.Union = new(Union)
		return d.Union.read(f.Value)
	case "history":
		return readRange(f.Value, &d.History, wantHistory)
	case "ids":
		return readRange(f.Value, &d.IDs, wantIDs)
	case "max_instances":
		return readInteger(f.Value, &d.MaxInstances, 1)
	case "kind":
		return ReadText(f.Value, &d.Kind)
	case "display":
		return d.Display.read(f.Value)
	}
	return f.Unknown(path, "a board", boardFields)
}

func (d *Display) read(v Value) error {
	fields := []string{"unit", "decimals", "format"}
	return v.ReadObject("an object, such as {decimals: 2}", fields, func(f FieldValue) error {
		switch f.Name {
		case "unit":
			return d.Unit.read(f.Value)
		case "decimals":
			return readInteger(f.Value, &d.Decimals, 0)
		case "format":
			return ReadText(f.Value, &d.Format)
		}
		return f.Unknown(v.Path, "display", fields)
	})
}

// readName checks that the name in a body equals the name of the definition being read.
func readName(f FieldValue, name string) error {
	var given string
	if err := ReadText(f.Value, &given); err != nil {
		return err
	}
	if given != name {
		return f.Refuse("is %q, but the request is for %q", Clip(given), Clip(name))
	}
	return nil
}

// nameIn returns the name that the JSON of a definition contains.
func nameIn(b []byte, field string) (string, error) {
	v, err := parseJSON("", b)
	if err != nil {
		return "", Rooted("body", err)
	}
	for _, f := range v.Fields {
		if f.Name == field {
			var name string
			return name, ReadText(f.Value, &name)
		}
	}
	return "", Invalid(field, "is missing")
}

// ParseEvent reads one event from the JSON object in the body of a PUT:
//
//	{"updates":[{"board":"stars","member":"{star}","score":"{flowers}"}],
//	 "sender":"user","fields":{"flowers":{"min":1,"max":99}}}
//
// sender, fields, ids and show may be left out. The object may contain the event's name, which must then
// equal event. The result is
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
	return e, Rooted("body", err)
}

// UnmarshalJSON reads the JSON of an event that contains the event's name.
func (e *Event) UnmarshalJSON(b []byte) error {
	event, err := nameIn(b, "event")
	if err == nil {
		*e, err = ParseEvent(event, b)
	}
	return err
}

// MarshalJSON writes a normalized event; ParseEvent reads it.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event // without this method
	return json.Marshal(plain(e), asDefined)
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

func (e *Event) read(v Value) error {
	fields := []string{"updates", "sender", "fields", "ids", "show"}
	return v.ReadObject("an object with updates", fields, func(f FieldValue) error {
		switch f.Name {
		case "event":
			return readName(f, e.Name)
		case "updates":
			return e.readUpdates(f.Value)
		case "sender":
			return ReadText(f.Value, &e.Sender)
		case "fields":
			return e.readRules(f.Value)
		case "ids":
			return readRange(f.Value, &e.IDs, wantIDs)
		case "show":
			return e.readShow(f.Value)
		}
		return f.Unknown(v.Path, "an event", fields)
	})
}

func (e *Event) readUpdates(v Value) error {
	if v.Kind != '[' {
		return v.Want("a list of updates, such as [{board: stars, member: \"{star}\", score: 1}]")
	}
	for _, item := range v.Items {
		var t Target
		if err := t.read(item); err != nil {
			return err
		}
		e.Updates = append(e.Updates, t)
	}
	return nil
}

func (t *Target) read(v Value) error {
	fields := []string{"board", "member", "score", "op", "if", "data"}
	return v.ReadObject("an object with board, member and score", fields, func(f FieldValue) (err error) {
		switch f.Name {
		case "board":
			return ReadText(f.Value, &t.Board)
		case "member":
			return ReadText(f.Value, &t.Member)
		case "score":
			return t.readScore(f.Value)
		case "op":
			return ReadText(f.Value, &t.Op)
		case "if":
			return ReadText(f.Value, &t.If)
		case "data":
			t.Data, err = f.json(nil)
			return err
		}
		return f.Unknown(v.Path, "an update", fields)
	})
}

// readScore reads an integer, or a string that names a field.
func (t *Target) readScore(v Value) error {
	if v.Kind == '"' {
		if integerText.MatchString(v.Text) {
			return v.Refuse("is the string %q; want a number without quotes, or a field such as \"{flowers}\"", Clip(v.Text))
		}
		return ReadText(v, &t.Score)
	}
	var n int64
	if err := readBound(v, &n); err != nil {
		return err
	}
	t.Score = strconv.FormatInt(n, 10)
	return nil
}
