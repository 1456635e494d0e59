package ranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/fair"
	"rankcast/ranking/lru"
)

const (
	// buildsAtOnce bounds the builds under way on a node, and so their memory: about 120 bytes for
	// each member. Each further one makes an update wait for one more call to Redis.
	buildsAtOnce = 3
	// buildWantedFor is how long a build that has not begun outlasts the last caller that wanted it. It
	// covers the second between two calls of Store.States, and the pause of a client that tries again.
	buildWantedFor = 3 * time.Second
	// unwantedKept bounds the builds in line among which a node keeps unwanted ones. With more builds,
	// it drops the unwanted ones before their turns come.
	unwantedKept = 1000
)

// builds are the results that a node knows, and the builds and sweeps under way. No more than
// buildsAtOnce builds are under way at a time. The others wait in line, without a goroutine.
type builds struct {
	end     context.Context // ends when the node stops
	stop    context.CancelFunc
	running sync.WaitGroup
	do      func(context.Context, *build) error // makes one build
	isLarge func(context.Context, *build) bool  // whether a build is large, by one quick look
	built   *lru.Cache[string, int64]           // by instance: when the build of its result began, µs since 1970
	last    *lru.Cache[string, lastBuild]       // by instance: how the last build of this node ended

	mu      sync.Mutex
	under   map[string]*build // builds in line and under way, by instance
	lines   buildLines
	workers int                  // goroutines that take builds from the lines
	swept   map[string]*sweepRun // sweeps under way, by instance
}

// lastBuild is the end of a build.
type lastBuild struct {
	at     time.Time
	result bool          // false without an error: the sources have no data
	behind time.Duration // see build.behind
	err    error
}

// build is one attempt to get a result newer than the one that the caller has seen.
type build struct {
	line, instance string
	timely         bool // a caller asked for it before the present result was too old

	// The mu of builds guards these. A build that has begun keeps its seen.
	kind    buildKind
	seen    int64 // when the present result was built, µs since 1970; 0: there is none
	begun   bool
	waiting int       // callers that wait for it
	asked   time.Time // when a caller last asked for it, or left

	done    chan struct{} // closed at the end; the fields below are valid after that
	came    buildOutcome
	since   int64 // with builtElsewhere: when the other node began, µs since 1970
	present int64 // with builtElsewhere: when the present result was built, µs since 1970
	took    time.Duration
	err     error
}

// buildOutcome is the result of one build.
type buildOutcome int

const (
	builtNew       buildOutcome = iota // there is a newer result, or the present one was confirmed
	builtNothing                       // the sources have no data, and there is no result
	builtElsewhere                     // another node builds the result
)

// behind is the age that the present result had when another node began to replace it: decades, if there was none.
// It is 0 for a build of this node. Call it after the end of the build.
func (b *build) behind() time.Duration { return time.Duration(b.since-b.present) * time.Microsecond }

// isWanted reports whether a caller waits for a build, or asked for it lately. The caller holds
// the mu of builds.
func (b *build) isWanted() bool { return b.waiting > 0 || time.Since(b.asked) < buildWantedFor }

// start starts the build of a result newer than seen, or joins the one of this node. line is the
// name of the board's definition. timely reports that the present result is not too old yet.
func (bs *builds) start(line, instance string, seen int64, timely bool) *build {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if b := bs.under[instance]; b != nil {
		b.asked = time.Now()
		if !b.begun {
			b.seen = max(b.seen, seen) // another node has replaced the result in the meantime
		}
		return b
	}
	if bs.under == nil {
		bs.under = make(map[string]*build)
	}
	b := &build{line: line, instance: instance, timely: timely, seen: seen, asked: time.Now(), done: make(chan struct{})}
	if seen == 0 {
		b.kind = firstBuild
	}
	bs.under[instance] = b
	bs.lines.push(b)
	if bs.lines.length >= max(unwantedKept, bs.lines.dropAt) {
		bs.lines.filter(bs.keep)
	}
	if bs.workers < buildsAtOnce {
		bs.workers++
		bs.running.Go(bs.work)
	}
	return b
}

