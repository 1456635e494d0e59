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
	"time"

	"rankcast/hub/hubtest"
	"rankcast/hub/view"
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
	shards ranking.States // nil: the board has none
	scores map[string]int64
	data   map[string]string
	frozen *ranking.Frozen // as a message has told; nil: the definition alone freezes it
}

// fakeBoard is the Source and the Feed of one board, "b", that a test changes. It has one
// period that never ends, until periods is called.
type fakeBoard struct {
	mu                 sync.Mutex
	*fakePeriod                 // the period that takes changes
	pages              []string // names of the pages read so far
	largeReads         []int    // limits of the pages that Read has read
	largeErr           error    // of Read
	lookups            []int    // number of members in each call
	lookedUp           []string // names in each call
	readErr            error    // of all reads
	pageErr, lookupErr error    // of pages alone, of lookups alone
	watched, followed  map[string]int
	items              int // of a feed, sent so far

	every       time.Duration // the length of a period; 0: one period that never ends
	began       time.Time     // start of the first period
	closed      []*fakePeriod
	keptPeriods int           // how many closed periods can be read
	ends        time.Time     // of all; zero: never
	freezes     time.Duration // how long before the end of the current period it freezes; 0: never
	missing     bool          // the board does not exist
	columns     definition.Columns
	leftError   time.Duration // error in the time that a period is said to have left
	ahead       time.Duration // how far Redis's clock is ahead of that of this process

	reading     string // the name of the last read
	beforeRead  hook   // called before each read
	beforeLarge hook   // called before Read answers
	// called after each read of its kind, before the answer
	onPage, onPlaces, onStates hook

	fakeProfiles
	logs
}

// logs records what is logged.
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

// logged returns the messages since the last call.
func (l *logs) logged() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// hook is a function that a test sets.
type hook struct{ do atomic.Pointer[func()] }

func (h *hook) set(do func()) { h.do.Store(&do) }

// once sets a function for the next call alone.
func (h *hook) once(do func()) {
	h.set(func() {
		h.clear()
		do()
	})
}

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
	f := &fakeBoard{fakeProfiles: newFakeProfiles(), fakePeriod: newFakePeriod(""), watched: make(map[string]int),
		followed: make(map[string]int), keptPeriods: 1 << 30}
	for i := range 4 { // so that a delta is smaller than a snapshot
		f.set(fmt.Sprint("low", i), int64(-10-i))
	}
	return f
}

// periods gives the board periods of a length from now on; the first is "0".
func (f *fakeBoard) periods(every time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.every, f.began, f.name = every, time.Now(), "0"
}

// rollOver begins the period that the clock says. The caller holds mu.
func (f *fakeBoard) rollOver() {
	if f.every == 0 {
		return
	}
	for now := int(time.Since(f.began) / f.every); len(f.closed) < now; {
		f.closed = append(f.closed, f.fakePeriod)
		f.fakePeriod = newFakePeriod(strconv.Itoa(len(f.closed)))
	}
}

// find returns the period that a name means, and the fields of its page other than the
// entries. The caller holds mu.
func (f *fakeBoard) find(name string) (*fakePeriod, ranking.Page, error) {
	f.rollOver()
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
	case f.missing:
		return nil, ranking.Page{}, definition.ErrUnknownBoard
	case qualified && (err != nil || f.every == 0), number < max(0, n-f.keptPeriods), number > n:
		return nil, ranking.Page{}, definition.ErrUnknownPeriod
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
	if until := p.Left - f.freezes; f.freezes > 0 && number == n && until > 0 {
		p.Left = until
	} else if f.freezes > 0 && number == n {
		p.Frozen = &ranking.Frozen{Since: p.Ends.Add(-f.freezes), Reveals: definition.RevealAuto}
	}
	if is.frozen != nil {
		p.Frozen, p.Final = is.frozen, false
	}
	if p.Left > 0 {
		p.Left = max(1, p.Left+f.leftError)
	}
	return is, p, nil
}

// members are the members of the period in order.
func (p *fakePeriod) members() []string {
	return slices.SortedFunc(maps.Keys(p.scores), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.scores[b], p.scores[a]), cmp.Compare(a, b))
	})
}

// divide gives the board shards from now on.
func (f *fakeBoard) divide(shards int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shards = make(ranking.States, shards)
	for i := range f.shards {
		f.shards[i].Epoch = fmt.Sprint("shard", i)
	}
	f.state = f.shards.State()
}

// entries are all entries of the period.
func (p *fakePeriod) entries() []ranking.Entry {
	list := []ranking.Entry{}
	for i, member := range p.members() {
		rank, key := int64(i)+1, sortkey.Key(-p.scores[member])
		switch {
		case i == 0 || !p.ties.Tied():
		case list[i-1].Key == key:
			rank = list[i-1].Rank
		case p.ties == definition.Dense:
			rank = list[i-1].Rank + 1
		}
		list = append(list, ranking.Entry{
			Rank: rank, Member: member, Score: key.Score(definition.Desc), Key: key, Data: p.data[member],
		})
	}
	return list
}

