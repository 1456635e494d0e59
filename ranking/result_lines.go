package ranking

import (
	"context"
	"slices"

	"rankcast/ranking/definition"
	"rankcast/ranking/fair"
)

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
	n, err := definition.ParseName(b.instance)
	if err != nil {
		return false
	}
	r, err := d.compiled(n)
	if err != nil {
		return false
	}
	if r.IsWindowed() {
		return s.isOver(ctx, []string{s.keys.Board(b.instance, "").Window[0]}, smallRows)
	}
	if r.Union == nil {
		return false // it was redefined
	}
	all, err := unionSources(r, d, s.keys, n, s.catalog.clock.now())
	if err != nil {
		return false
	}
	var from []string
	for _, source := range all {
		from = append(from, source.keys.Members)
		if source.rule.IsWindowed() {
			from = append(from, source.keys.Window[0])
		}
	}
	return s.isOver(ctx, from, smallRows)
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
