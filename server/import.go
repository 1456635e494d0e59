package server

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
)

// maxLine bounds a line of an import, in bytes, with its end. Member and data have 384 bytes at
// most together, and may be escaped.
const maxLine = 4 << 10

// importBuffer is what an import holds of its body, in bytes.
const importBuffer = 16 * maxLine

// lineField is the field of an error about a whole line.
const lineField = "line"

type importJSON struct {
	Board       string         `json:"board"`
	Period      string         `json:"period"`
	Imported    int64          `json:"imported"`
	Refused     int64          `json:"refused"`
	FirstErrors []rowErrorJSON `json:"first_errors"`
}

type rowErrorJSON struct {
	Line int64 `json:"line"`
	errorJSON
}

// importProblemJSON extends the problem of an import that stopped: the line, and the result so far.
type importProblemJSON struct {
	gate.Problem
	Line int64 `json:"line,omitzero"`
	importJSON
}

// importError is the error that stopped an import, with the result so far.
type importError struct {
	done importJSON
	err  error
}

func (e *importError) Error() string { return "import: " + e.err.Error() }

func (e *importError) Unwrap() error { return e.err }

// Extend is part of gate.Extended. It also adapts the message.
func (e *importError) Extend(p gate.Problem) any {
	j := importProblemJSON{Problem: p, importJSON: e.done}
	var row *ranking.RowError
	switch {
	case p.Status == http.StatusServiceUnavailable:
		j.Detail += "; send the import again: rows that were imported keep their ranks"
		if errors.Is(e.err, definition.ErrOutcomeUnknown) {
			j.Detail = "the store failed during the import; send the import again: rows that were imported keep their ranks"
		}
	case errors.As(e.err, &row):
		j.Line = row.Line
		j.Detail = fmt.Sprintf("line %d: %s", row.Line, strings.TrimPrefix(p.Detail, lineField+": "))
	}
	return j
}

// postImport sets the scores of members from a stream of lines of any length. It stops at the first
// malformed line. The problem then names that line and holds the result of the lines before it.
func (s *Server) postImport(c *echo.Context) error {
	board := request.PathValue(c, "board")
	if err := request.CheckEncoding(c); err != nil {
		return err
	}
	parse, err := importFormat(c)
	if err != nil {
		return err
	}
	if err := gate.EndCount(c.Request()); err != nil {
		return err
	}
	gate.HoldAtMost(c, importBuffer)
	control := http.NewResponseController(c.Response())
	body := &importReader{r: c.Request(), control: control, timeout: s.cfg.RequestTimeout}
	lines := &lineReader{r: bufio.NewReaderSize(body, importBuffer), parse: parse}
	done, err := s.store.Import(c.Request().Context(), board, lines.next)
	control.SetWriteDeadline(time.Now().Add(s.cfg.RequestTimeout))
	answer := newImport(gate.Caller(c), board, done)
	if err != nil {
		return &importError{answer, err}
	}
	return respond.OK(c, answer)
}

func newImport(caller *access.Caller, board string, done ranking.Imported) importJSON {
	j := importJSON{Board: board, Period: done.Period, Imported: done.Rows, Refused: done.Refused, FirstErrors: []rowErrorJSON{}}
	for _, e := range done.First {
		j.FirstErrors = append(j.FirstErrors, rowErrorJSON{e.Line, newRefusal(caller, e.Err).Error})
	}
	return j
}

// importReader renews the read deadline as a body arrives: an import may take any time as long as
// the client sends bytes. The import has its turn while it works on what has arrived, not while it waits for
// more.
type importReader struct {
	r       *http.Request
	control *http.ResponseController
	timeout time.Duration
	renewed time.Time
}

func (i *importReader) Read(b []byte) (int, error) {
	if now := time.Now(); now.Sub(i.renewed) > i.timeout/16 { // not for each of many small reads
		i.renewed = now
		i.control.SetReadDeadline(now.Add(i.timeout)) // a reader without deadlines needs none
	}
	turn, takesTurns := i.r.Body.(*gate.TurnBody)
	if takesTurns {
		turn.End()
	}
	n, err := i.r.Body.Read(b)
	if takesTurns && n > 0 {
		if _, refused := turn.Renew(i.r.Context(), n); refused != nil {
			return 0, refused
		}
	}
	return n, err
}

// lineReader reads the rows of an import.
type lineReader struct {
	r     *bufio.Reader
	line  int64
	parse parseLine
}

// parseLine decodes a line. A row without member and without error is a line without a row, such as
// the names of the columns.
type parseLine func(line []byte) (ranking.Row, error)

