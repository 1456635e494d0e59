package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/fair"
	"rankcast/server/client"
)

const (
	// maxBatchBytes keeps a request below the megabyte that a server accepts.
	maxBatchBytes = 768 << 10
	// stopGrace is how long the batch under way may take after an interrupt.
	stopGrace = 5 * time.Second
	// statusStep is the least time between two changes of the status.
	statusStep = 100 * time.Millisecond
	// maxWait bounds the wait for one line: a time.Duration holds it without overflow.
	maxWait = 100 * 365 * 24 * time.Hour
	// maxShownRefusals is how many refused lines the sender prints.
	maxShownRefusals = 10
)

// sender sends records in batches, one after the other, so that the order of the file is kept.
type sender struct {
	*Command
	client  *client.Client
	started time.Time
	lines   int       // to send
	shown   time.Time // of the status

	next                      int // line from which to go on: the server has acknowledged all lines before it
	unknown                   int // last line that may have counted without an acknowledgement; 0: none
	batchSent                 time.Time
	away                      atomic.Bool // the last attempt had no answer
	sent, duplicates, refused int
}

// eventFields asks the server for the fields of the event.
func (s *sender) eventFields(ctx context.Context) (*eventFields, error) {
	def, err := s.client.EventDefinition(ctx, s.Event)
	s.away.Store(false)
	if ctx.Err() != nil {
		return nil, errors.New("interrupted before anything was sent")
	}
	if err != nil {
		return nil, s.Server.Explain(err)
	}
	f, err := newEventFields(s.Event, def)
	if err != nil {
		return nil, err
	}
	return f, f.checkNumbers(s.Numbers)
}

// reportRetry prints, once for each outage, that the server does not answer.
func (s *sender) reportRetry(why error) {
	if s.away.CompareAndSwap(false, true) {
		term.Status("")
		fmt.Fprintln(os.Stderr, s.Server.RetryLine(remote.ForAMinute, why))
	}
}

// idRetention is how long a server remembers a request id, at least.
const idRetention = 10 * time.Minute

// resumeAdvice says how to go on after an incomplete run.
func (s *sender) resumeAdvice() string {
	if s.unknown == 0 {
		return fmt.Sprintf("go on with --from %d", s.next)
	}
	return fmt.Sprintf("go on with --from %d before %s: lines %d to %d may have counted already, and until then the server knows them again",
		s.next, s.batchSent.Add(idRetention).Format(time.TimeOnly), s.next, s.unknown)
}

// play sends each record at its time, and records that are due together in one batch.
func (s *sender) play(ctx context.Context, read func(each func(record) error) error) error {
	var batch []record
	var first time.Time // time of the first line
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
	err := read(func(line record) error {
		if line.line < s.From {
			return ctx.Err()
		}
		if s.Speed > 0 {
			if !begun {
				begun, first = true, line.at
			}
			after := float64(line.at.Sub(first)) / s.Speed
			due := s.started.Add(time.Duration(min(after, float64(maxWait))))
			if wait := time.Until(due); wait > 0 {
				if err := flush(); err != nil {
					return err
				}
				if err := fair.Pause(ctx, time.Until(due)); err != nil {
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

// send sends one batch and waits for its acknowledgement, up to stopGrace after the end of
// ctx.
func (s *sender) send(ctx context.Context, batch []record) error {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if !s.away.Load() {
			fair.Pause(sending, stopGrace)
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
		if s.sent+s.refused == 0 { // else "nothing was sent" would speak of all lines
			err = s.Server.Explain(err)
		}
		return fmt.Errorf("line %d: %w", batch[0].line, err)
	}
	for i, r := range results {
		switch {
		case errors.Is(r.Err, client.ErrOutcomeUnknown):
			s.next, s.unknown = batch[i].line, batch[len(batch)-1].line
			return fmt.Errorf("line %d: %w", batch[i].line, r.Err)
		case r.Err != nil:
			if s.refused++; s.refused <= maxShownRefusals {
				term.Status("")
				fmt.Fprintf(os.Stderr, "rankcast: line %d: %s\n", batch[i].line, term.Printable(r.Err.Error()))
			}
		default:
			s.sent++
			if r.Result.Duplicate {
				s.duplicates++
			}
		}
		s.next = batch[i].line + 1
	}
	if time.Since(s.shown) >= statusStep {
		s.shown = time.Now()
		term.Status(fmt.Sprintf("sent %d of %d lines", s.sent+s.refused, s.lines))
	}
	return nil
}

// request sends one batch, and returns an outcome for each line: of an event, the outcome on all of its boards.
func (s *sender) request(ctx context.Context, batch []record) ([]client.Outcome, error) {
	if s.Event == "" {
		updates := make([]client.Update, len(batch))
		for i, line := range batch {
			updates[i] = line.update
		}
		return s.client.Updates(ctx, s.Board, updates)
	}
	events := make([]client.Event, len(batch))
	for i, line := range batch {
		events[i] = client.Event{ID: line.id, Data: line.data}
	}
	outcomes, err := s.client.Events(ctx, s.Event, events)
	results := make([]client.Outcome, len(outcomes))
	for i, o := range outcomes {
		results[i].Err = o.Err
		results[i].Result.Duplicate = len(o.Results) > 0
		for _, board := range o.Results { // an event is refused when one of its boards refuses it
			results[i].Err = cmp.Or(results[i].Err, board.Err)
			results[i].Result.Duplicate = results[i].Result.Duplicate && board.Result.Duplicate
		}
	}
	return results, err
}

// printSummary prints the counts of the run and its rate.
func (s *sender) printSummary(w io.Writer) {
	took := time.Since(s.started)
	rate := float64(s.sent+s.refused) / max(took.Seconds(), 1e-9)
	fmt.Fprintf(w, "sent %s (%s duplicates), refused %s, in %s: %s a second\n", term.Thousands(int64(s.sent)),
		term.Thousands(int64(s.duplicates)),
		term.Thousands(int64(s.refused)), took.Round(time.Millisecond), term.Thousands(int64(rate)))
}
