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
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
)

// The media types of an export and an import: NDJSON, one JSON object a line; or CSV (RFC 4180),
// whose first line names the columns.
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

// entryEncoder writes entries of an export. For an entry without data, CSV has an empty column and
// NDJSON leaves the field out.
type entryEncoder func(w io.Writer, entries []ranking.Entry) error

// encodeNDJSON escapes U+2028 and U+2029, which some programs treat as ends of a line.
func encodeNDJSON(w io.Writer, entries []ranking.Entry) error {
	for _, e := range entries {
		line, err := json.Marshal(rowJSON{e.Member, e.Score, entry.Data(e.Data)}, jsontext.EscapeForJS(true))
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

// getExport streams a whole board in its order, without hidden members. If an error occurs in the
// middle, it aborts the connection, so that no client takes a part for the whole.
func (s *Server) getExport(c *echo.Context) error {
	q := request.ReadQuery(c, "format")
	format, given := q.Get("format")
	contentType, head, write := ndjsonType, "", entryEncoder(encodeNDJSON)
	switch {
	case format == "csv":
		contentType, head, write = csvType+"; charset=utf-8", "member,score,data\n", encodeCSV
	case given && format != "ndjson" && q.Err == nil:
		q.Err = definition.Invalid("format", "want ndjson or csv")
	}
	if q.Err != nil {
		return q.Err
	}
	release, err := s.limits.AcquireExport(gate.Client(c))
	if err != nil {
		return err
	}
	defer release()
	if err := gate.EndCount(c.Request()); err != nil {
		return err
	}
	out := bufio.NewWriterSize(deadlineWriter{c.Response(), http.NewResponseController(c.Response()), s.cfg.RequestTimeout}, exportBuffer)
	begun := false
	for page, err := range s.store.Export(gate.AsCaller(c), request.PathValue(c, "board")) {
		if err == nil {
			err = s.gate.Reauthorize(c) // an export may take long
		}
		switch {
		case err != nil && !begun:
			return err
		case err != nil:
			if c.Request().Context().Err() == nil {
				s.gate.LogFailure(c, err)
			}
			panic(http.ErrAbortHandler)
		case !begun:
			begun = true
			c.Response().Header().Set(echo.HeaderContentType, contentType)
			c.Response().WriteHeader(http.StatusOK)
			if c.Request().Method == http.MethodHead {
				return nil
			}
			out.WriteString(head) // out keeps an error for Flush
		}
		if err := cmp.Or(write(out, page.Entries), out.Flush()); err != nil {
			panic(http.ErrAbortHandler) // the client has disconnected, or accepts nothing
		}
	}
	return nil
}

// exportBuffer is the size in bytes of one write of an export. A client that accepts so much within
// Config.RequestTimeout keeps its connection.
const exportBuffer = 32 << 10

// deadlineWriter renews the write deadline before each write: an export may take any time as long
// as the client accepts bytes.
type deadlineWriter struct {
	io.Writer
	control *http.ResponseController
	timeout time.Duration
}

func (w deadlineWriter) Write(b []byte) (int, error) {
	w.control.SetWriteDeadline(time.Now().Add(w.timeout)) // a writer without deadlines needs none
	n, err := w.Writer.Write(b)
	if err == nil {
		err = w.control.Flush()
	}
	return n, err
}
