package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/redisconn"
)

const (
	// MaxMemberBoards is the most boards that one page of MemberBoards returns.
	MaxMemberBoards = 100
	// MaxBoardLookups is the number of boards in which one page of MemberBoards looks for the member.
	MaxBoardLookups = 1000
	// placesAtOnce is the number of places that one call of MemberBoards reads at the same time.
	placesAtOnce = 8
	// clockLag is how far the node's estimate of Redis's clock may be behind it: the time of a slow call. Within
	// that time of a rollover, a look-up asks in both periods.
	clockLag = 5 * time.Second
)

// walkSizes bound the work for one page of MemberBoards.
type walkSizes struct {
	lookups   int // boards in which it looks for the member
	pipeline  int // look-ups in one pipeline
	names     int // names of instances in one read
	nameReads int // such reads, if each is full; a read of few names counts as a 20th of one
}

// pageSizes are the sizes of a page. A pipeline holds Redis for 0.1 to 0.2 ms, and a read of names for less than 0.5 ms
// (BenchmarkMemberBoards).
var pageSizes = walkSizes{lookups: MaxBoardLookups, pipeline: 128, names: 1000, nameReads: 50}

// MemberBoards is one page of the boards on which a member stands.
type MemberBoards struct {
	// Boards is in the order of the definitions' names, and the instances of a family by name.
	Boards []MemberBoard
	// Next is for MemberBoardsQuery.After of the next page; "" on the last page. A page may have few boards, or none, and
	// still a next page.
	Next string
	// Unavailable is the number of boards that the node could not read now, because their master of a cluster is away.
	// A family whose instances it could not list counts as one, if Only selects all of them or names the family.
	Unavailable int
	// NotBuilt is the number of unions, and of windows with a refresh interval, whose result is not built or is too old
	// to answer from.
	NotBuilt int
}

// Names returns the names of the boards.
func (m MemberBoards) Names() []string {
	names := make([]string, len(m.Boards))
	for i, b := range m.Boards {
		names[i] = b.Board
	}
	return names
}

// MemberBoard is a member's place on a board.
type MemberBoard struct {
	Board string // "fans:s17"
	Neighbourhood
}

// MemberBoardsQuery says which page of a member's boards to read.
type MemberBoardsQuery struct {
	// After is MemberBoards.Next of the page before. It has the form "slot name". Default "", the first page.
	After string
	// Limit is the most boards of the page, 1 to MaxMemberBoards.
	Limit int
	// Only limits the answer to some boards. Default nil: all boards.
	Only *BoardFilter
}

// BoardFilter selects boards by name.
type BoardFilter struct {
	// Has reports whether a board is selected. MemberBoards calls it for each name that it reads.
	Has func(board string) bool
	// Spans have the names of all selected boards, and maybe others. MemberBoards reads no name outside of them. They
	// are a result of definition.JoinSpans.
	Spans []definition.NameSpan
}

// MemberBoards reads a page of the boards of a kind on which a member stands now, with its rank and score, in their
// current periods. A board that is deleted meanwhile, or that the member leaves, may be on the page or not. Boards
// that come and go do not shift the next page. A member that is unknown, hidden or erased stands on no board.
//
// One page looks for the member in up to MaxBoardLookups boards, and reads their names. Callers take turns for that, as
// for large pages: see WithCaller. Next names no board and no family that Only leaves out. It may hold the end of one
// of the spans of Only.
//
// Of a union, and of a window with a refresh interval, MemberBoards reads the present result. It starts no build, and
// does not extend the retention of a result.
//
// It returns a FieldError for an invalid kind, member or limit. It returns one of kind ErrTooLarge where Only leaves out
// 50,000 names in a row within its spans, because a cursor must not name a board that Only leaves out. Here a family
// counts as at least 50 names. It returns ErrUnavailable when Redis answers nothing, or the caller's turn does not come
// within Config.CallTimeout.
func (s *Store) MemberBoards(ctx context.Context, kind, member string, q MemberBoardsQuery) (MemberBoards, error) {
	if err := cmp.Or(definition.CheckKind(kind), definition.CheckMember(member)); err != nil {
		return MemberBoards{}, err
	}
	if q.Limit < 1 || q.Limit > MaxMemberBoards {
		return MemberBoards{}, definition.Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", q.Limit, MaxMemberBoards))
	}
	return s.memberBoards(ctx, kind, member, q, pageSizes)
}

