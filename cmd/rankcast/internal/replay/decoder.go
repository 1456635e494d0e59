package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// maxLine is the size of the longest line, in bytes: a file of any size is read in little
// memory.
const maxLine = 64 << 10

var errTooLong = fmt.Errorf("is over %d bytes", maxLine)

// decoder decodes a recording, CSV or NDJSON, into records.
type decoder struct {
	*Command
	event  *eventFields // the event of each line; nil: each line is an update
	timed  bool         // each line needs a time
	prefix string       // start of the ids of lines without one

	op, id, at string // names of fields
}

func (r *Command) newDecoder() *decoder {
	return &decoder{Command: r, timed: r.Speed > 0 || r.KeepTimes, prefix: r.IDPrefix,
		op: cmp.Or(r.Op, "op"), id: cmp.Or(r.ID, "id"), at: cmp.Or(r.At, "at")}
}

// record is one line of a recording.
type record struct {
	line   int // from 1, the header of a CSV included
	at     time.Time
	id     string
	update client.Update  // for a board
	data   jsontext.Value // for an event
}

// size estimates the bytes of the record in a request.
func (r record) size() int { return 2*len(r.update.Member) + 2*len(r.id) + len(r.data) + 64 }

// atLine begins an error with the line of the recording that is at fault.
func atLine(line int, err error) error { return fmt.Errorf("line %d: %w", line, err) }

// decode calls each with one record after the other, until each returns an error. The error of a mistake in the recording
// begins with its line.
func (rec *decoder) decode(r io.Reader, each func(record) error) error {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" { // a byte order mark, with which some programs start a CSV
		in.Discard(3)
	}
	format := rec.Format
	if format == "" {
		format = "csv"
		start, _ := in.Peek(512)
		switch start = bytes.TrimLeft(start, " \t\r\n"); {
		case bytes.HasPrefix(start, []byte("{")):
			format = "ndjson"
		case bytes.HasPrefix(start, []byte("[")):
			return atLine(1, errors.New("is a JSON list; want an object on each line"))
		}
	}
	if format == "csv" {
		return rec.decodeCSV(in, each)
	}
	return rec.decodeNDJSON(in, each)
}

// fields are the fields of one line, as JSON.
type fields map[string]jsontext.Value

func (rec *decoder) decodeNDJSON(in io.Reader, each func(record) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		var f fields
		if err := json.Unmarshal(text, &f); err != nil || f == nil {
			if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
				return atLine(n, fmt.Errorf("is not valid JSON: %w at byte %d", syntax.Err, syntax.ByteOffset))
			}
			return atLine(n, errors.New("is no JSON object"))
		}
		if err := rec.pass(n, f, each); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return atLine(n+1, errTooLong)
	}
	return lines.Err()
}

func (rec *decoder) decodeCSV(in io.Reader, each func(record) error) error {
	const ahead = 8 << 10 // size of the CSV reader's buffer
	bounded := &io.LimitedReader{R: in}
	rows := csv.NewReader(bounded)
	rows.ReuseRecord = true
	line := 1
	next := func() ([]string, error) {
		bounded.N = maxLine + ahead // bounds a quote that is never closed
		row, err := rows.Read()
		syntax, isSyntax := errors.AsType[*csv.ParseError](err)
		switch {
		case bounded.N == 0:
			return nil, atLine(line+1, errTooLong)
		case errors.Is(err, csv.ErrFieldCount):
			return nil, atLine(syntax.Line, fmt.Errorf("has %d fields; want %d, as the first line", len(row), rows.FieldsPerRecord))
		case isSyntax:
			return nil, atLine(syntax.Line, syntax.Err)
		case err != nil:
			return nil, err
		}
		line, _ = rows.FieldPos(0)
		for _, cell := range row {
			if !utf8.ValidString(cell) {
				return nil, atLine(line, errors.New("is not UTF-8"))
			}
		}
		return row, nil
	}
	var head []string
	for {
		row, err := next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case head == nil:
			head = slices.Clone(row)
			if err := rec.checkHeader(head); err != nil {
				return atLine(1, err)
			}
			continue
		}
		f := make(fields, len(row))
		for i, cell := range row {
			if cell == "" {
				continue // an empty cell is a missing field
			}
			if f[head[i]], err = rec.cell(head[i], cell); err != nil {
				return atLine(line, err)
			}
		}
		if err := rec.pass(line, f, each); err != nil {
			return err
		}
	}
}

// pass makes a record of the fields of a line, and calls each with it.
func (rec *decoder) pass(line int, f fields, each func(record) error) error {
	r, err := rec.newRecord(line, f)
	if err != nil {
		return atLine(line, err)
	}
	return each(r)
}

