package definition

import (
	"cmp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// ParseBoard reads the definition of one board from the JSON object in the body of a PUT:
//
//	{"period":"week","timezone":"Asia/Shanghai"}
//
// The object may contain the board's name, as the output of MarshalJSON does; then the name
// must equal board, if board is not "". The result is normalized. An error is a FieldError that names the field.
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
	board, err := ParseBoard("", b)
	*d = board
	return err
}

// read copies the fields of an object into d.
func (d *Board) read(v Value) error {
	return ReadFields(v, d, "an object with the fields of a board, or {} for the defaults", "a board", boardReaders)
}

// boardReaders read the fields of a board, in the order in which an error lists them.
var boardReaders = []FieldReader[Board]{
	{Name: "board", Read: func(d *Board, v Value) error { return readName(v, &d.Name) }, isName: true},
	{Name: "title", Read: func(d *Board, v Value) error { return d.Title.read(v) }},
	{Name: "description", Read: func(d *Board, v Value) error { return d.Description.read(v) }},
	{Name: "icon", Read: func(d *Board, v Value) error { return ReadText(v, &d.Icon) }},
	{Name: "mode", Read: func(d *Board, v Value) error { return ReadText(v, &d.Mode) }},
	{Name: "order", Read: func(d *Board, v Value) error { return ReadText(v, &d.Order) }},
	{Name: "ties", Read: func(d *Board, v Value) error { return ReadText(v, &d.Ties) }},
	{Name: "period", Read: func(d *Board, v Value) error { return ReadText(v, &d.Period) }},
	{Name: "base", Read: func(d *Board, v Value) error { return readTime(v, &d.Base) }},
	{Name: "timezone", Read: func(d *Board, v Value) error { return ReadText(v, &d.Timezone) }},
	{Name: "week_starts", Read: func(d *Board, v Value) error { return ReadText(v, &d.WeekStarts) }},
	{Name: "day_starts_at", Read: func(d *Board, v Value) error { return ReadText(v, &d.DayStartsAt) }},
	{Name: "keep", Read: func(d *Board, v Value) error { return readOptional(v, &d.Keep, readKeep) }},
	{Name: "retain", Read: func(d *Board, v Value) error { return readDuration(v, &d.Retain) }},
	{Name: "starts", Read: func(d *Board, v Value) error { return readTime(v, &d.Starts) }},
	{Name: "ends", Read: func(d *Board, v Value) error { return readTime(v, &d.Ends) }},
	{Name: "window", Read: func(d *Board, v Value) error { return windowRange.read(v, &d.Window) }},
	{Name: "refresh", Read: func(d *Board, v Value) error { return readWindowRefresh(v, &d.Refresh) }},
	{Name: "member_ttl", Read: func(d *Board, v Value) error { return readDuration(v, &d.MemberTTL) }},
	{Name: "limit", Read: func(d *Board, v Value) error { return readInteger(v, &d.Limit, 1) }},
	{Name: "tie_span", Read: func(d *Board, v Value) error { return readDuration(v, &d.TieSpan) }},
	{Name: "min", Read: func(d *Board, v Value) error { return readOptional(v, &d.Min, readBound) }},
	{Name: "max", Read: func(d *Board, v Value) error { return readOptional(v, &d.Max, readBound) }},
	{Name: "max_change", Read: func(d *Board, v Value) error { return readInteger(v, &d.MaxChange, 1) }},
	{Name: "freeze", Read: func(d *Board, v Value) error { return freezeRange.read(v, &d.Freeze) }},
	{Name: "reveal", Read: func(d *Board, v Value) error { return ReadText(v, &d.Reveal) }},
	{Name: "reveal_within", Read: func(d *Board, v Value) error { return revealWithinRange.read(v, &d.RevealWithin) }},
	{Name: "freeze_others", Read: func(d *Board, v Value) error { return ReadText(v, &d.FreezeOthers) }},
	{Name: "shards", Read: func(d *Board, v Value) error { return readInteger(v, &d.Shards, leastShards) }},
	{Name: "union", Read: func(d *Board, v Value) error { return readOptional(v, &d.Union, readUnion) }},
	{Name: "columns", Read: (*Board).readColumns},
	{Name: "history", Read: func(d *Board, v Value) error { return historyRange.read(v, &d.History) }},
	{Name: "ids", Read: func(d *Board, v Value) error { return idsRange.read(v, &d.IDs) }},
	{Name: "max_instances", Read: func(d *Board, v Value) error { return readInteger(v, &d.MaxInstances, 1) }},
	{Name: "kind", Read: func(d *Board, v Value) error { return ReadText(v, &d.Kind) }},
	{Name: "display", Read: func(d *Board, v Value) error { return d.Display.read(v) }},
}

