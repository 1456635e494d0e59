package client

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ndjsonType is the media type of exports and imports here: one JSON object a line.
const ndjsonType = "application/x-ndjson"

// Row is one member of an export or import.
type Row struct {
	Member  string         `json:"member"`
	Score   int64          `json:"score"`
	Columns Columns        `json:"columns,omitzero"` // of Score, on a board with columns; an import may leave Score 0 beside them
	Data    jsontext.Value `json:"data,omitzero"`    // like Update.Data
}

// Export streams a whole board in its order. A board may have any number of members, and the stream may
// take any time. A member whose rank changes meanwhile may be missing or come twice only if it crosses
// the place that the export has reached. Export makes one attempt. An error is the last pair of the
// sequence, and means that the rows before it are not the whole board.
func (c *Client) Export(ctx context.Context, board string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		fail := func(err error) { yield(Row{}, fmt.Errorf("export board %q: %w", board, err)) }
		res, err := c.stream(ctx, http.MethodGet, c.boardURL(board, "export"), "", nil)
		if err != nil {
			fail(err)
			return
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			fail(problem(res))
			return
		}
		for rows := jsontext.NewDecoder(res.Body); ; {
			var row Row
			if err := json.UnmarshalDecode(rows, &row); err == io.EOF {
				return
			} else if err != nil {
				fail(err)
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Imported is the result of an import.
type Imported struct {
	Period   string `json:"period"`   // the period that counts it; "" on a board without periods
	Imported int64  `json:"imported"` // rows that the server took
	Refused  int64  `json:"refused"`  // rows with a score out of range
	// FirstErrors are the errors of the first ten refused rows.
	FirstErrors []RowError `json:"first_errors"`
}

// RowError is the error of a refused row.
type RowError struct {
	Line    int64  `json:"line"` // line of the row, from 1
	Code    string `json:"code"` // like Error.Code; Message and Field likewise
	Message string `json:"message"`
	Field   string `json:"field"`
}

// Import sets the scores of members, any number of them. Members with equal scores rank in the order of
// their rows, so the rows of an export give the same ranks, with ties. Import makes one attempt. After
// any error it may be repeated from the first row: rows that were imported keep their ranks. Beside an
// *Error, Imported is the result of the rows before the invalid one. Import returns once rows has ended
// or has yielded its next row.
func (c *Client) Import(ctx context.Context, board string, rows iter.Seq[Row]) (Imported, error) {
	body, in := io.Pipe()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		in.CloseWithError(writeRows(in, rows))
	}()
	defer func() {
		body.Close()
		<-sent
	}()
	var done Imported
	res, err := c.stream(ctx, http.MethodPost, c.boardURL(board, "import"), ndjsonType, body)
	if err != nil {
		return done, fmt.Errorf("import board %q: %w", board, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil {
		err = decode(answer, &done)
	}
	if res.StatusCode != http.StatusOK {
		res.Body = io.NopCloser(bytes.NewReader(answer))
		err = problem(res)
	}
	if err != nil {
		return done, fmt.Errorf("import board %q: %w", board, err)
	}
	return done, nil
}

// writeRows writes rows until the writer fails.
func writeRows(w io.Writer, rows iter.Seq[Row]) error {
	out := bufio.NewWriter(w)
	for row := range rows {
		line, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("row of %q: %w", row.Member, err)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// stream sends a request without a timeout.
func (c *Client) stream(ctx context.Context, method, address, contentType string, body io.Reader) (*http.Response, error) {
	req, _, err := c.newRequest(ctx, method, address, contentType, body)
	if err != nil {
		return nil, err
	}
	return c.http.Do(req)
}
