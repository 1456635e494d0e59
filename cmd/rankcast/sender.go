package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"

	"rankcast/server/client"
)

const (
	// maxBatchBytes keeps a batch below the megabyte that a server takes.
	maxBatchBytes = 768 << 10
	// stopGrace is for how long the batch under way may go on after ctrl-c.
	stopGrace = 5 * time.Second
	// longestWait is what a duration holds without overflowing, and more than
	// anybody waits.
	longestWait = 100 * 365 * 24 * time.Hour
	// shownRefusals is how many refused lines are printed.
	shownRefusals = 10
)

// sender sends lines in batches, one after the other, so that a file's order is
// kept.
type sender struct {
	*replay
	client  *client.Client
	bar     *progressbar.ProgressBar
	started time.Time

	next                      int // line from which to go on: all before is acknowledged
	unknown                   int // last line after it that may have counted; 0: none
	batchSent                 time.Time
	away                      atomic.Bool // the last attempt came to nothing
	sent, duplicates, refused int
}

// eventFields asks the server what the event has.
func (s *sender) eventFields(ctx context.Context) (*eventFields, error) {
	def, err := s.client.EventDefinition(ctx, s.Event)
	s.away.Store(false)
	if ctx.Err() != nil {
		return nil, errors.New("interrupted before anything was sent")
	}
	if err != nil {
		return nil, s.explain(err)
	}
	f, err := newEventFields(s.Event, def)
	if err != nil {
		return nil, err
	}
	return f, f.checkNumbers(s.Numbers)
}

// sayRetry says, once each time, that the server is away.
func (s *sender) sayRetry(why error) {
	if s.away.CompareAndSwap(false, true) {
		s.bar.Clear()
		fmt.Fprintf(os.Stderr, "rankcast: %s does not answer, trying again: %s\n", redacted(s.Server), printable(cause(why).Error()))
	}
}

// idsKept is how long a server knows an id again, at least.
const idsKept = 10 * time.Minute

// advice tells how to go on after a run that did not come to its end.
func (s *sender) advice() string {
	if s.unknown == 0 {
		return fmt.Sprintf("go on with --from %d", s.next)
	}
	return fmt.Sprintf("go on with --from %d before %s: lines %d to %d may have counted already, and until then the server knows them again",
		s.next, s.batchSent.Add(idsKept).Format(time.TimeOnly), s.next, s.unknown)
}

// play sends lines at their time, and those whose time has come together.
func (s *sender) play(ctx context.Context, read func(each func(recorded) error) error) error {
	var batch []recorded
	var first time.Time // of the first line
	begun, bytes := false, 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.send(ctx, batch)
		batch, bytes = batch[:0], 0
		return err
	}
	err := read(func(line recorded) error {
		if line.line < s.From {
			return ctx.Err()
		}
		if s.Speed > 0 {
			if !begun {
				begun, first = true, line.at
			}
			after := float64(line.at.Sub(first)) / s.Speed
			due := s.started.Add(time.Duration(min(after, float64(longestWait))))
			if wait := time.Until(due); wait > 0 {
				if err := flush(); err != nil {
					return err
				}
				if err := pause(ctx, time.Until(due)); err != nil {
					return err
				}
			}
		}
		if len(batch) >= s.Batch || bytes+line.size() > maxBatchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		batch = append(batch, line)
		bytes += line.size()
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stopped is a line that the server could not take for as long as it was
// tried.
type stopped struct {
	line int
	err  error
}

func (e *stopped) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func (e *stopped) Unwrap() error { return e.err }

// send sends one batch and waits until it is acknowledged. A ctx that ends
// leaves it some time for that.
func (s *sender) send(ctx context.Context, batch []recorded) error {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if !s.away.Load() {
			pause(sending, stopGrace)
		}
		cancel()
	})
	defer stop()
	defer s.away.Store(false)
	s.batchSent = time.Now()
	results, err := s.request(sending, batch)
	if err != nil {
		s.next = batch[0].line
		if errors.Is(err, client.ErrOutcomeUnknown) {
			s.unknown = batch[len(batch)-1].line
		}
		return &stopped{batch[0].line, err}
	}
	for i, r := range results {
		switch {
		case errors.Is(r.err, client.ErrOutcomeUnknown):
			s.next, s.unknown = batch[i].line, batch[len(batch)-1].line
			return &stopped{batch[i].line, r.err}
		case r.err != nil:
			if s.refused++; s.refused <= shownRefusals {
				s.bar.Clear()
				fmt.Fprintf(os.Stderr, "rankcast: line %d: %s\n", batch[i].line, printable(r.err.Error()))
			}
		default:
			s.sent++
			if r.duplicate {
				s.duplicates++
			}
		}
		s.next = batch[i].line + 1
	}
	s.bar.Add(len(batch))
	return nil
}

// result is what came of one line.
type result struct {
	duplicate bool
	err       error
}

func (s *sender) request(ctx context.Context, batch []recorded) ([]result, error) {
	results := make([]result, len(batch))
	if s.Event == "" {
		updates := make([]client.Update, len(batch))
		for i, line := range batch {
			updates[i] = line.update
		}
		outcomes, err := s.client.Updates(ctx, s.Board, updates)
		for i, o := range outcomes {
			results[i] = result{o.Result.Duplicate, o.Err}
		}
		return results, err
	}
	events := make([]client.Event, len(batch))
	for i, line := range batch {
		events[i] = client.Event{ID: line.id, Data: line.data}
	}
	outcomes, err := s.client.Events(ctx, s.Event, events)
	for i, o := range outcomes {
		results[i] = result{duplicate: len(o.Results) > 0, err: o.Err}
		for _, board := range o.Results { // one that any of its boards refused is refused
			results[i].duplicate = results[i].duplicate && board.Result.Duplicate
			if results[i].err == nil {
				results[i].err = board.Err
			}
		}
	}
	return results, err
}

// explain says what a refusal of everything means.
func (s *sender) explain(err error) error {
	var e *client.Error
	switch {
	case !errors.As(err, &e) || e.Status != http.StatusNotFound:
		return err
	case e.Code == "":
		return fmt.Errorf("no Rankcast server answers at %s (404)", redacted(s.Server))
	case e.Code == "not_found" && s.Event != "":
		return fmt.Errorf("the server at %s knows no events (404)", redacted(s.Server))
	}
	return e
}

// summary tells what was done.
func (s *sender) summary(w io.Writer) {
	took := time.Since(s.started)
	rate := float64(s.sent+s.refused) / max(took.Seconds(), 1e-9)
	fmt.Fprintf(w, "sent %s (%s duplicates), refused %s, in %s: %s a second\n", thousands(int64(s.sent)), thousands(int64(s.duplicates)),
		thousands(int64(s.refused)), took.Round(time.Millisecond), thousands(int64(rate)))
}