// checkHeader refuses a header with a missing or a repeated column.
func (rec *decoder) checkHeader(head []string) error {
	for i, name := range head {
		if slices.Contains(head[:i], name) {
			return definition.Invalid(name, "is given twice")
		}
	}
	wanted := slices.Concat([]string{rec.Op, rec.ID, rec.At}, rec.Numbers) // without a flag a field may be missing
	if rec.event != nil {
		wanted = append(wanted, rec.event.FieldNames()...)
	} else {
		wanted = append(append(wanted, rec.Member), rec.scores()...)
	}
	if rec.timed {
		wanted = append(wanted, rec.at)
	}
	for _, name := range wanted {
		if name != "" && !slices.Contains(head, name) {
			reason := "is no column here; there are " + strings.Join(head, ", ")
			if rec.event == nil {
				reason += map[string]string{rec.Member: "; name it with --member COLUMN", rec.Score: "; name it with --score COLUMN"}[name]
			}
			return definition.Invalid(name, reason)
		}
	}
	return nil
}

// cell returns a cell of a CSV as JSON: a number where the column is one, else a string.
func (rec *decoder) cell(name, cell string) (jsontext.Value, error) {
	number := slices.Contains(rec.scores(), name)
	if rec.event != nil {
		is, _ := rec.event.FieldType(name)
		number = is == definition.IntegerField || slices.Contains(rec.Numbers, name)
	}
	if number {
		if v := jsontext.Value(cell); v.IsValid() && v.Kind() == '0' {
			return v, nil
		}
		return nil, definition.Invalid(name, fmt.Sprintf("is %.30q; want a number", cell))
	}
	return json.Marshal(cell)
}

// newRecord makes a record of the fields of a line.
func (rec *decoder) newRecord(line int, f fields) (r record, err error) {
	r.line = line
	if r.id, err = f.text(rec.id); err != nil {
		return r, err
	}
	r.id = cmp.Or(r.id, rec.prefix+"-"+strconv.Itoa(line))
	if v, there := f[rec.at]; rec.timed {
		if !there {
			return r, definition.Invalid(rec.at, "is missing, and --speed and --keep-times need a time")
		}
		if r.at, err = parseTime(v); err != nil {
			return r, definition.Invalid(rec.at, err.Error())
		}
	}
	if rec.event == nil {
		r.update, err = rec.newUpdate(r, f)
		return r, err
	}
	picked, err := rec.event.pick(f)
	if err != nil {
		return r, err
	}
	if rec.KeepTimes {
		picked[definition.AtField] = jsontext.Value(strconv.FormatInt(r.at.UnixMilli(), 10))
	}
	r.data, err = json.Marshal(picked, json.Deterministic(true))
	return r, err
}

// newUpdate makes the update of a record.
func (rec *decoder) newUpdate(r record, f fields) (u client.Update, err error) {
	u.ID = r.id
	if rec.KeepTimes {
		u.At = r.at
	}
	if u.Member, err = f.text(rec.Member); err != nil {
		return u, err
	}
	if u.Member == "" {
		return u, definition.Invalid(rec.Member, "is missing")
	}
	for _, name := range rec.Columns {
		if f[name] == nil {
			continue // a sum may leave it out
		}
		n, err := f.score(name)
		if err != nil {
			return u, err
		}
		u.Columns = append(u.Columns, client.Column{Name: name, Value: n})
	}
	if u.Columns == nil { // also without a value of any column
		if u.Score, err = f.score(rec.scores()[0]); err != nil {
			return u, err
		}
	}
	op, err := f.text(rec.op)
	if u.Op = client.Op(op); err == nil && !slices.Contains([]client.Op{"", client.Sum, client.Best, client.Last}, u.Op) {
		err = definition.Invalid(rec.op, fmt.Sprintf("is %.30q; want sum, best or last", op))
	}
	return u, err
}

// scores holds the fields of the score of an update. At least one is there.
func (rec *decoder) scores() []string {
	if len(rec.Columns) > 0 {
		return rec.Columns
	}
	return []string{rec.Score}
}

// score returns a field that is a score, or the value of a column.
func (f fields) score(name string) (int64, error) {
	v, there := f[name]
	switch {
	case !there:
		return 0, definition.Invalid(name, "is missing")
	case v.Kind() != '0':
		return 0, definition.Invalid(name, fmt.Sprintf("is %.30s; want an integer", v))
	}
	return definition.ParseScore(name, string(v))
}

// text returns a field that is a string; "" where it is missing. It refuses what a server refuses, in its words.
func (f fields) text(name string) (s string, err error) {
	v, there := f[name]
	if !there {
		return "", nil
	}
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		return "", definition.Invalid(name, fmt.Sprintf("is %.30s; want a string", v))
	}
	if fault := definition.TextFault(s, definition.MaxIDBytes); fault != "" {
		return "", definition.Invalid(name, fault)
	}
	return s, nil
}

// parseTime parses a time: RFC 3339, a date (its start in UTC), or milliseconds since 1970.
func parseTime(v jsontext.Value) (time.Time, error) {
	text := string(v)
	if v.Kind() == '"' && json.Unmarshal(v, &text) == nil {
		for _, form := range []string{time.RFC3339, time.DateOnly} {
			if at, err := time.Parse(form, text); err == nil {
				return at, nil
			}
		}
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.UnixMilli(ms), nil
	}
	return time.Time{}, fmt.Errorf("is %.40s; want a time as 2026-11-20T08:00:00Z, a date, or milliseconds since 1970", v)
}
