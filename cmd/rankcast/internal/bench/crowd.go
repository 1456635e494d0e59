package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"

	"rankcast/ranking/fair"
)

const (
	// maxJoining is the most sockets that connect at once.
	maxJoining = 256
	// gatherRate is the number of sockets that connect in a second before a measurement.
	gatherRate = 2000
	// patience is the longest wait for sockets: until the last has joined, and until all show the end.
	patience = 15 * time.Second
)

// crowd is many sockets to one target, each of which watches a board. leave ends it.
type crowd struct {
	leave  func()        // closes all sockets, and waits for their goroutines
	joined *tally        // latency from the scheduled start of a connection to its snapshot
	took   time.Duration // until the last had joined
	frames *atomic.Int64 // that have arrived
	lost   *tally        // errors of sockets that had joined
}

// handler takes a frame of socket number, which arrived at a time. The frame is valid until handler returns. Calls for
// one socket do not overlap.
type handler func(number int, frame []byte, at time.Time)

var (
	snapshotFrame = []byte(`{"type":"snapshot"`)
	deltaFrame    = []byte(`{"type":"delta"`)
	meFrame       = []byte(`{"type":"me"`)
	errorFrame    = []byte(`{"type":"error"`)
)

// gather connects sockets, at a rate for each second, and returns when each has its first snapshot or has failed.
// subscribe gives the messages of a socket. Where most fail, that is an error.
func (t *target) gather(ctx context.Context, sockets, perSecond int, subscribe func(number int) []string,
	handle handler) (*crowd, error) {
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	c := &crowd{frames: new(atomic.Int64), joined: newTally(), lost: newTally(), leave: func() { cancel(); reading.Wait() }}
	t.show("connecting")
	sch := newSchedule(time.Now(), perSecond, 1, 1, time.Hour)
	var joining errgroup.Group
	joining.SetLimit(maxJoining)
	for number := range sockets {
		due := sch.dueRequest(number)
		fair.Pause(ctx, time.Until(due))
		joining.Go(func() error {
			one, err := t.join(ctx, number, subscribe(number), handle)
			if err != nil {
				c.joined.fail("not joined")
				return err
			}
			c.joined.count(outcome{done: 1}, nil, time.Since(due))
			reading.Go(func() {
				defer one.CloseNow()
				c.read(ctx, one, number, handle)
			})
			return nil
		})
	}
	first := joining.Wait()
	c.took = time.Since(sch.dueRequest(0))
	if ctx.Err() != nil || c.joined.done <= int64(sockets/2) {
		c.leave()
		return nil, fmt.Errorf("%d of %d sockets joined: %w", c.joined.done, sockets, first)
	}
	return c, nil
}

// join opens a socket, and waits for its first snapshot.
func (t *target) join(ctx context.Context, number int, subscribe []string, handle handler) (*socket, error) {
	one, err := t.openSocket(ctx, number)
	if err != nil {
		return nil, err
	}
	joining, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, message := range subscribe {
		err = cmp.Or(err, one.Write(joining, websocket.MessageText, []byte(message)))
	}
	for err == nil {
		var frame []byte
		frame, err = one.next(joining)
		switch {
		case err != nil:
		case bytes.HasPrefix(frame, errorFrame):
			err = fmt.Errorf("the server answers %s", frame)
		case bytes.HasPrefix(frame, snapshotFrame):
			handle(number, frame, time.Now())
			return one, nil
		}
	}
	one.CloseNow()
	return nil, err
}

// read reads the frames of a socket until the crowd leaves.
func (c *crowd) read(ctx context.Context, one *socket, number int, handle handler) {
	for {
		frame, err := one.next(context.Background()) // the end of ctx closes the socket
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			c.lost.fail("socket lost")
			return
		case bytes.HasPrefix(frame, errorFrame):
			c.lost.fail("error frame")
			return
		}
		c.frames.Add(1)
		handle(number, frame, time.Now())
	}
}

// untilRight waits until all of the crowd show what the server holds, and returns how many do. It gives up after
// patience.
func untilRight(ctx context.Context, sockets int, right func(context.Context) (int, error)) (n int, err error) {
	for began := time.Now(); ; fair.Pause(ctx, 10*pollStep) {
		if n, err = right(ctx); err != nil || n == sockets {
			return n, err
		}
		if ctx.Err() != nil || time.Since(began) > patience {
			return n, ctx.Err()
		}
	}
}

// measureMemory measures the memory of the target's node without sockets. measure then sets what each of so many takes. A server
// at a URL, and a system without /proc, have no such figure.
func (t *target) measureMemory(ctx context.Context, f *figures) (measure func(sockets int64) error) {
	before, known := t.memory(ctx)
	return func(sockets int64) error {
		if !known {
			return nil
		}
		after, known := t.memory(ctx)
		if !known {
			return fmt.Errorf("%s: the memory of the node cannot be read any more", t.name)
		}
		f.set(socketMemory, float64(after-before)/float64(sockets))
		return nil
	}
}

// memory is the resident memory of the target's node once it has settled: the lowest of the second that follows.
func (t *target) memory(ctx context.Context) (low int64, known bool) {
	if t.own == nil {
		return 0, false
	}
	for i := range 20 {
		_, now, known := processUsage(t.own.node.pid())
		if !known {
			return 0, false
		}
		if i == 0 || now < low {
			low = now
		}
		fair.Pause(ctx, time.Second/20)
	}
	return low, true
}

// restart starts the node of the command again, so that its memory does not depend on rounds before. It leaves a server
// at a URL alone.
func (t *target) restart(ctx context.Context) error {
	if t.own == nil {
		return nil
	}
	t.own.node.end()
	t.client.Close()
	_, err := t.own.startNode(ctx, strings.TrimPrefix(t.remote.URL, "http://"))
	return err
}
