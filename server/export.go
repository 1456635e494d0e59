package server

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/server/internal/request"
)

// The forms of an export and an import: a JSON object a line, or lines of comma-separated
// values (RFC 4180), the first of which names the columns.
const (
	ndjsonType = "application/x-ndjson"
	csvType    = "text/csv"
)

// csvColumns are the columns of an export.
var csvColumns = []string{"member", "score", "data"}

// rowJSON is a line of an export.
type rowJSON struct {
	Member string         `json:"member"`
	Score  int64          `json:"score"`
	Data   jsontext.Value `json:"data,omitzero"`
}

// entryEncoder writes a part of an export. A column or field is empty where an entry
// has no data.
type entryEncoder func(w io.Writer, entries []ranking.Entry) error

// encodeNDJSON escapes what some programs take for the end of a line.
func encodeNDJSON(w io.Writer, entries []ranking.Entry) error {
	for _, e := range entries {
		line, err := json.Marshal(rowJSON{e.Member, e.Score, dataJSON(e.Data)}, jsontext.EscapeForJS(true))
		if err != nil {
			return fmt.Errorf("encode an entry: %w", err)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func encodeCSV(w io.Writer, entries []ranking.Entry) error {
	lines := csv.NewWriter(w)
	for _, e := range entries {
		if err := lines.Write([]string{e.Member, strconv.FormatInt(e.Score, 10), e.Data}); err != nil {
			return err
		}
	}
	lines.Flush()
	return lines.Error()
}

// getExport sends a whole board but those hidden, in its order, as it reads it. What goes wrong on the way
// cuts the connection off: so nobody takes a part for the whole.
func (s *Server) getExport(c echo.Context) error {
	q := request.ReadQuery(c, "format")
	format, given := q.Get("format")
	contentType, head, write := ndjsonType, "", entryEncoder(encodeNDJSON)
	switch {
	case format == "csv":
		contentType, head, write = csvType+"; charset=utf-8", "member,score,data\n", encodeCSV
	case given && format != "ndjson" && q.Err == nil:
		q.Err = ranking.Invalid("format", "want ndjson or csv")
	}
	if q.Err != nil {
		return q.Err
	}
	out := bufio.NewWriterSize(deadlineWriter{c.Response(), http.NewResponseController(c.Response()), s.cfg.RequestTimeout}, exportBuffer)
	begun := false
	for page, err := range s.store.Export(c.Request().Context(), request.PathValue(c, "board")) {
		switch {
		case err != nil && !begun:
			return err
		case err != nil:
			if c.Request().Context().Err() == nil {
				s.logFailure(c, err)
			}
			panic(http.ErrAbortHandler)
		case !begun:
			begun = true
			c.Response().Header().Set(echo.HeaderContentType, contentType)
			c.Response().WriteHeader(http.StatusOK)
			if c.Request().Method == http.MethodHead {
				return nil
			}
			out.WriteString(head) // an error stays with out
		}
		if err := cmp.Or(write(out, page.Entries), out.Flush()); err != nil {
			panic(http.ErrAbortHandler) // the client has gone, or takes nothing
		}
	}
	return nil
}

// exportBuffer is how much of an export is sent at once, in bytes: a client that takes
// so much within Config.RequestTimeout is not too slow.
const exportBuffer = 32 << 10

// deadlineWriter gives each write its time anew: an export may take as long as it goes on.
type deadlineWriter struct {
	io.Writer
	control *http.ResponseController
	timeout time.Duration
}

func (w deadlineWriter) Write(b []byte) (int, error) {
	w.control.SetWriteDeadline(time.Now().Add(w.timeout)) // a writer that has none needs none
	n, err := w.Writer.Write(b)
	if err == nil {
		err = w.control.Flush()
	}
	return n, err
}
