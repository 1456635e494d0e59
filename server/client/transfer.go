package client

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lines is how boards go out and in here: a JSON object a line.
const lines = "application/x-ndjson"

// Row is one member of a board that goes out or in.
type Row struct {
	Member string         `json:"member"`
	Score  int64          `json:"score"`
	Data   jsontext.Value `json:"data,omitzero"` // as Update's
}

// Export reads a whole board, in its order, as it comes: it may have any number of
// members, and take as long as it goes on. What moves meanwhile is there at most once,
// unless it crosses the place that the export has come to. It is tried once; an error is
// the last that comes, and what came before it is not the whole.
func (c *Client) Export(ctx context.Context, board string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		fail := func(err error) { yield(Row{}, fmt.Errorf("export board %q: %w", board, err)) }
		res, err := c.stream(ctx, http.MethodGet, c.boardURL(board, "export"), nil)
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

// Imported is what an import did.
type Imported struct {
	Period   string `json:"period"`   // that it counted in; "" on a board without periods
	Imported int64  `json:"imported"` // rows that were taken
	Refused  int64  `json:"refused"`  // rows that were not: their scores are out of range
	// FirstErrors are the first ten of those.
	FirstErrors []RowError `json:"first_errors"`
}

// RowError is why a row was refused.
type RowError struct {
	Line    int64  `json:"line"` // of the row, from 1
	Code    string `json:"code"` // as Error's, and so Message and Field
	Message string `json:"message"`
	Field   string `json:"field"`
}

// Import gives members scores, of any number: each row sets its member's, and those that
// have the same rank as they come. Rows of an export give the same ranks, ties included. It
// is tried once, and may be made again after any error, from the first row: what was done
// stays as it is. With an *Error, Imported is what was done before the row that is wrong.
// It returns when rows has ended, or taken its next step.
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
	res, err := c.stream(ctx, http.MethodPost, c.boardURL(board, "import"), body)
	if err != nil {
		return done, fmt.Errorf("import board %q: %w", board, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil {
		if err = json.Unmarshal(answer, &done); err != nil {
			err = fmt.Errorf("%w: %w", errAnswer, err)
		}
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

// writeRows writes rows until somebody does not want any more.
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

// stream sends a request that may take any time.
func (c *Client) stream(ctx context.Context, method, url string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAnswer, err)
	}
	maps.Copy(req.Header, c.cfg.Header)
	if body != nil {
		req.Header.Set("Content-Type", lines)
	}
	return c.http.Do(req)
}
