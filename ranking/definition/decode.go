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

// read copies the fields of an object into d.
func (d *Board) read(v Value) error {
	return v.readFields("an object with the fields of a board, or {} for the defaults", "a board", d.readers())
}

func (d *Board) readers() []fieldReader {
	return []fieldReader{
		{name: "board", read: readName(d.Name), isName: true},
		{name: "title", read: d.Title.read},
		{name: "description", read: d.Description.read},
		{name: "icon", read: readText(&d.Icon)},
		{name: "mode", read: readText(&d.Mode)},
		{name: "order", read: readText(&d.Order)},
		{name: "ties", read: readText(&d.Ties)},
		{name: "period", read: readText(&d.Period)},
		{name: "base", read: readTime(&d.Base)},
		{name: "timezone", read: readText(&d.Timezone)},
		{name: "week_starts", read: readText(&d.WeekStarts)},
		{name: "day_starts_at", read: readText(&d.DayStartsAt)},
		{name: "keep", read: readOptional(&d.Keep, func(n *int) reader { return readInteger(n, 0) })},
		{name: "retain", read: readDuration(&d.Retain)},
		{name: "starts", read: readTime(&d.Starts)},
		{name: "ends", read: readTime(&d.Ends)},
		{name: "window", read: readRange(&d.Window, wantWindow)},
		{name: "refresh", read: readWindowRefresh(&d.Refresh)},
		{name: "member_ttl", read: readDuration(&d.MemberTTL)},
		{name: "limit", read: readInteger(&d.Limit, 1)},
		{name: "tie_span", read: readDuration(&d.TieSpan)},
		{name: "min", read: readOptional(&d.Min, readBound)},
		{name: "max", read: readOptional(&d.Max, readBound)},
		{name: "max_change", read: readInteger(&d.MaxChange, 1)},
		{name: "union", read: readOptional(&d.Union, (*Union).reader)},
		{name: "history", read: readRange(&d.History, wantHistory)},
		{name: "ids", read: readRange(&d.IDs, wantIDs)},
		{name: "max_instances", read: readInteger(&d.MaxInstances, 1)},
		{name: "kind", read: readText(&d.Kind)},
		{name: "display", read: d.Display.read},
	}
}

func (d *Display) read(v Value) error {
	return v.readFields("an object, such as {decimals: 2}", "display", []fieldReader{
		{name: "unit", read: d.Unit.read},
		{name: "decimals", read: readInteger(&d.Decimals, 0)},
		{name: "format", read: readText(&d.Format)},
	})
}

// readName checks that the name in a body equals the name of the definition being read.
func readName(name string) reader {
	return func(v Value) error {
		var given string
		if err := ReadText(v, &given); err != nil {
			return err
		}
		if given != name {
			return v.Refuse("is %q, but the request is for %q", Clip(given), Clip(name))
		}
		return nil
	}
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
	return v.readFields("an object with updates", "an event", []fieldReader{
		{name: "event", read: readName(e.Name), isName: true},
		{name: "updates", read: e.readUpdates},
		{name: "sender", read: readText(&e.Sender)},
		{name: "fields", read: e.readRules},
		{name: "ids", read: readRange(&e.IDs, wantIDs)},
		{name: "show", read: readOptional(&e.Show, (*Show).reader)},
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
	return v.readFields("an object with board, member and score", "an update", []fieldReader{
		{name: "board", read: readText(&t.Board)},
		{name: "member", read: readText(&t.Member)},
		{name: "score", read: t.readScore},
		{name: "op", read: readText(&t.Op)},
		{name: "if", read: readText(&t.If)},
		{name: "data", read: t.readData},
	})
}

func (t *Target) readData(v Value) (err error) {
	t.Data, err = v.json(nil)
	return err
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
	if err := readBound(&n)(v); err != nil {
		return err
	}
	t.Score = strconv.FormatInt(n, 10)
	return nil
}
