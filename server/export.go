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

// rowFields are the fields of a line of an export.
var rowFields = []string{"member", "score", "columns", "data"}

// csvColumns are the columns of an export. Those of a score, on a board with columns, follow the score: columnPrefix stands before
// their names.
var csvColumns = []string{"member", "score", "data"}

const columnPrefix = "columns."

// rowJSON is a line of an export.
type rowJSON struct {
	Member  string         `json:"member"`
	Score   int64          `json:"score"`
	Columns jsontext.Value `json:"columns,omitzero"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// entryEncoder writes entries of an export. For an entry without data, CSV has an empty column and
// NDJSON leaves the field out.
type entryEncoder func(w io.Writer, page ranking.Page) error

// encodeNDJSON escapes U+2028 and U+2029, which some programs treat as ends of a line.
func encodeNDJSON(w io.Writer, page ranking.Page) error {
	for _, e := range page.Entries {
		line, err := json.Marshal(rowJSON{e.Member, e.Score, page.Columns.JSON(e.Score), entry.Data(e.Data)}, jsontext.EscapeForJS(true))
		if err != nil {
			return fmt.Errorf("encode an entry: %w", err)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func encodeCSV(w io.Writer, page ranking.Page) error {
	lines := csv.NewWriter(w)
	for _, e := range page.Entries {
		line := []string{e.Member, strconv.FormatInt(e.Score, 10)}
		values := page.Columns.Unpack(e.Score)
		for i := range page.Columns {
			line = append(line, strconv.FormatInt(values[i], 10))
		}
		if err := lines.Write(append(line, e.Data)); err != nil {
			return err
		}
	}
	lines.Flush()
	return lines.Error()
}

// csvHead is the first line of an export as CSV.
func csvHead(columns definition.Columns) string {
	head := csvColumns[0] + "," + csvColumns[1]
	for _, c := range columns {
		head += "," + columnPrefix + c.Name
	}
	return head + "," + csvColumns[2] + "\n"
}

// getExport streams a whole board in its order, without hidden members; with pending as if all of a frozen board were
// public. If an error occurs in the middle, it aborts the connection, so that no client takes a part for the whole.
func (s *Server) getExport(c *echo.Context) error {
	q := request.ReadQuery(c, "format", "pending")
	format, given := q.Get("format")
	contentType, write := ndjsonType, entryEncoder(encodeNDJSON)
	switch {
	case format == "csv":
		contentType, write = csvType+"; charset=utf-8", encodeCSV
	case given && format != "ndjson" && q.Err == nil:
		q.Err = definition.Invalid("format", "want ndjson or csv")
	}
	export := s.store.Export
	if q.Boolean("pending") {
		export = s.store.ExportPending
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
	for page, err := range export(gate.AsCaller(c), request.PathValue(c, "board")) {
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
			if format == "csv" {
				out.WriteString(csvHead(page.Columns)) // out keeps an error for Flush
			}
		}
		if err := cmp.Or(write(out, page), out.Flush()); err != nil {
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