func (s *Store) memberBoards(ctx context.Context, kind, member string, q MemberBoardsQuery, sizes walkSizes) (MemberBoards, error) {
	w := &boardWalk{s: s, kind: kind, member: member, query: q, sizes: sizes, passed: q.After, began: time.Now()}
	d, err := s.definitionsOfKind(ctx, kind)
	if err == nil {
		err = w.run(ctx, d)
	}
	if err == nil {
		err = w.readPlaces(ctx)
	}
	if err == nil && !w.answered {
		err = w.failure
	}
	if err != nil {
		return MemberBoards{}, fmt.Errorf("read the boards of a member of kind %q: %w", kind, err)
	}
	return w.page, nil
}

// boardWalk goes through boards of a kind for one page of MemberBoards. One goroutine uses it.
type boardWalk struct {
	s            *Store
	kind, member string
	query        MemberBoardsQuery
	sizes        walkSizes
	page         MemberBoards
	began        time.Time

	waiting  []*boardLookup // to be sent in one pipeline
	found    []string       // boards on which the member stands
	lookups  int
	listed   int    // names that were read; few names count as more, see walkSizes
	passed   string // position behind the boards that were found, looked up or are waiting; mayName allows it
	ended    bool   // the page is complete, and Next is set
	answered bool   // Redis has answered something
	failure  error  // the first one
}

// boardLookup is the question whether the member stands on one board.
type boardLookup struct {
	name, position string
	rule           *definition.Compiled
	scores         []*redis.FloatCmd // in each period that may be the current one
	built          *redis.SliceCmd   // of a board with a result: when it was built
}

// run finds the boards of the page.
func (w *boardWalk) run(ctx context.Context, d *definitions) error {
	slot, after, _ := strings.Cut(w.query.After, " ")
	for next, r := range d.ofKind(w.kind, slot) {
		if next > slot {
			after = ""
		}
		var err error
		if board, isPlain := strings.CutSuffix(next, "/0"); !isPlain {
			err = w.addInstances(ctx, r, next, after)
		} else if after == "" && w.has(board) {
			err = w.add(ctx, r, next, board)
		}
		if err != nil || w.ended {
			return err
		}
	}
	return w.lookUp(ctx)
}

// isSlow reports whether the page has lasted so long that it is better short than late: a master of a cluster may hang.
func (w *boardWalk) isSlow() bool { return time.Since(w.began) > w.s.cfg.CallTimeout/2 }

// add adds a board to the next pipeline, and sends a full one.
func (w *boardWalk) add(ctx context.Context, r *definition.Compiled, slot, board string) error {
	w.passed = familyCursor(slot, board)
	w.waiting = append(w.waiting, &boardLookup{name: board, position: w.passed, rule: r})
	if len(w.waiting) == w.sizes.pipeline || w.lookups+len(w.waiting) == w.sizes.lookups {
		return w.lookUp(ctx)
	}
	return nil
}

// lookUp sends the waiting look-ups, and ends the page if it is complete.
func (w *boardWalk) lookUp(ctx context.Context) error {
	if len(w.waiting) == 0 {
		return nil
	}
	if err := w.takeTurn(ctx, w.send); err != nil {
		return err
	}
	for _, b := range w.waiting {
		switch stands, isBuilt, err := w.s.standsOn(b); {
		case err != nil:
			w.fail(fmt.Errorf("read board %q: %w", b.name, err))
			continue
		case !isBuilt:
			w.page.NotBuilt++
		case stands:
			w.found = append(w.found, b.name)
		}
		w.answered = true
		if len(w.found) == w.query.Limit {
			w.end(b.position)
			return nil
		}
	}
	w.lookups += len(w.waiting)
	w.waiting = w.waiting[:0]
	if w.lookups == w.sizes.lookups || w.isSlow() {
		w.end(w.passed)
	}
	return nil
}

