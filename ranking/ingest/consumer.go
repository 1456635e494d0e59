package ingest

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/fair"
)

const (
	// retryFirst and retryMost bound the pause after a failure. Each further failure doubles the pause.
	retryFirst = 100 * time.Millisecond
	retryMost  = 2 * time.Second
	// storeTimeout is the time before the end of the lease at which a batch ends, so that a call under way
	// mostly ends within the lease: it takes two seconds, and a definitions lease holds for three.
	storeTimeout = 5 * time.Second
	// logPause is the least time between two lines of a stream about dead letters.
	logPause = time.Minute
)

// consumer consumes one stream. One goroutine uses it.
type consumer struct {
	*Ingest
	stream string
	token  string // of its lease

	lease   leaseState    // by the last call that used the lease
	looked  time.Time     // when the last look at the stream that succeeded began; at first the start of the consumer
	lag     time.Duration // by that look
	failing bool          // the last batch failed
	retry   time.Duration // the next pause after a failure
	letters int           // dead letters since loggedAt
	logged  time.Time     // the last line about dead letters
}

// leaseState says which consumer holds the lease of a stream.
type leaseState int

const (
	leaseUnknown leaseState = iota // before the first answer of Redis
	leaseHeld                      // this consumer
	leaseBusy                      // another one, which may have died
)

func (in *Ingest) consumer(stream string) *consumer {
	return &consumer{Ingest: in, stream: stream, token: rand.Text(), retry: retryFirst, looked: time.Now()}
}

// run consumes the stream until ctx ends. It ends a batch that has begun.
func (c *consumer) run(ctx context.Context) {
	batches := context.WithoutCancel(ctx)
	defer c.release(batches) // on failure the lease ends by itself
	for ctx.Err() == nil {
		pause, err := c.batch(batches)
		c.note(err)
		if err != nil {
			pause, c.retry = c.retry, min(2*c.retry, retryMost)
		} else {
			c.retry = retryFirst
		}
		c.rest(ctx, pause)
	}
}

// rest waits for a pause, or until ctx ends. It renews the lease during a long pause, as at a low rate with many streams.
func (c *consumer) rest(ctx context.Context, pause time.Duration) {
	for most := c.cfg.Lease / 4; c.lease == leaseHeld && pause > most; pause -= most {
		if fair.Pause(ctx, most) != nil {
			return
		}
		if held, err := c.renew(context.WithoutCancel(ctx)); err == nil && !held {
			c.noteLease(leaseBusy)
		}
	}
	fair.Pause(ctx, pause)
}

// batch takes a batch, applies it and acknowledges it. It returns the pause before the next one. After an
// error some entries of the batch stay pending, and the next batch begins with them.
func (c *consumer) batch(ctx context.Context) (pause time.Duration, err error) {
	// The batch ends before the lease does: a call of the store takes effect within the lease of its
	// definitions, see doc.go.
	began := time.Now()
	t, err := c.take(ctx, c.rate.batch())
	if err != nil {
		// An entry that the last look has not seen came after that look began. So no entry is older than this.
		c.metrics.observeFailure(c.stream, c.lag+time.Since(c.looked))
		return 0, err
	}
	c.lag, c.looked = t.lag(), began
	c.metrics.observe(c.stream, t)
	if t.busy {
		c.noteLease(leaseBusy)
		return busyPause, nil
	}
	c.noteLease(leaseHeld)
	if len(t.entries) == 0 {
		return idlePause, nil
	}
	bounded, cancel := context.WithDeadline(ctx, began.Add(c.cfg.Lease-min(storeTimeout, c.cfg.Lease/2)))
	defer cancel()
	messages := make([]*message, len(t.entries))
	for i, e := range t.entries {
		messages[i] = &message{entry: e, origin: e.id, mayCount: e.again}
	}
	err = c.read(bounded, messages, t.now)
	if err == nil {
		err = c.apply(bounded, messages)
	}
	held, concludeErr := c.conclude(ctx, t.now, messages)
	if concludeErr != nil {
		return 0, errors.Join(err, concludeErr)
	}
	if !held {
		c.noteLease(leaseBusy)
		return busyPause, err
	}
	return c.rate.book(c.count(messages)), err
}

// count counts the results of messages, and returns how many updates they made.
func (c *consumer) count(all []*message) (updates int) {
	results := make(map[string]int)
	for _, m := range all {
		if m.result != "" {
			results[m.result]++
			updates += m.updates
		}
	}
	for result, n := range results {
		c.metrics.entries.WithLabelValues(c.stream, result).Add(float64(n))
	}
	if c.letters += results[resultRefused] + results[resultUnknown]; c.letters > 0 && time.Since(c.logged) >= logPause {
		c.cfg.Log.Warn("entries were not applied; they are dead letters", "stream", c.stream, "dead", c.keys.DeadLetters(c.stream),
			"entries", c.letters)
		c.letters, c.logged = 0, time.Now()
	}
	return updates
}

// noteLease logs the first consumer of the stream, and each change.
func (c *consumer) noteLease(state leaseState) {
	if state == c.lease {
		return
	}
	c.lease = state
	if state == leaseHeld {
		c.cfg.Log.Info("this process consumes the stream", "stream", c.stream)
		return
	}
	c.cfg.Log.Info("another process consumes the stream; this process takes the stream over if that one has died",
		"stream", c.stream, "within", (c.cfg.Lease + busyPause).String())
}

// note logs the first failure in a row, and the first success after it.
func (c *consumer) note(err error) {
	switch {
	case err != nil && !c.failing:
		c.failing = true
		c.cfg.Log.Warn("the consumer cannot apply entries; it tries again", "stream", c.stream, "error", reason(err))
	case err == nil && c.failing:
		c.failing = false
		c.cfg.Log.Info("the consumer applies entries again", "stream", c.stream)
	}
}

// reason returns what the log says of an error: the error of the network without the calls that it stopped, such as "dial
// tcp 127.0.0.1:6379: connect: connection refused"; any other error as it is.
func reason(err error) error {
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return network
	}
	return err
}

// isPassing reports whether the same call may succeed later: it says nothing about the entry.
func isPassing(err error) bool {
	for _, kind := range []error{definition.ErrUnavailable, definition.ErrOverloaded, definition.ErrTooManyIDs, definition.ErrOutcomeUnknown,
		context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
