package client

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Watch selects what part of a board to show.
type Watch struct {
	// Top is the number of first entries, up to 1,000 or the server's limit. Default 10;
	// negative: none.
	Top int
	// Me is a member to follow: its own rank comes too. It need not be on the board. Default
	// none.
	Me string
	// Around is the number of neighbours of Me on each side, 0 to 20. It needs Me.
	Around int
}

// State says whether a Board is current.
type State string

const (
	// Connecting: no state has arrived yet.
	Connecting State = "connecting"
	// Live: the Board is what the server holds.
	Live State = "live"
	// Stale: connected, but the server has lost its connection to Redis.
	Stale State = "stale"
	// Away: the connection is lost and the client reconnects, or a frame is missing and the
	// client subscribes again.
	Away State = "away"
)

// Board is the watched part of a board at one moment.
type Board struct {
	Board    string    // the name given to Watch
	Period   string    // "" on a board without periods
	Ends     time.Time // end of the period, by the server's clock; zero: never
	Timezone string    // IANA zone of a period that is an hour, a day, a week, a month or a year; "" on other boards
	Final    bool      // the period is closed; the board does not change any more
	Frozen   *Frozen   // the board stands still; nil: it does not. Do not modify it
	Epoch    string    // one life of the board; Seq starts again in each
	Seq      int64     // number of the board's last change
	Total    int64     // members on the board
	// Top are the first entries, at Seq. The client does not modify them later.
	Top []Entry
	// Me is the entry of Watch.Me. nil: not watched, or not known yet.
	Me *Me
	// Display says how to show scores, as in the board's definition, in JSON. nil: as whole numbers.
	Display jsontext.Value
	// Columns are the columns of scores, as in the board's definition, in JSON. nil: a score is one number.
	Columns jsontext.Value

	State State
	// AsOf is the last time at which this was the server's state, unless State is Live. Zero:
	// unknown.
	AsOf time.Time
	// Err is the last error of the connection or the server, with Connecting and Away; nil
	// without one.
	Err error
}

// Me is the entry of the followed member. Its Seq may differ from the board's: each is right as of
// its own Seq.
type Me struct {
	Member  string  `json:"member"`
	Seq     int64   `json:"seq"`
	Rank    *int64  `json:"rank"`             // nil if the member is not on the board
	Score   *int64  `json:"score"`            // nil like Rank
	Columns Columns `json:"columns,omitzero"` // like Entry's
	Total   int64   `json:"total"`            // members on the board at Seq; a change of it alone brings no new Me, see Board.Total
	// ToNext is the distance in score to the entry above: 0 for a tie, nil at rank 1, which several may
	// share, for a member that is not on the board, and if Around is nil.
	ToNext *int64 `json:"to_next"`
	// ToNextColumns is like that of MemberEntry; nil like ToNext.
	ToNextColumns Columns `json:"to_next_columns,omitzero"`
	// Around are the neighbours and the member between them, by rank; empty if the member is
	// not on the board. nil: not watched, or not known at this moment.
	Around []Entry `json:"around"`
}

// Watch watches a board until ctx ends or the server refuses permanently. It calls show with a
// complete Board at once and after each change, from the goroutine that called Watch. While show
// runs, Watch keeps only the newest Board for the next call (conflation). If the connection fails,
// Watch reconnects for as long as that takes.
//
// At a rollover, show gets the last Board of the closed period, which is Final, and then the new
// one. It misses the last Board only if the connection was down then. If several periods closed while
// show ran, it gets the last Board of the latest of them.
//
// When credentials expire (close code 4401), Watch reconnects with those that Config.Credentials then
// returns. It also does when they are withdrawn and Config.Credentials returns others.
//
// Watch returns ctx's error, or an *Error after which reconnecting is useless: an unknown board, an
// invalid request, credentials that the server refuses and that Config.Credentials has not replaced, a
// close code from 4500 to 4999. All its goroutines have ended then.
func (c *Client) Watch(ctx context.Context, board string, w Watch, show func(Board)) error {
	if w.Top == 0 {
		w.Top = 10
	}
	w.Top = max(w.Top, 0)
	if !utf8.ValidString(board) || !utf8.ValidString(w.Me) {
		return fmt.Errorf("watch board %q: names must be UTF-8", board)
	}
	k := &watcher{client: c, watch: w, newest: make(chan pendingStates, 1)}
	k.shown = Board{Board: board, State: Connecting}

	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		ended <- k.runSessions(ctx)
	}()
	defer func() { // also where show panics
		cancel()
		for range ended {
		}
	}()
	for {
		select {
		case n := <-k.newest:
			n.each(ctx, show)
		case err := <-ended:
			if ctx.Err() != nil {
				return ctx.Err()
			}
			select {
			case n := <-k.newest:
				n.each(ctx, show)
			default:
			}
			return fmt.Errorf("watch board %q: %w", board, err)
		}
	}
}

