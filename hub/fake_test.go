package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// fakePeriod is one period of a fakeBoard.
type fakePeriod struct {
	name   string
	ties   definition.Ties
	state  ranking.State
	scores map[string]int64
	data   map[string]string
}

// fakeBoard is a Source and a Feed of one board, "b", that a test moves by hand.
// It has one period for ever, until periods says otherwise.
type fakeBoard struct {
	mu                sync.Mutex
	*fakePeriod                // that takes changes
	pages             []string // read so far, by the names given
	lookups           []int    // how many members in each call
	lookedUp          []string // by the names given
	away              error    // of all reads
	noPages, noPlaces error    // of these alone
	watched, followed map[string]bool
	items             int // of a feed, that have happened

	every   time.Duration // periods are this long; 0: there is one for ever
	began   time.Time     // the first of them
	closed  []*fakePeriod
	keep    int           // so many closed periods can be read
	ends    time.Time     // of all; zero: never
	gone    bool          // there is no such board
	leftOff time.Duration // by which it is wrong how long a period will last

	reading    string // the name by which something is read
	beforeRead hook   // called before that
	// called when these have been read, and not been answered yet
	onPage, onPlaces, onStates hook

	fakePeople
	logs
}

// logs keeps what is logged.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) Enabled(context.Context, slog.Level) bool { return true }
func (l *logs) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logs) WithGroup(string) slog.Handler            { return l }

func (l *logs) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, r.Message)
	return nil
}

// logged gives what was since the last call.
func (l *logs) logged() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// hook is something that a test has a fakeBoard do.
type hook struct{ do atomic.Pointer[func()] }

func (h *hook) set(do func()) { h.do.Store(&do) }

func (h *hook) clear() { h.do.Store(nil) }

func (h *hook) isSet() bool { return h.do.Load() != nil }

func (h *hook) call() {
	if do := h.do.Load(); do != nil {
		(*do)()
	}
}

func newFakePeriod(name string) *fakePeriod {
	return &fakePeriod{name: name, scores: make(map[string]int64), data: make(map[string]string)}
}

func newFakeBoard() *fakeBoard {
	f := &fakeBoard{fakePeople: newFakePeople(), fakePeriod: newFakePeriod(""), watched: make(map[string]bool), followed: make(map[string]bool), keep: 1 << 30}
	for i := range 4 { // so that a delta is smaller than a snapshot
		f.set(fmt.Sprint("low", i), int64(-10-i))
	}
	return f
}

// periods gives the board periods from now on, of that length, "0" the first.
func (f *fakeBoard) periods(every time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.every, f.began, f.name = every, time.Now(), "0"
}

// roll has the period that is over by the clock be so. The caller holds mu.
func (f *fakeBoard) roll() {
	if f.every == 0 {
		return
	}
	for now := int(time.Since(f.began) / f.every); len(f.closed) < now; {
		f.closed = append(f.closed, f.fakePeriod)
		f.fakePeriod = newFakePeriod(strconv.Itoa(len(f.closed)))
	}
}

// find gives the period that a name means, and what a page tells of it beside its
// entries. The caller holds mu.
func (f *fakeBoard) find(name string) (*fakePeriod, ranking.Page, error) {
	f.roll()
	_, period, qualified := strings.Cut(name, "@")
	n := len(f.closed)
	closes := f.began.Add(time.Duration(n+1) * f.every) // the current period
	number, err := strconv.Atoi(period)
	if qualified && number < 0 {
		number += n
	} else if !qualified {
		number = n
	}
	switch {
	case f.gone:
		return nil, ranking.Page{}, ranking.ErrUnknownBoard
	case qualified && (err != nil || f.every == 0), number < max(0, n-f.keep), number > n:
		return nil, ranking.Page{}, ranking.ErrUnknownPeriod
	}
	is, p := f.fakePeriod, ranking.Page{Order: definition.Desc, Start: 1}
	if number < n {
		is, p.Final = f.closed[number], true
	}
	if p.Period = is.name; f.every > 0 {
		p.Ends = f.began.Add(time.Duration(number+1) * f.every)
		if !p.Final || strings.HasPrefix(period, "-") {
			p.Left = time.Until(closes)
		}
	}
	if !f.ends.IsZero() {
		p.Ends, p.Left = f.ends, max(0, time.Until(f.ends))
		p.Final = p.Left == 0
	}
	if p.Left > 0 {
		p.Left = max(1, p.Left+f.leftOff)
	}
	return is, p, nil
}