// top is the first n entries as on the wire.
func (p *fakePeriod) top(n int) []hubtest.Entry {
	top := []hubtest.Entry{}
	for _, e := range p.entries() {
		if len(top) < n {
			top = append(top, hubtest.Entry{Rank: e.Rank, Member: e.Member, Score: e.Score, Data: hubtest.Raw(e.Data)})
		}
	}
	return top
}

// edit changes the board without a message.
func (f *fakeBoard) edit(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// set changes a member's score and returns the message of it.
func (f *fakeBoard) set(member string, score int64) *feed.Changes {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rollOver()
	return f.change(member, score, f.data[member])
}

// overflow makes two changes, the second so much later than the first that a view does not buffer both.
func (f *fakeBoard) overflow() []*feed.Changes {
	first, second := f.set("a", 1), f.set("a", 2)
	second.Received = first.Received + view.MaxBuffering + 1
	return []*feed.Changes{first, second}
}

// setData changes a member's data and returns the message of it.
func (f *fakeBoard) setData(member, data string) *feed.Changes {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rollOver()
	return f.change(member, f.scores[member], data)
}

// randomChange changes a member's score, to one below a bound, or its data.
func (f *fakeBoard) randomChange(member string, below int64) *feed.Changes {
	if rand.IntN(4) == 0 {
		return f.setData(member, []string{"", "1", `{"a":[]}`}[rand.IntN(3)])
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
	at := slices.Index(p.members(), member)
	c.Rank, c.Position = p.entries()[at].Rank, int64(at)+1
	if p.ties == definition.Dense {
		c.Born = !slices.Contains(before, score)
		c.Gone = c.Old != nil && !slices.Contains(slices.Collect(maps.Values(p.scores)), c.Old.Score(definition.Desc))
	}
	changes := &feed.Changes{Board: "b", Period: p.name, Epoch: p.state.Epoch, Seq: p.state.Seq, At: time.Now(), List: []feed.Change{c},
		Received: time.Duration(time.Now().UnixNano())}
	if p.shards != nil {
		changes.Shard = ranking.ShardOf(member, len(p.shards))
		of := &p.shards[changes.Shard]
		of.Seq++
		p.state = p.shards.State()
		changes.Board, changes.Epoch, changes.Seq = ranking.ShardName("b", changes.Shard), of.Epoch, of.Seq
	}
	return changes
}

// freeze freezes the period; nil: ends its freeze. It returns the message of that.
func (p *fakePeriod) freeze(frozen *ranking.Frozen) *feed.Changes {
	p.frozen = frozen
	p.state.Seq++
	return &feed.Changes{Board: "b", Period: p.name, Epoch: p.state.Epoch, Seq: p.state.Seq, At: time.Now(), Freeze: true,
		Received: time.Duration(time.Now().UnixNano())}
}

// replace replaces the whole board and returns the message.
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
	f.rollOver()
	return f.fakePeriod.top(n)
}

// topOf is the first n entries of the period that a name means.
func (f *fakeBoard) topOf(name string, n int) []hubtest.Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, _, err := f.find(name)
	if err != nil {
		panic(err)
	}
	return p.top(n)
}

// setColumns changes the columns of the scores.
func (f *fakeBoard) setColumns(columns definition.Columns) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.columns = columns
}

// setKind changes the kind of the members. names are their profiles; nil: the kind has
// none.
func (f *fakeBoard) setKind(kind string, names map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.profilesMu.Lock()
	f.kind, f.profiles = kind, nil
	clear(f.cache)
	f.profilesMu.Unlock()
	for m, name := range names {
		f.setProfile(m, name)
	}
}

func (f *fakeBoard) Page(_ context.Context, board string, _ int64, limit int) (ranking.Page, error) {
	f.beginRead(board)
	p, err := f.readPage(board, limit)
	f.onPage.call()
	return p, err
}

// Read is Page, and records the size of the page.
func (f *fakeBoard) Read(ctx context.Context, board string, q ranking.Query) (ranking.Page, error) {
	f.mu.Lock()
	f.largeReads = append(f.largeReads, q.Limit)
	err := f.largeErr
	f.mu.Unlock()
	f.beforeLarge.call()
	if err != nil {
		return ranking.Page{}, err
	}
	return f.Page(ctx, board, 1, q.Limit)
}

func (f *fakeBoard) beginRead(board string) {
	f.edit(func() { f.reading = board })
	f.beforeRead.call()
}

