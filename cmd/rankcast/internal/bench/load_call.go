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

// newCall makes a call with a connection of its own. It sends a request of so many units, which fill completes for
// request n.
func (t *target) newCall(ctx context.Context, method, path, body string, units int64, fill func(m *message, n int)) call {
	c, m := t.newConn(), newMessage(body)
	return func(n int) (outcome, error) {
		fill(m, n)
		status, answer, err := c.do(ctx, method, path, m.text)
		switch {
		case err != nil:
			return outcome{}, err
		case status != 200:
			return outcome{refused: units, why: statusCode(status)}, nil
		}
		if refused := min(int64(bytes.Count(answer, refusal)), units); refused > 0 {
			return outcome{done: units - refused, refused: refused, why: "refused in a batch"}, nil
		}
		return outcome{done: units}, nil
	}
}