func (p *fakePeriod) places() []place {
	var list []place
	for m, s := range p.scores {
		list = append(list, place{sortkey.Key(-s), m})
	}
	slices.SortFunc(list, func(a, b place) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return list
}

// entries are all of them.
func (p *fakePeriod) entries() []ranking.Entry {
	list := []ranking.Entry{}
	for i, at := range p.places() {
		rank := int64(i) + 1
		switch {
		case i == 0 || !p.ties.Tied():
		case list[i-1].Key == at.key:
			rank = list[i-1].Rank
		case p.ties == definition.Dense:
			rank = list[i-1].Rank + 1
		}
		list = append(list, ranking.Entry{
			Rank: rank, Member: at.member, Score: at.key.Score(definition.Desc), Key: at.key, Data: p.data[at.member],
		})
	}
	return list
}

// top is the first n of them as on the wire.
func (p *fakePeriod) top(n int) []hubtest.Entry {
	top := []hubtest.Entry{}
	for _, e := range p.entries() {
		if len(top) < n {
			top = append(top, hubtest.Entry{Rank: e.Rank, Member: e.Member, Score: e.Score, Data: hubtest.Raw(e.Data)})
		}
	}
	return top
}

// set changes a member's score and returns the message of it.
func (f *fakeBoard) set(member string, score int64) *feed.Changes {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.roll()
	return f.change(member, score, f.data[member])
}

// tag changes what is with a member, and returns the message of it.
func (f *fakeBoard) tag(member, data string) *feed.Changes {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.roll()
	return f.change(member, f.scores[member], data)
}

// random changes a member's score, to one below some, or what is with it.
func (f *fakeBoard) random(member string, below int64) *feed.Changes {
	if rand.IntN(4) == 0 {
		return f.tag(member, []string{"", "1", `{"a":[]}`}[rand.IntN(3)])
	}
	return f.set(member, rand.Int64N(below))
}

func (p *fakePeriod) change(member string, score int64, data string) *feed.Changes {
	if p.state.Epoch == "" {
		p.state.Epoch = "e" + cmp.Or(p.name, "1")
	}
	p.state.Seq++
	c := feed.Change{Member: member, Data: data}
	if old, ok := p.scores[member]; ok {
		k := sortkey.Key(-old)
		c.Old = &k
	}
	k := sortkey.Key(-score)
	c.New = &k
	before := slices.Collect(maps.Values(p.scores))
	p.scores[member], p.data[member] = score, data
	at := slices.Index(p.places(), place{k, member})
	c.Rank, c.Position = p.entries()[at].Rank, int64(at)+1
	if p.ties == definition.Dense {
		c.Born = !slices.Contains(before, score)
		c.Gone = c.Old != nil && !slices.Contains(slices.Collect(maps.Values(p.scores)), c.Old.Score(definition.Desc))
	}
	return &feed.Changes{Board: "b", Period: p.name, Epoch: p.state.Epoch, Seq: p.state.Seq, List: []feed.Change{c}}
}

// replace has the board be another as a whole, with these members, and returns the
// message.
func (f *fakeBoard) replace(scores map[string]int64) *feed.Changes {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scores, f.data = scores, make(map[string]string)
	f.state = ranking.State{Epoch: f.state.Epoch + "'", Seq: 1}
	return &feed.Changes{Board: "b", Period: f.name, Epoch: f.state.Epoch, Seq: 1}
}

func (f *fakeBoard) top(n int) []hubtest.Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.roll()
	return f.fakePeriod.top(n)
}

// topOf is the first n of the period that a name means.
func (f *fakeBoard) topOf(name string, n int) []hubtest.Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, _, err := f.find(name)
	if err != nil {
		panic(err)
	}
	return p.top(n)
}

// become has the members be of another kind, of which these have names; nil: nobody ever had.
func (f *fakeBoard) become(kind string, names map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.peopleMu.Lock()
	f.kind, f.profiles = kind, nil
	clear(f.kept)
	f.peopleMu.Unlock()
	for m, name := range names {
		f.dub(m, name)
	}
}

func (f *fakeBoard) Page(_ context.Context, board string, _ int64, limit int) (ranking.Page, error) {
	f.begin(board)
	p, err := f.readPage(board, limit)
	f.onPage.call()
	return p, err
}

func (f *fakeBoard) begin(board string) {
	f.mu.Lock()
	f.reading = board
	f.mu.Unlock()
	f.beforeRead.call()
}