// next returns the next row, for ranking.Store.Import. It skips blank lines.
func (l *lineReader) next() (ranking.Row, error) {
	for {
		text, err := l.r.ReadSlice('\n')
		l.line++
		if len(text) > maxLine || errors.Is(err, bufio.ErrBufferFull) {
			return ranking.Row{}, l.refuse(&definition.FieldError{Field: lineField, Reason: fmt.Sprintf("is longer than %d bytes", maxLine),
				Kind: definition.ErrTooLarge})
		}
		var refusal *access.Refusal
		if errors.As(err, &refusal) || errors.Is(err, access.ErrUnauthorized) || errors.Is(err, access.ErrForbidden) {
			return ranking.Row{}, err
		}
		if err != nil && err != io.EOF { // a part of a line may be a valid line by chance
			return ranking.Row{}, definition.Invalid("body", "ended early, or no bytes came within the time limit")
		}
		if l.line == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // spreadsheets write a byte order mark
		}
		if len(bytes.TrimSpace(text)) > 0 {
			row, err := l.parse(bytes.TrimRight(text, "\r\n"))
			if err != nil {
				return row, l.refuse(err)
			}
			if row.Line = l.line; row.Member != "" {
				return row, nil
			}
		}
		if err == io.EOF {
			return ranking.Row{}, io.EOF
		}
	}
}

func (l *lineReader) refuse(err error) error { return &ranking.RowError{Line: l.line, Err: err} }

// importFormat returns the decoder for the media type of a body.
func importFormat(c *echo.Context) (parseLine, error) {
	media, err := request.MediaType(c, ndjsonType, csvType)
	if err != nil {
		return nil, err
	}
	switch media {
	case ndjsonType:
		return parseObjectLine, nil
	case csvType:
		return new(csvLines).parse, nil
	}
	return nil, request.UnsupportedType(c, ndjsonType, csvType)
}

func parseObjectLine(line []byte) (row ranking.Row, err error) {
	o, err := request.ParseObject(lineField, line)
	if err != nil {
		return row, err
	}
	f := o.Fields(rowFields...)
	row.Member = f.RequiredText("member")
	f.Check(definition.CheckMember(row.Member))
	if f.Has("data") {
		row.Data, err = definition.CompactData(f.Value("data"))
		f.Check(err)
	}
	row.Columns = f.Columns("columns")
	if row.Columns == nil || f.Has("score") { // an export has both
		row.Score = f.Score("score") // last: a score out of range does not stop the import
	}
	return row, f.Err
}

// csvLines decodes lines of CSV.
type csvLines struct{ columns []string }

func (l *csvLines) parse(line []byte) (row ranking.Row, err error) {
	values, err := splitLine(string(line))
	if err != nil {
		return row, err
	}
	if l.columns == nil {
		return row, l.name(values)
	}
	if len(values) != len(l.columns) {
		return row, definition.Invalid(lineField, fmt.Sprintf("has %d values; want %d", len(values), len(l.columns)))
	}
	value := func(column string) string {
		if i := slices.Index(l.columns, column); i >= 0 {
			return values[i]
		}
		return ""
	}
	row.Member = value("member")
	if err = definition.CheckMember(row.Member); err != nil {
		return row, err
	}
	if data := value("data"); data != "" {
		if row.Data, err = definition.CompactData(jsontext.Value(data)); err != nil {
			return row, err
		}
	}
	for i, name := range l.columns {
		if column, is := strings.CutPrefix(name, columnPrefix); is {
			if row.Columns == nil {
				row.Columns = make(map[string]int64)
			}
			if row.Columns[column], err = definition.ParseScore(definition.FieldPath("columns", column), values[i]); err != nil {
				return row, err
			}
		}
	}
	if row.Columns == nil || slices.Contains(l.columns, "score") {
		row.Score, err = definition.ParseScore("score", value("score"))
	}
	return row, err
}

// name reads the names of the columns.
func (l *csvLines) name(names []string) error {
	isColumn := func(name string) bool { return strings.HasPrefix(name, columnPrefix) }
	for i, name := range names {
		if !slices.Contains(csvColumns, name) && !isColumn(name) || slices.Contains(names[:i], name) {
			return definition.Invalid(lineField, fmt.Sprintf("names the column %.30q; want member, score and data, each once, and on a board "+
				"with columns %ssolved and so on", name, columnPrefix))
		}
	}
	for _, name := range csvColumns[:2] {
		if !slices.Contains(names, name) && !(name == "score" && slices.ContainsFunc(names, isColumn)) {
			return definition.Invalid(lineField, fmt.Sprintf("has no column %s; the first line names the columns", name))
		}
	}
	l.columns = names
	return nil
}

// splitLine splits a line of CSV into its values. A value cannot hold a line break.
func splitLine(line string) ([]string, error) {
	if !strings.Contains(line, `"`) {
		return strings.Split(line, ","), nil
	}
	values, err := csv.NewReader(strings.NewReader(line)).Read()
	switch {
	case err == nil:
		return values, nil
	case errors.Is(err, csv.ErrQuote) && strings.Count(line, `"`)%2 == 1:
		return nil, definition.Invalid(lineField, "has no closing quote: a value may not have a line break")
	}
	return nil, definition.Invalid(lineField, "is not valid CSV: a value with a quote stands in quotes, with each quote inside doubled")
}
