package bench

import (
	"bytes"
	"context"
)

// outcome is the answer to one request.
type outcome struct {
	done    int64  // units that the server has done
	refused int64  // units that it has not done
	why     string // code of the refusal
}

// call sends request n of a caller, or of an open loop, and waits for its answer. An error means that no answer came.
type call func(n int) (outcome, error)

// refusal is part of an answer for each item of a batch, or board of an event, that was not done.
var refusal = []byte(`"error":{`)

// newCall makes a call with a connection of its own. It sends a request of so many units, with the body that appendBody
// appends for request n; nil for none.
func (t *target) newCall(ctx context.Context, method, path string, units int, appendBody func(to []byte, n int) []byte) call {
	c := t.newConn()
	var sent []byte
	return func(n int) (outcome, error) {
		if appendBody != nil {
			sent = appendBody(sent[:0], n)
		}
		status, answer, err := c.do(ctx, method, path, sent)
		switch {
		case err != nil:
			return outcome{}, err
		case status != 200:
			return outcome{refused: int64(units), why: statusCode(status)}, nil
		}
		refused := min(bytes.Count(answer, refusal), units)
		o := outcome{done: int64(units - refused), refused: int64(refused)}
		if refused > 0 {
			o.why = "refused in a batch"
		}
		return o, nil
	}
}

// newBatches is newCall for batches: a request posts batch items in the list of that name, or one item by itself.
// appendItem appends the item of a number.
func (t *target) newBatches(ctx context.Context, path, list string, batch int, appendItem func(to []byte, item int) []byte) call {
	return t.newCall(ctx, "POST", path, batch, func(to []byte, n int) []byte {
		if batch == 1 {
			return appendItem(to, n)
		}
		to = append(to, `{"`+list+`":[`...)
		for i := range batch {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendItem(to, n*batch+i)
		}
		return append(to, "]}"...)
	})
}