func (f *fakeBoard) readPage(board string, limit int) (ranking.Page, error) {
	turn()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages = append(f.pages, board)
	if err := cmp.Or(f.away, f.noPages); err != nil {
		return ranking.Page{}, err
	}
	is, p, err := f.find(board)
	if err != nil {
		return ranking.Page{}, err
	}
	p.Kind = f.kind
	p.State, p.Ties, p.Total, p.Entries = is.state, is.ties, int64(len(is.scores)), is.entries()
	p.Entries = p.Entries[:min(limit, len(p.Entries))]
	return p, nil
}

func (f *fakeBoard) Places(_ context.Context, board string, lookups []ranking.Lookup) (ranking.Places, error) {
	f.begin(board)
	p, err := f.readPlaces(board, lookups)
	f.onPlaces.call()
	return p, err
}

func (f *fakeBoard) readPlaces(board string, lookups []ranking.Lookup) (ranking.Places, error) {
	turn()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookups, f.lookedUp = append(f.lookups, len(lookups)), append(f.lookedUp, board)
	rows := 0
	for _, l := range lookups {
		rows += l.Rows()
	}
	if len(lookups) > ranking.MaxLookups || rows > ranking.MaxLookupRows {
		return ranking.Places{}, errors.New("too much at once")
	}
	if err := cmp.Or(f.away, f.noPlaces); err != nil {
		return ranking.Places{}, err
	}
	is, _, err := f.find(board)
	if err != nil {
		return ranking.Places{}, err
	}
	all := is.entries()
	p := ranking.Places{State: is.state, Period: is.name, Ties: is.ties, Total: int64(len(all))}
	for _, l := range lookups {
		found := ranking.Place{Entry: ranking.Entry{Member: l.Member}}
		if i := slices.IndexFunc(all, func(e ranking.Entry) bool { return e.Member == l.Member }); i >= 0 {
			found.Entry, found.Position = all[i], int64(i)+1
			found.Around = all[max(0, i-l.Around):min(len(all), i+l.Around+1)]
		}
		p.List = append(p.List, found)
	}
	return p, nil
}

func (f *fakeBoard) States(_ context.Context, boards []string) []ranking.BoardState {
	turn()
	f.mu.Lock()
	defer f.mu.Unlock()
	states := make([]ranking.BoardState, len(boards))
	for i, board := range boards {
		if is, _, err := f.find(board); err == nil {
			states[i].State, states[i].Kind = is.state, f.kind
		}
		states[i].Err = f.away
	}
	f.mu.Unlock()
	f.onStates.call()
	f.mu.Lock()
	return states
}

// was remembers how the board is; calling what it returns has it be so again, as
// a replica that has no more than that does when it takes over.
func (f *fakeBoard) was() (again func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	state, scores := f.state, maps.Clone(f.scores)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.state, f.scores = state, maps.Clone(scores)
	}
}

func (f *fakeBoard) setAway(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = err
}

func (f *fakeBoard) Watch(instance string) { f.ask(f.watched, instance, true) }

func (f *fakeBoard) Unwatch(instance string) { f.ask(f.watched, instance, false) }

func (f *fakeBoard) Follow(feed string) { f.ask(f.followed, feed, true) }

func (f *fakeBoard) Unfollow(feed string) { f.ask(f.followed, feed, false) }

func (f *fakeBoard) ask(of map[string]bool, name string, wanted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if of[name] == wanted {
		panic(fmt.Sprintf("%q: wanted is %v already", name, wanted))
	}
	if of[name] = wanted; !wanted {
		delete(of, name)
	}
}

var theBoard = ranking.Board{Name: "b", Instance: "b", Definition: definition.Board{Name: "b"}}

// isStale reports whether clients were told that what they show may be old.
func isStale(h *Hub) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stale
}

// turns orders what a test has read before what happens by the clock alone.
var turns atomic.Int64

func turn() { turns.Add(1) }

// pass lets simulated time pass, and all that is due by then happen.
func pass(d time.Duration) {
	turn()
	time.Sleep(d)
	synctest.Wait()
}

// inBubble runs a test with a hub on simulated time: a wait is over when all
// that could happen has.
func inBubble(t *testing.T, test func(t *testing.T, h *Hub, f *fakeBoard)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBoard()
		h := New(f, f, Config{Log: slog.New(&f.logs), Shards: 2})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			h.Run(ctx)
			close(done)
		}()
		defer func() {
			cancel()
			<-done
		}()
		h.FeedUp()
		synctest.Wait()
		test(t, h, f)
	})
}