func (w *boardWalk) end(next string) { w.ended, w.page.Next = true, next }

// fail counts a board, or a family, that the node could not read.
func (w *boardWalk) fail(err error) {
	w.page.Unavailable++
	w.failure = cmp.Or(w.failure, err)
}

// takeTurn calls read, which notes its errors itself, when it is the caller's turn. Its error says that the caller's
// turn did not come in time, or that ctx has ended.
func (w *boardWalk) takeTurn(ctx context.Context, read func(context.Context)) error {
	limited, cancel := context.WithTimeout(ctx, w.s.cfg.CallTimeout)
	defer cancel()
	err := w.s.inTurn(limited, func() error {
		read(limited)
		return nil
	})
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", definition.ErrUnavailable, ctx.Err())
	}
	return err
}

// send sends the waiting look-ups in one pipeline.
func (w *boardWalk) send(ctx context.Context) {
	pipe, now := w.s.rdb.Pipeline(), w.s.catalog.clock.now()
	periods := make(map[*definition.Compiled][]string)
	for _, b := range w.waiting {
		if periods[b.rule] == nil {
			current, next := b.rule.CurrentPeriod(now).Name, b.rule.CurrentPeriod(now+clockLag.Microseconds()).Name
			periods[b.rule] = slices.Compact([]string{current, next})
		}
		for _, period := range periods[b.rule] {
			b.scores = append(b.scores, pipe.ZScore(ctx, w.s.keys.Board(NameOf(b.name, w.member, b.rule.Shards), period).Members, w.member))
		}
		if b.rule.IsBuilt() {
			b.built = pipe.HMGet(ctx, w.s.keys.Board(b.name, "").Meta, builtField)
		}
	}
	redisconn.ExecEach(ctx, pipe) // each command has its own error
}

// standsOn takes the answer to a look-up. isBuilt is false for a board whose result is not built, or too old.
func (s *Store) standsOn(b *boardLookup) (stands, isBuilt bool, err error) {
	for _, score := range b.scores {
		switch err := score.Err(); {
		case err == nil:
			stands = true
		case !errors.Is(err, redis.Nil):
			return false, true, fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
		}
	}
	if b.built == nil {
		return stands, true, nil
	}
	r := replyOf(b.built)
	return stands, s.isFresh(b.rule, r.OptionalNumber()), r.Err
}

// readPlaces reads the places of the member on the boards that were found. It leaves out those on which the member
// stands no more.
func (w *boardWalk) readPlaces(ctx context.Context) error {
	places, failures := make([]*Places, len(w.found)), make([]error, len(w.found))
	var reads errgroup.Group
	reads.SetLimit(placesAtOnce)
	for i, board := range w.found {
		reads.Go(func() error {
			places[i], failures[i] = w.s.presentPlaces(ctx, board, Lookup{Member: w.member, Around: 1})
			return nil
		})
	}
	reads.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", definition.ErrUnavailable, ctx.Err())
	}
	for i, board := range w.found {
		switch p := places[i]; {
		case errors.Is(failures[i], definition.ErrUnknownBoard): // deleted meanwhile
		case failures[i] != nil:
			w.fail(failures[i])
		case p == nil:
			w.page.NotBuilt++
		case p.List[0].Entry.Rank > 0 && p.Kind == w.kind:
			w.page.Boards = append(w.page.Boards, MemberBoard{board, Neighbourhood{p.Head, p.List[0]}})
		}
	}
	return nil
}

// presentPlaces is Places that starts no build. It returns nil for a board whose result is not built, or too old.
func (s *Store) presentPlaces(ctx context.Context, board string, lookups ...Lookup) (*Places, error) {
	var p Places
	_, isFresh, err := s.readPresent(ctx, board, &p.Head, func(m resolved) (at readTimes, err error) {
		p, at, err = s.readPlaces(ctx, m, lookups)
		return at, err
	})
	if err != nil || !isFresh {
		return nil, err
	}
	return &p, nil
}
