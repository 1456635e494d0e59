package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Watch is what to show of a board.
type Watch struct {
	// Top is how many of the first entries, up to 1,000 or what the server
	// allows. Default 10; negative: none.
	Top int
	// Me is a member whose own rank is shown too. It need not be on the board.
	// Default none.
	Me string
	// Around is how many neighbours of Me on each side, 0 to 20. Only with Me.
	Around int
}

// State says how far what is shown can be trusted.
type State string

const (
	// Connecting: nothing has come yet.
	Connecting State = "connecting"
	// Live: what is shown is what the server shows.
	Live State = "live"
	// Stale: connected, but the server has lost its Redis.
	Stale State = "stale"
	// Away: the connection is lost and being made anew, or the board is being
	// asked for again because a frame was.
	Away State = "away"
)

// Board is a board at one moment, as far as it is watched.
type Board struct {
	Board  string    // as it was named to Watch
	Period string    // "" on a board without periods
	Ends   time.Time // when the period closes, or closed, by the server's clock; zero: never
	Final  bool      // it has closed: nothing changes any more
	Epoch  string    // tells one life of the board from the next; seq counts anew in each
	Seq    int64     // counts the board's changes
	Total  int64     // members on the board
	// Top are the first entries, at Seq. Nobody changes them any more.
	Top []Entry
	// Me is where Watch.Me stands. nil: not asked for, or not known yet.
	Me *Me

	State State
	// AsOf is when all of this was last known to be so, unless State is Live.
	// Zero where that is not known.
	AsOf time.Time
	// Err is what was wrong with the connection or the server last, with
	// Connecting and Away; nil where nothing was.
	Err error
}

// Me is where the watched member stands. It may be of a seq lower or higher than
// the board's; both are right, each as of its own.
type Me struct {
	Member string
	Seq    int64
	Rank   *int64 // nil for a member that is not on the board
	Score  *int64 // nil likewise
	Total  int64  // members on the board
	// ToNext is the distance in score to the entry above: 0 when tied, nil at
	// the top, when not on the board, and where Around is nil.
	ToNext *int64
	// Around are the neighbours asked for and the member between them, by rank;
	// empty when not on the board. nil: not asked for, or not known at this
	// moment.
	Around []Entry
}

// Watch shows a board until ctx ends or the server refuses for good. It calls
// show with a whole state at once and whenever one differs from the last, never
// twice at a time, from the goroutine that called Watch. While show is busy,
// states are not queued: it gets the newest next. A lost connection is made
// anew for as long as it takes.
//
// Where the board's name comes to mean another period, show gets the last state
// of the one that has closed, which is Final, and then the new one. (It misses
// the last state only if the connection was down then, or if several periods
// closed while show was busy: then it gets that of the last of them.)
//
// It returns ctx's error, or an *Error for what will not be otherwise by trying
// again: an unknown board, a request that is wrong, a close code of 4500 to
// 4999. Nothing that it started is left then.
func (c *Client) Watch(ctx context.Context, board string, w Watch, show func(Board)) error {
	if w.Top == 0 {
		w.Top = 10
	}
	w.Top = max(w.Top, 0)
	if !utf8.ValidString(board) || !utf8.ValidString(w.Me) {
		return fmt.Errorf("watch board %q: names must be UTF-8", board)
	}
	live, err := url.Parse(c.base + "/v1/live")
	if err != nil {
		return fmt.Errorf("watch board %q: %w", board, err)
	}
	live.Scheme = strings.Replace(live.Scheme, "http", "ws", 1)
	k := &keeper{client: c, url: live.String(), watch: w, newest: make(chan news, 1)}
	k.shown = Board{Board: board, State: Connecting}

	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		ended <- k.keep(ctx)
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

// news is what show has not seen yet.
type news struct {
	closed *Board // the last state of a period that has closed since; nil: none has
	now    Board
}

func (n news) each(ctx context.Context, show func(Board)) {
	if n.closed != nil && ctx.Err() == nil {
		show(*n.closed)
	}
	if ctx.Err() == nil {
		show(n.now)
	}
}

// keeper keeps the newest state of a board over any number of connections. One
// goroutine owns it.
type keeper struct {
	client *Client
	url    string
	watch  Watch
	newest chan news // what show gets next; holds one

	shown Board
	known bool // shown.Top came from the server
	whole bool // shown.Top is the list at shown.Seq, so that a delta may build on it
	asks  int  // that came to nothing, since a delta last fit
}

// keep connects again and again. It returns why it stopped.
func (k *keeper) keep(ctx context.Context) error {
	k.tell()
	for attempt := 0; ; {
		s := &session{keeper: k}
		err := s.run(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var final *finalError
		if errors.As(err, &final) {
			return final.err
		}
		if !s.opened.IsZero() && time.Since(s.opened) >= stable {
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
		k.lost(s.heard, err)
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// lost notes that nothing is known from now on.
func (k *keeper) lost(heard time.Time, err error) {
	if k.shown.State == Live {
		k.shown.AsOf = heard
	}
	k.shown.State, k.shown.Err = Connecting, err
	if k.known {
		k.shown.State = Away
	}
	k.tell()
}

// tell puts the state where show gets it, in place of one that is still there
// unless that is the last of its period.
func (k *keeper) tell() {
	next := news{now: k.shown}
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

// take makes a frame about the board the state, and reports whether it fits.
func (k *keeper) take(f *frame) (fits bool) {
	b := &k.shown
	switch f.Type {
	case "snapshot":
		if f.Epoch != b.Epoch || f.Period != b.Period {
			b.Me = nil // of another life of the board; its own comes next
		}
		b.Period, b.Ends, b.Final = f.Period, f.Ends, f.Final
		b.Epoch, b.Seq, b.Total, b.Top = f.Epoch, f.Seq, f.Total, f.Top
		k.known, k.whole = true, true
	case "delta":
		top, fits := fold(b.Top, b.Seq, f)
		if !fits {
			k.whole = false
			return false
		}
		b.Seq, b.Total, b.Top = f.Seq, f.Total, top
		k.asks = 0 // only this shows that the next gap is not the same again
	case "me":
		b.Me = &Me{Member: k.watch.Me, Seq: f.Seq, Rank: f.Rank, Score: f.Score, Total: f.Total, ToNext: f.ToNext, Around: f.Around}
	}
	return true
}