// readKeep reads the number of periods to keep, which may be 0.
func readKeep(v Value, n *int) error { return readInteger(v, n, 0) }

func (d *Display) read(v Value) error {
	return ReadFields(v, d, "an object, such as {decimals: 2}", "display", displayReaders)
}

// displayReaders read the fields of the format of scores.
var displayReaders = []FieldReader[Display]{
	{Name: "unit", Read: func(d *Display, v Value) error { return d.Unit.read(v) }},
	{Name: "decimals", Read: func(d *Display, v Value) error { return readInteger(v, &d.Decimals, 0) }},
	{Name: "format", Read: func(d *Display, v Value) error { return ReadText(v, &d.Format) }},
}

// readName reads the name in a body. It refuses another name than that of the request; a body in a list has no other.
func readName(v Value, name *string) error {
	var given string
	if err := ReadText(v, &given); err != nil {
		return err
	}
	if *name = cmp.Or(*name, given); given != *name {
		return v.Refuse("is %q, but the request is for %q", Clip(given), Clip(*name))
	}
	return nil
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
	event, err := ParseEvent("", b)
	*e = event
	return err
}

// MarshalJSON writes a normalized event; ParseEvent reads it.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event // without this method
	return json.Marshal(plain(e), asDefined)
}

// MarshalJSON writes an integer as a JSON number, and a field as a string.
func (a Amount) MarshalJSON() ([]byte, error) {
	if integerText.MatchString(string(a)) {
		return []byte(a), nil
	}
	return json.Marshal(string(a))
}

func (e *Event) read(v Value) error {
	return ReadFields(v, e, "an object with updates", "an event", eventReaders)
}

// eventReaders read the fields of an event.
var eventReaders = []FieldReader[Event]{
	{Name: "event", Read: func(e *Event, v Value) error { return readName(v, &e.Name) }, isName: true},
	{Name: "updates", Read: (*Event).readUpdates},
	{Name: "sender", Read: func(e *Event, v Value) error { return ReadText(v, &e.Sender) }},
	{Name: "fields", Read: (*Event).readRules},
	{Name: "ids", Read: func(e *Event, v Value) error { return idsRange.read(v, &e.IDs) }},
	{Name: "freeze_feed", Read: func(e *Event, v Value) error { return ReadText(v, &e.FreezeFeed) }},
	{Name: "show", Read: func(e *Event, v Value) error { return readOptional(v, &e.Show, readShow) }},
}

func (e *Event) readUpdates(v Value) error {
	if v.Kind != '[' {
		return v.Want("a list of updates, such as [{board: stars, member: \"{star}\", score: 1}]")
	}
	e.Updates = make([]Target, len(v.Items))
	for i, item := range v.Items {
		if err := e.Updates[i].read(item); err != nil {
			return err
		}
	}
	return nil
}

func (t *Target) read(v Value) error {
	return ReadFields(v, t, "an object with board, member and score", "an update", targetReaders)
}

// targetReaders read the fields of an update of an event.
var targetReaders = []FieldReader[Target]{
	{Name: "board", Read: func(t *Target, v Value) error { return ReadText(v, &t.Board) }},
	{Name: "member", Read: func(t *Target, v Value) error { return ReadText(v, &t.Member) }},
	{Name: "score", Read: func(t *Target, v Value) error { return t.Score.read(v) }},
	{Name: "columns", Read: (*Target).readColumns},
	{Name: "op", Read: func(t *Target, v Value) error { return ReadText(v, &t.Op) }},
	{Name: "if", Read: func(t *Target, v Value) error { return ReadText(v, &t.If) }},
	{Name: "data", Read: (*Target).readData},
}

func (t *Target) readColumns(v Value) error {
	if v.Kind != '{' || len(v.Fields) == 0 {
		return v.Want("an object with the amount of each column, such as {solved: 1, penalty: \"{minutes}\"}")
	}
	t.Columns = make(ColumnAmounts, len(v.Fields))
	for _, f := range v.Fields {
		var a Amount
		if err := a.read(f.Value); err != nil {
			return err
		}
		t.Columns[f.Name] = a
	}
	return nil
}

func (t *Target) readData(v Value) error {
	data, err := dataIn(v)
	if err == nil {
		t.Data = data.source()
	}
	return err
}

// read reads an integer, or a string that names a field.
func (a *Amount) read(v Value) error {
	if v.Kind == '"' {
		if integerText.MatchString(v.Text) {
			return v.Refuse("is the string %q; want a number without quotes, or a field such as \"{flowers}\"", Clip(v.Text))
		}
		return ReadText(v, a)
	}
	var n int64
	if err := readBound(v, &n); err != nil {
		return err
	}
	*a = Amount(strconv.FormatInt(n, 10))
	return nil
}
