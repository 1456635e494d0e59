package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/boardinfo"
	"rankcast/server/internal/request"
	"rankcast/server/pages"
)

const (
	// maxOverviewBoards bounds the boards and families of an overview: readers do not look
	// through more.
	maxOverviewBoards = 500
	// overviewConcurrency bounds an overview's concurrent reads, so that updates stay fast.
	overviewConcurrency = 8
	// overviewMaxAge is how long the node answers from one overview.
	overviewMaxAge = time.Second
	// overviewTimeout bounds the read of an overview, so that the answer comes before a page
	// gives up, after 10 s. A caller that disconnects does not end the read: others wait for it.
	overviewTimeout = 9 * time.Second
	// overviewIdleTimeout bounds the time without an answer from Redis. If Redis is away, callers
	// learn it within 3 s. It exceeds the time of one call (2 s), so that an overview misses only
	// the boards of a cluster's master that hangs.
	overviewIdleTimeout = 2500 * time.Millisecond
)

// overviewCache shares one overview among all requests of about the same time.
type overviewCache struct {
	reads singleflight.Group

	mu   sync.Mutex
	last *overview
	at   time.Time // when its read began
}

// overview is the state of all boards.
type overview struct {
	boards, families namedList
	boardCards       []pages.BoardCard
	familyCards      []pages.FamilyCard
	leftOff          []string // names of boards that it does not show
}

type summaryJSON struct {
	Board  string     `json:"board"`
	Period string     `json:"period"`
	Ends   *string    `json:"ends"`
	Total  int64      `json:"total"`
	Epoch  string     `json:"epoch"`
	Seq    int64      `json:"seq"`
	Leader *entryJSON `json:"leader"`
	Built  bool       `json:"built"`
	// Info is nil only with Unavailable.
	Info *boardinfo.Info `json:"info,omitzero"`
	// Unavailable marks a board that the node could not read now; the other fields are then
	// unknown.
	Unavailable bool `json:"unavailable,omitzero"`
}

type familyJSON struct {
	Board     string `json:"board"`
	Instances int64  `json:"instances"`

	Info boardinfo.Info `json:"info"`

	Unavailable bool `json:"unavailable,omitzero"`
}

// getOverview answers the state of the boards that the caller may read, and the number of instances of the
// families.
func (s *Server) getOverview(c echo.Context) error {
	if err := request.NoQuery(c); err != nil {
		return err
	}
	o, err := s.overviews.get(c.Request().Context(), s)
	if err != nil {
		return err
	}
	caller := callerOf(c)
	return ok(c, struct {
		Now      *string        `json:"now"` // by the clock of Redis: pages set their clocks by it
		Boards   jsontext.Value `json:"boards"`
		Families jsontext.Value `json:"families"`
		LeftOff  int            `json:"left_off,omitzero"`
	}{definition.FormatTime(s.store.Now()), o.boards.readableBy(caller), o.families.readableBy(caller), o.leftOffFor(caller)})
}

// leftOffFor counts the boards that o does not show, of those that a caller may read.
func (o *overview) leftOffFor(caller *access.Caller) int {
	n := 0
	for _, name := range o.leftOff {
		if caller.May(access.ScopeRead, access.Board(name)) {
			n++
		}
	}
	return n
}

// get returns an overview that is younger than overviewMaxAge. Callers of one time share the read of s, which
// continues after the end of ctx.
func (o *overviewCache) get(ctx context.Context, s *Server) (*overview, error) {
	if fresh := o.fresh(); fresh != nil {
		return fresh, nil
	}
	read := o.reads.DoChan("", func() (any, error) {
		if fresh := o.fresh(); fresh != nil { // another request has read it since
			return fresh, nil
		}
		began := time.Now()
		read, err := s.readOverview(ctx)
		if err == nil {
			o.store(read, began)
		}
		return read, err
	})
	select {
	case r := <-read:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*overview), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fresh returns the overview if it is younger than overviewMaxAge; else nil.
func (o *overviewCache) fresh() *overview {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.at) >= overviewMaxAge {
		return nil
	}
	return o.last
}

func (o *overviewCache) store(read *overview, began time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last, o.at = read, began
}