func (f *fakeBoard) readPage(board string, limit int) (ranking.Page, error) {
	orderOperation()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages = append(f.pages, board)
	if err := cmp.Or(f.readErr, f.pageErr); err != nil {
		return ranking.Page{}, err
	}
	is, p, err := f.find(board)
	if err != nil {
		return ranking.Page{}, err
	}
	p.Kind, p.Columns = f.kind, f.columns
	p.State, p.Shards, p.Ties, p.Total, p.Entries = is.state, slices.Clone(is.shards), is.ties, int64(len(is.scores)), is.entries()
	p.Entries = p.Entries[:min(limit, len(p.Entries))]
	return p, nil
}

func (f *fakeBoard) Places(_ context.Context, board string, lookups []ranking.Lookup) (ranking.Places, error) {
	f.beginRead(board)
	p, err := f.readPlaces(board, lookups)
	f.onPlaces.call()
	return p, err
}

func (f *fakeBoard) readPlaces(board string, lookups []ranking.Lookup) (ranking.Places, error) {
	orderOperation()
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
	if err := cmp.Or(f.readErr, f.lookupErr); err != nil {
		return ranking.Places{}, err
	}
	is, _, err := f.find(board)
	if err != nil {
		return ranking.Places{}, err
	}
	all := is.entries()
	h := ranking.Head{State: is.state, Shards: slices.Clone(is.shards), Period: is.name, Total: int64(len(all))}
	p := ranking.Places{Head: h, Ties: is.ties}
	for range is.shards {
		p.ByShard = append(p.ByShard, h)
	}
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
	orderOperation()
	f.mu.Lock()
	defer f.mu.Unlock()
	states := make([]ranking.BoardState, len(boards))
	for i, board := range boards {
		if is, _, err := f.find(board); err == nil {
			states[i].State, states[i].Shards, states[i].Kind = is.state, slices.Clone(is.shards), f.kind
			states[i].Columns = f.columns
		}
		states[i].Err = f.readErr
	}
	f.mu.Unlock()
	f.onStates.call()
	f.mu.Lock()
	return states
}

func (f *fakeBoard) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Add(f.ahead)
}

// setClock sets Redis's clock forward.
func (f *fakeBoard) setClock(by time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ahead += by
	f.began = f.began.Add(-by)
}

// saveState returns a function that restores the state, as a failover to a late replica
// does.
func (f *fakeBoard) saveState() (again func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	state, shards, scores := f.state, slices.Clone(f.shards), maps.Clone(f.scores)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.state, f.shards, f.scores = state, slices.Clone(shards), maps.Clone(scores)
	}
}

func (f *fakeBoard) setReadErr(err error) { f.edit(func() { f.readErr = err }) }

func (f *fakeBoard) Watch(instance string) { f.count(f.watched, instance, 1) }

func (f *fakeBoard) Unwatch(instance string) { f.count(f.watched, instance, -1) }

func (f *fakeBoard) Follow(name string) { f.count(f.followed, name, 1) }

func (f *fakeBoard) Unfollow(name string) { f.count(f.followed, name, -1) }

// count counts the calls that ask for a channel, as a Feed does.
func (f *fakeBoard) count(of map[string]int, name string, by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if of[name] += by; of[name] < 0 {
		panic(fmt.Sprintf("%q: given up more often than asked for", name))
	} else if of[name] == 0 {
		delete(of, name)
	}
}

var theBoard = ranking.Board{Name: "b", Instance: "b", Definition: definition.Board{Name: "b"}}

// operations orders the fake's operations for the race detector: simulated time alone
// orders nothing.
var operations atomic.Int64

// manyBoards is a Source of any number of empty boards, and a Feed. It records the reads.
type manyBoards struct {
	*fakeBoard
	hangs string // a board of which no page comes

	mu      sync.Mutex
	order   []string           // of the boards whose large pages were read
	times   map[time.Time]bool // of the calls of States
	largest int                // most boards in such a call
	checks  map[string]int     // by board: how often a call was about it
}

func newManyBoards() *manyBoards {
	return &manyBoards{fakeBoard: newFakeBoard(), times: make(map[time.Time]bool), checks: make(map[string]int)}
}

func (m *manyBoards) Page(ctx context.Context, board string, _ int64, _ int) (ranking.Page, error) {
	if board == m.hangs {
		<-ctx.Done()
		return ranking.Page{}, errors.New("too slow")
	}
	return ranking.Page{Head: ranking.Head{Period: "p"}, Order: definition.Desc}, nil
}

func (m *manyBoards) Read(ctx context.Context, board string, _ ranking.Query) (ranking.Page, error) {
	m.mu.Lock()
	m.order = append(m.order, board)
	m.mu.Unlock()
	time.Sleep(time.Millisecond)
	return m.Page(ctx, board, 1, 1)
}

func (m *manyBoards) States(_ context.Context, boards []string) []ranking.BoardState {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.times[time.Now()] = true
	m.largest = max(m.largest, len(boards))
	for _, name := range boards {
		m.checks[name]++
	}
	return make([]ranking.BoardState, len(boards))
}
