package server

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// maxLine bounds a line of an import, in bytes, its end among them: member and data have
// 384 at most, and may be escaped.
const maxLine = 4 << 10

// lineField is the field of what is wrong with a line as a whole.
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

// stoppedJSON is what the problem of an import that stopped tells beside what is wrong.
type stoppedJSON struct {
	Line int64 `json:"line,omitzero"`
	importJSON
}

// stoppedImport is why an import stopped, and what it had done.
type stoppedImport struct {
	done importJSON
	err  error
}

func (e *stoppedImport) Error() string { return "import: " + e.err.Error() }

func (e *stoppedImport) Unwrap() error { return e.err }

// report is what its problem has on top.
func (e *stoppedImport) report(p *problem) *stoppedJSON {
	j := &stoppedJSON{importJSON: e.done}
	var row *ranking.RowError
	switch {
	case p.status == http.StatusServiceUnavailable:
		p.message += "; send the import again: what was done stays as it is"
		if errors.Is(e.err, ranking.ErrOutcomeUnknown) {
			p.message = "the store failed on the way; send the import again: what was done stays as it is"
		}
	case errors.As(e.err, &row):
		j.Line = row.Line
		p.message = fmt.Sprintf("line %d: %s", row.Line, strings.TrimPrefix(p.message, lineField+": "))
	}
	return j
}

// postImport gives members the scores that lines tell, of any number. It stops at the
// first line that is not in form; the problem tells of that line and, apart from it, what
// was done before.
func (s *Server) postImport(c echo.Context) error {
	board := param(c, "board")
	if err := readQuery(c).err; err != nil {
		return err
	}
	if err := checkEncoding(c); err != nil {
		return err
	}
	parse, err := importForm(c.Request().Header.Get(echo.HeaderContentType))
	if err != nil {
		return err
	}
	control := http.NewResponseController(c.Response())
	body := &slowReader{Reader: c.Request().Body, control: control, timeout: s.cfg.RequestTimeout}
	lines := &lineReader{r: bufio.NewReaderSize(body, 16*maxLine), parse: parse}
	done, err := s.store.Import(c.Request().Context(), board, lines.next)
	control.SetWriteDeadline(time.Now().Add(s.cfg.RequestTimeout))
	answer := newImport(board, done)
	if err != nil {
		return &stoppedImport{answer, err}
	}
	return ok(c, answer)
}

func newImport(board string, done ranking.Imported) importJSON {
	j := importJSON{Board: board, Period: done.Period, Imported: done.Rows, Refused: done.Refused, FirstErrors: []rowErrorJSON{}}
	for _, e := range done.First {
		j.FirstErrors = append(j.FirstErrors, rowErrorJSON{e.Line, refused(e.Err).Error})
	}
	return j
}

// slowReader gives a body its time anew as it comes: an import may take as long as it
// goes on.
type slowReader struct {
	io.Reader
	control *http.ResponseController
	timeout time.Duration
	renewed time.Time
}

func (r *slowReader) Read(b []byte) (int, error) {
	if now := time.Now(); now.Sub(r.renewed) > r.timeout/16 { // not for each of many small reads
		r.renewed = now
		r.control.SetReadDeadline(now.Add(r.timeout)) // a reader that has none needs none
	}
	return r.Reader.Read(b)
}

// lineReader reads the rows of an import.
type lineReader struct {
	r     *bufio.Reader
	line  int64
	parse parseLine
}

// parseLine reads a line. Without an error, a row that has no member is none, as the
// names of columns.
type parseLine func(line []byte) (ranking.Row, error)

// next is what ranking.Import reads. Lines of white space alone are passed over.
func (l *lineReader) next() (ranking.Row, error) {
	for {
		text, err := l.r.ReadSlice('\n')
		l.line++
		if len(text) > maxLine || errors.Is(err, bufio.ErrBufferFull) {
			return ranking.Row{}, l.refuse(&ranking.FieldError{Field: lineField, Reason: fmt.Sprintf("has over %d bytes", maxLine), Kind: ranking.ErrTooLarge})
		}
		if err != nil && err != io.EOF { // and part of a line may be a line by chance
			return ranking.Row{}, ranking.Invalid("body", "ended early, or nothing came for long")
		}
		if l.line == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // as spreadsheets put it there
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

// importForm finds how the lines of a body are read.
func importForm(contentType string) (parseLine, error) {
	media, parameters, err := mime.ParseMediaType(contentType)
	if charset := parameters["charset"]; err == nil && (charset == "" || strings.EqualFold(charset, "utf-8")) {
		switch media {
		case ndjsonType:
			return parseObjectLine, nil
		case csvType:
			return new(csvLines).parse, nil
		}
	}
	return nil, ranking.Invalid("Content-Type", "want application/x-ndjson or text/csv, in UTF-8")
}

func parseObjectLine(line []byte) (row ranking.Row, err error) {
	o, err := parseObject(lineField, line)
	if err != nil {
		return row, err
	}
	if err = o.only(csvColumns...); err != nil {
		return row, err
	}
	if row.Member, err = o.required("member"); err != nil {
		return row, err
	}
	if err = definition.CheckMember(row.Member); err != nil {
		return row, err
	}
	if data, there := o["data"]; there {
		if row.Data, err = definition.CompactData(data); err != nil {
			return row, err
		}
	}
	row.Score, err = o.integer("score") // last: one that is out of range does not end the import
	return row, err
}

// csvLines reads lines of comma-separated values.
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
		return row, ranking.Invalid(lineField, fmt.Sprintf("has %d values; want %d", len(values), len(l.columns)))
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
	row.Score, err = parseInteger("score", value("score"))
	return row, err
}

// name takes the names of the columns.
func (l *csvLines) name(names []string) error {
	for i, name := range names {
		if !slices.Contains(csvColumns, name) || slices.Contains(names[:i], name) {
			return ranking.Invalid(lineField, fmt.Sprintf("names the column %.30q; want member, score and data, each once", name))
		}
	}
	for _, name := range csvColumns[:2] {
		if !slices.Contains(names, name) {
			return ranking.Invalid(lineField, fmt.Sprintf("names no column %s; the first line has the names", name))
		}
	}
	l.columns = names
	return nil
}

// splitLine takes a line apart. A value has no line breaks here: none has a use for them.
func splitLine(line string) ([]string, error) {
	if !strings.Contains(line, `"`) {
		return strings.Split(line, ","), nil
	}
	values, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil {
		return nil, ranking.Invalid(lineField, "is not comma-separated values: a quote is missing, or one too many")
	}
	return values, nil
}