// readOverview reads an overview for the request of ctx and for others that wait. It continues if ctx ends.
func (s *Server) readOverview(ctx context.Context) (*overview, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), overviewTimeout)
	defer cancel()
	began := time.Now()
	first, cancelFirst := context.WithDeadline(ctx, began.Add(overviewIdleTimeout))
	defer cancelFirst()
	defined, err := s.store.Boards(first)
	if err != nil {
		return nil, err
	}
	o := new(overview)
	for len(defined) > maxOverviewBoards {
		last := len(defined) - 1
		o.leftOff = append(o.leftOff, defined[last].Name)
		defined = defined[:last]
	}
	glances, sizes := make([]*ranking.Summary, len(defined)), make([]*int64, len(defined)) // nil: deleted meanwhile
	failures := readEach(ctx, began, len(defined), func(ctx context.Context, i int) error {
		if isFamily(defined[i].Name) {
			page, err := s.store.Instances(ctx, defined[i].Name, "", 1)
			if err == nil {
				sizes[i] = &page.Total
			}
			return err
		}
		g, err := s.store.Summary(ctx, defined[i].Name)
		if err == nil {
			glances[i] = &g
		}
		return err
	})
	for i, err := range failures {
		if errors.Is(err, ranking.ErrUnknownBoard) { // deleted meanwhile
			failures[i] = nil
		}
	}
	// A board that cannot be read, because its master of a cluster is away, hides no other board.
	if failed := slices.DeleteFunc(slices.Clone(failures), func(err error) bool { return err == nil }); len(failed) > 0 {
		if len(failed) == len(defined) {
			return nil, fmt.Errorf("read an overview: %w", failed[0])
		}
		s.log.Debug("the overview lacks boards that the node could not read", "boards", len(failed), "error", failed[0])
	}
	leaders := s.leaders(ctx, glances)
	for i, d := range defined {
		var err error
		switch g := glances[i]; {
		case failures[i] != nil && isFamily(d.Name):
			err = o.addFamily(familyJSON{Board: d.Name, Info: boardinfo.OfFamily(d), Unavailable: true}, d)
		case failures[i] != nil:
			err = o.addBoard(summaryJSON{Board: d.Name, Unavailable: true}, ranking.About{Board: ranking.Board{Name: d.Name, Instance: d.Name, Definition: d}, Title: d.Title})
		case sizes[i] != nil:
			err = o.addFamily(familyJSON{Board: d.Name, Instances: *sizes[i], Info: boardinfo.OfFamily(d)}, d)
		case g != nil:
			info := boardinfo.New(g.About)
			err = o.addBoard(summaryJSON{
				Board: d.Name, Period: g.Period, Ends: definition.FormatTime(g.Ends), Total: g.Total, Epoch: g.Epoch, Seq: g.Seq, Leader: leaders[i], Built: g.Built, Info: &info,
			}, g.About)
		}
		if err != nil {
			return nil, err
		}
	}
	o.boards.close()
	o.families.close()
	return o, nil
}

// addBoard adds a board, for callers and for the front page.
func (o *overview) addBoard(b summaryJSON, about ranking.About) error {
	card := pages.BoardCard{About: about, Total: b.Total, Built: b.Built, Unavailable: b.Unavailable}
	if b.Leader != nil {
		leader := pageRow(*b.Leader)
		card.Leader = &leader
	}
	o.boardCards = append(o.boardCards, card)
	return o.boards.add(access.Board(b.Board), b)
}

// addFamily adds a family, for callers and for the front page.
func (o *overview) addFamily(f familyJSON, d definition.Board) error {
	o.familyCards = append(o.familyCards, pages.FamilyCard{Definition: d, Instances: f.Instances, Unavailable: f.Unavailable})
	return o.families.add(access.Board(f.Board), f)
}

// readEach calls read for 0 to n-1, overviewConcurrency at a time, and returns the error of each. It
// continues while answers come: each call may last until overviewIdleTimeout after the last answer,
// or after began if there was none.
func readEach(ctx context.Context, began time.Time, n int, read func(ctx context.Context, i int) error) []error {
	failures := make([]error, n)
	var lastAnswer atomic.Int64 // ns since began
	var reads errgroup.Group
	reads.SetLimit(overviewConcurrency)
	for i := range n {
		reads.Go(func() error {
			ctx, cancel := context.WithDeadline(ctx, began.Add(time.Duration(lastAnswer.Load())+overviewIdleTimeout))
			defer cancel()
			if failures[i] = read(ctx, i); failures[i] == nil {
				lastAnswer.Store(int64(time.Since(began)))
			}
			return nil
		})
	}
	reads.Wait()
	return failures
}

// leaders returns the first entry of each board, nil for none. It reads the profiles of a kind in one
// call.
func (s *Server) leaders(ctx context.Context, glances []*ranking.Summary) []*entryJSON {
	leaders := make([]*entryJSON, len(glances))
	of := make(map[string][]int) // kind to indexes of boards
	for i, g := range glances {
		if g != nil && g.Leader != nil {
			of[g.Kind] = append(of[g.Kind], i)
		}
	}
	for kind, boards := range of {
		list := make([]ranking.Entry, len(boards))
		for n, i := range boards {
			list[n] = *glances[i].Leader
		}
		entries := s.entries(ctx, kind, list)
		for n, i := range boards {
			leaders[i] = &entries[n]
		}
	}
	return leaders
}

// isFamily reports whether a defined name is that of a family.
func isFamily(board string) bool { return strings.Contains(board, "{") }