// wait waits for the end of a build, and reports whether it has ended before ctx.
func (bs *builds) wait(ctx context.Context, b *build) bool {
	bs.mu.Lock()
	b.waiting++
	bs.mu.Unlock()
	defer func() {
		bs.mu.Lock()
		defer bs.mu.Unlock()
		b.waiting--
		b.asked = time.Now()
	}()
	select {
	case <-b.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// waitInTurn is wait for a caller that is a build itself. It makes a build that is in line on its
// own. Otherwise all builds under way could wait for builds that never begin.
func (bs *builds) waitInTurn(ctx context.Context, b *build) bool {
	bs.mu.Lock()
	inLine := !b.begun
	b.begun = true
	bs.mu.Unlock()
	if inLine {
		bs.run(b)
	}
	return bs.wait(ctx, b)
}

// work makes the builds in line, until there are none, or none may begin.
func (bs *builds) work() {
	for {
		b, kind := bs.next()
		if b == nil {
			return
		}
		if bs.begin(b, kind) {
			bs.run(b)
		}
		bs.mu.Lock()
		bs.lines.underWay[kind]--
		bs.mu.Unlock()
	}
}

// next takes the next build from the lines, with its kind; nil: no build may begin, and the worker ends.
func (bs *builds) next() (*build, buildKind) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	for b := bs.lines.pop(); b != nil; b = bs.lines.pop() {
		if bs.keep(b) {
			bs.lines.underWay[b.kind]++
			return b, b.kind
		}
	}
	bs.workers--
	return nil, 0
}

// begin begins a build taken from the lines, and reports whether its worker makes it. A build that turns
// out to be large goes back, into the lines of large builds.
func (bs *builds) begin(b *build, kind buildKind) bool {
	large := kind&largeBuild == 0 && bs.isLarge(bs.end, b)
	bs.mu.Lock()
	defer bs.mu.Unlock()
	switch {
	case b.begun: // within another build in the meantime, see waitInTurn
		return false
	case large:
		b.kind |= largeBuild
		bs.lines.push(b)
		return false
	}
	b.begun = true
	return true
}

// keep reports whether a build from the lines has yet to be made. It drops one that nobody wants.
// The caller holds mu.
func (bs *builds) keep(b *build) bool {
	if b.begun || b.isWanted() {
		return !b.begun
	}
	b.begun, b.err = true, definition.ErrNotBuilt
	delete(bs.under, b.instance)
	close(b.done)
	return false
}

// run makes a build that has begun.
func (bs *builds) run(b *build) {
	defer close(b.done)
	began := time.Now()
	err := bs.do(bs.end, b)
	b.took = time.Since(began)
	if err != nil {
		b.err = fmt.Errorf("build board %q: %w", b.instance, err)
	}
	bs.mu.Lock()
	defer bs.mu.Unlock()
	delete(bs.under, b.instance)
	if errors.Is(b.err, errBuildLost) || errors.Is(b.err, errStaleDefinitions) {
		bs.last.Drop(b.instance) // the next build knows more
		return
	}
	bs.last.Put(b.instance, lastBuild{at: time.Now(), result: b.came != builtNothing, behind: b.behind(), err: b.err}, 1)
}

// lastOf is how the last build of a board ended, for a caller who finds the present result too old, or none: its
// error, or nil if there is what it left. That holds for the time of refresh, and for as long as it takes the caller
// to come again. Otherwise lastOf is ErrNotBuilt.
func (bs *builds) lastOf(instance string, hasResult bool, refresh time.Duration) error {
	last, ok := bs.last.Get(instance)
	switch {
	case !ok, time.Since(last.at) >= max(refresh, buildWantedFor):
		return definition.ErrNotBuilt
	case last.err == nil && (last.result != hasResult || last.behind > refresh+buildLease):
		return definition.ErrNotBuilt // it was deleted or built in the meantime, or nobody had read it for long
	}
	return last.err
}

// close ends the builds and sweeps under way, and waits for them.
func (bs *builds) close() {
	bs.stop()
	bs.running.Wait()
}

const (
	// firstAtOnce bounds the builds of boards without a result. So such builds of large boards never
	// take all turns: a result that clients read or watch is replaced meanwhile.
	firstAtOnce = buildsAtOnce - 1
	// largeAtOnce bounds the large builds, and largeFirstAtOnce those of boards without a result. So a
	// small build waits for small builds only, whether its board has a result or not.
	largeAtOnce      = buildsAtOnce - 1
	largeFirstAtOnce = largeAtOnce - 1
	// smallRows is the greatest number of rows, members and events, that a small build reads. On a busy
	// machine such a build takes a third of a second.
	smallRows = 10_000
)

// buildKind is a sum of the bits below. Builds of each kind have lines of their own.
type buildKind int

const (
	firstBuild buildKind = 1 << iota // its board has no result
	largeBuild                       // it reads more than smallRows rows; a build not looked at yet counts as small
	buildKinds
)

// mostUnderWay bounds the builds under way of all kinds with the given bits.
var mostUnderWay = map[buildKind]int{firstBuild: firstAtOnce, largeBuild: largeAtOnce, firstBuild | largeBuild: largeFirstAtOnce}

// buildLines are the builds that have not begun. Small and large builds take turns. Within each size first
// builds and others do so, and within each kind the definitions do.
type buildLines struct {
	queues         [buildKinds]fair.Queue[string, *build] // by line
	latest         buildKind                              // the size of the latest build popped: largeBuild or 0
	latestFirst    [buildKinds]buildKind                  // by size: whether the latest one was a first build
	underWay       [buildKinds]int                        // number of builds that workers make or look at
	length, dropAt int                                    // number of builds, and the number at which to drop the unwanted ones
}

func (l *buildLines) push(b *build) {
	l.length++
	l.queues[b.kind].Push(b.line, b)
}

// pop removes the next build that may begin; nil: there is none.
func (l *buildLines) pop() *build {
	for _, size := range [...]buildKind{l.latest ^ largeBuild, l.latest} {
		for _, first := range [...]buildKind{l.latestFirst[size] ^ firstBuild, l.latestFirst[size]} {
			if !l.mayBegin(size | first) {
				continue
			}
			if b, ok := l.queues[size|first].Pop(); ok {
				l.latest, l.latestFirst[size] = size, first
				l.length--
				return b
			}
		}
	}
	return nil
}

// mayBegin reports whether one more build of a kind may be under way.
func (l *buildLines) mayBegin(kind buildKind) bool {
	for bits, most := range mostUnderWay {
		if kind&bits == bits && l.countUnderWay(bits) >= most {
			return false
		}
	}
	return true
}

// countUnderWay counts the builds under way of all kinds with the given bits.
func (l *buildLines) countUnderWay(bits buildKind) int {
	n := 0
	for kind, some := range l.underWay {
		if buildKind(kind)&bits == bits {
			n += some
		}
	}
	return n
}

// filter keeps the builds for which keep returns true, in their order.
func (l *buildLines) filter(keep func(*build) bool) {
	l.length = 0
	for kind := range l.queues {
		var kept []*build
		for b, ok := l.queues[kind].Pop(); ok; b, ok = l.queues[kind].Pop() {
			if keep(b) {
				kept = append(kept, b)
			}
		}
		for _, b := range kept {
			l.push(b)
		}
	}
	l.dropAt = 2 * l.length
}

// isLargeBuild reports whether a build reads more than smallRows rows: the members of the sources of a
// union, with the events of those with windows, or the events of a window. Where it cannot
// find out, the build itself fails soon.
func (s *Store) isLargeBuild(ctx context.Context, b *build) bool {
	d, err := s.catalog.get(ctx)
	if err != nil {
		return false
	}
	r, err := d.compiledNamed(b.instance)
	if err != nil {
		return false
	}
	if r.IsWindowed() {
		return s.isOver(ctx, []string{s.keys.Board(b.instance, "").Window[0]}, smallRows)
	}
	if r.Union == nil {
		return false // it was redefined
	}
	all, err := s.unionSources(r, d, b.instance, s.catalog.clock.now())
	return err == nil && s.isOver(ctx, dataKeys(all), smallRows)
}

// isOver reports whether sorted sets have more than a number of rows together.
func (s *Store) isOver(ctx context.Context, keys []string, rows int64) bool {
	for some := range slices.Chunk(keys, scanTogether) {
		sizes, err := s.sizes(ctx, some)
		if err != nil {
			return false
		}
		for _, size := range sizes {
			rows -= size
		}
		if rows < 0 {
			return true
		}
	}
	return false
}