// pendingStates are the states that show has not seen yet.
type pendingStates struct {
	closed *Board // the last state of a period that closed meanwhile; nil: none
	now    Board
}

func (n pendingStates) each(ctx context.Context, show func(Board)) {
	if n.closed != nil && ctx.Err() == nil {
		show(*n.closed)
	}
	if ctx.Err() == nil {
		show(n.now)
	}
}

// watcher holds the newest state of a board over any number of connections. One goroutine owns it.
type watcher struct {
	client *Client
	watch  Watch
	newest chan pendingStates // the states for the next call of show; capacity 1

	shown        Board
	life         string // of shown.Top, for a resume
	hasState     bool   // shown came from the server
	foldable     bool   // shown.Top is the list at shown.Seq, so a delta may build on it
	resubscribes int    // subscribes since a delta last fit
}

// runSessions connects again and again. It returns the reason for its end.
func (k *watcher) runSessions(ctx context.Context) error {
	k.publish()
	for attempt := 0; ; {
		s := &session{watcher: k}
		err := s.run(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if final, ok := errors.AsType[*permanentError](err); ok {
			return final.err
		}
		if !s.opened.IsZero() && time.Since(s.opened) >= stableAfter {
			attempt = 0
		}
		if s.overloaded {
			attempt = max(attempt, overloadedAttempt)
		}
		wait := k.client.backoff(attempt)
		attempt++
		if s.retry > 0 {
			wait = s.retry + time.Duration(k.client.random()*float64(s.retry)/2)
		}
		s.stale, s.inSync = false, false // the connection has ended
		s.update(err)
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// publish hands the state to show. It replaces a state that show has not seen, but keeps the last one
// of a closed period.
func (k *watcher) publish() {
	next := pendingStates{now: k.shown}
	select {
	case unseen := <-k.newest:
		next.closed = unseen.closed
		if unseen.now.Final && unseen.now.Period != k.shown.Period {
			next.closed = &unseen.now
		}
	default:
	}
	k.newest <- next
}

// apply applies a frame about the board to the state, and reports whether the frame fits.
func (k *watcher) apply(f *frame) (fits bool) {
	b := &k.shown
	switch f.Type {
	case "snapshot":
		if f.Epoch != b.Epoch || f.Period != b.Period {
			b.Me = nil // of another epoch or period; the next frame brings the new one
		}
		b.Period, b.Ends, b.Final, b.Frozen = f.Period, f.Ends, f.Final, f.Frozen
		b.Epoch, b.Seq, b.Total, b.Top = f.Epoch, f.Seq, f.Total, f.Top
		if f.Info != nil { // the snapshot that answers a subscribe
			b.Display, b.Columns, b.Timezone = f.Info.Display, f.Info.Columns, ""
			if f.Info.Period != nil {
				b.Timezone = f.Info.Period.Timezone
			}
		}
		k.life, k.hasState, k.foldable = f.Life, true, true
	case "delta":
		top, fits := fold(b.Top, b.Seq, f)
		if !fits {
			k.foldable = false
			return false
		}
		b.Seq, b.Total, b.Top = f.Seq, f.Total, top
		k.resubscribes = 0 // a snapshot alone does not prove that the next delta fits
	case "board":
		b.Frozen = f.Frozen
	case "me":
		b.Me = &Me{Member: k.watch.Me, Seq: f.Seq, Rank: f.Rank, Score: f.Score, Columns: f.Columns, Total: f.Total,
			ToNext: f.ToNext, ToNextColumns: f.ToNextColumns, Around: f.Around}
	}
	return true
}
