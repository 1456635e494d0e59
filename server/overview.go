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

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"rankcast/ranking"
)

const (
	// overviewMost is how many boards and families an overview tells of; more are no page
	// that anybody looks through.
	overviewMost = 500
	// overviewAtOnce bounds what an overview asks of Redis at a time: who sends scores
	// should not notice it.
	overviewAtOnce = 8
	// overviewAge is for how long one is good for all who ask.
	overviewAge = time.Second
	// overviewTimeout bounds one read, so that what was read by then comes before a page gives
	// up, after 10 s. Nobody who asks for it ends it, as others wait too.
	overviewTimeout = 9 * time.Second
	// overviewSilence is after how long a read gives up where nothing comes from Redis: nobody
	// waits for 3 s to hear that it is away. It is more than one call may take (2 s), so that a
	// master of a cluster that hangs takes none but its own boards from an overview.
	overviewSilence = 2500 * time.Millisecond
)

// overviews are read once for all who ask at about the same time.
type overviews struct {
	reads singleflight.Group

	mu   sync.Mutex
	last *overview
	at   time.Time // when it began to be read
}

// overview is how all boards stand.
type overview struct {
	boards, families jsontext.Value
	leftOff          int
}

type glanceJSON struct {
	Board  string     `json:"board"`
	Period string     `json:"period"`
	Ends   *string    `json:"ends"`
	Total  int64      `json:"total"`
	Epoch  string     `json:"epoch"`
	Seq    int64      `json:"seq"`
	Leader *entryJSON `json:"leader"`
	Built  bool       `json:"built"`
	// Unavailable marks what could not be read now; nothing else of it is known then.
	Unavailable bool `json:"unavailable,omitzero"`
}

type familyJSON struct {
	Board     string `json:"board"`
	Instances int64  `json:"instances"`

	Unavailable bool `json:"unavailable,omitzero"`
}

// getOverview tells how all boards stand, and how many instances families have.
func (s *Server) getOverview(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	o := s.overviews.fresh()
	if o == nil {
		v, err, _ := s.overviews.reads.Do("", func() (any, error) {
			if o := s.overviews.fresh(); o != nil { // another has read it since
				return o, nil
			}
			began := time.Now()
			o, err := s.readOverview(c)
			if err == nil {
				s.overviews.keep(o, began)
			}
			return o, err
		})
		if err != nil {
			return err
		}
		o = v.(*overview)
	}
	return ok(c, struct {
		Now      *string        `json:"now"` // of this answer, for clocks to be set by
		Boards   jsontext.Value `json:"boards"`
		Families jsontext.Value `json:"families"`
		LeftOff  int            `json:"left_off,omitzero"`
	}{timeJSON(s.store.Now()), o.boards, o.families, o.leftOff})
}

// fresh is what was read less than overviewAge ago; nil where nothing was.
func (o *overviews) fresh() *overview {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.at) >= overviewAge {
		return nil
	}
	return o.last
}

func (o *overviews) keep(read *overview, began time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last, o.at = read, began
}

// readOverview reads it in the name of the request c, which may go while others wait.
func (s *Server) readOverview(c echo.Context) (*overview, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), overviewTimeout)
	defer cancel()
	began := time.Now()
	first, cancelFirst := context.WithDeadline(ctx, began.Add(overviewSilence))
	defer cancelFirst()
	defined, err := s.store.Boards(first)
	if err != nil {
		return nil, err
	}
	o := &overview{leftOff: max(0, len(defined)-overviewMost)}
	defined = defined[:len(defined)-o.leftOff]
	glances, sizes := make([]*ranking.Summary, len(defined)), make([]*int64, len(defined)) // nil: it is not there any more
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
		if errors.Is(err, ranking.ErrUnknownBoard) { // it has been taken away meanwhile
			failures[i] = nil
		}
	}
	// One board that cannot be read, as its node of a cluster is away, hides none of the others.
	if failed := slices.DeleteFunc(slices.Clone(failures), func(err error) bool { return err == nil }); len(failed) > 0 {
		if len(failed) == len(defined) {
			return nil, fmt.Errorf("read an overview: %w", failed[0])
		}
		s.log.Debug("an overview lacks boards", "boards", len(failed), "error", failed[0])
	}
	boards, families := []glanceJSON{}, []familyJSON{}
	leaders := s.leaders(ctx, c, glances)
	for i, d := range defined {
		switch g := glances[i]; {
		case failures[i] != nil && isFamily(d.Name):
			families = append(families, familyJSON{Board: d.Name, Unavailable: true})
		case failures[i] != nil:
			boards = append(boards, glanceJSON{Board: d.Name, Unavailable: true})
		case sizes[i] != nil:
			families = append(families, familyJSON{Board: d.Name, Instances: *sizes[i]})
		case g != nil:
			boards = append(boards, glanceJSON{
				Board: d.Name, Period: g.Period, Ends: timeJSON(g.Ends), Total: g.Total, Epoch: g.Epoch, Seq: g.Seq, Leader: leaders[i], Built: g.Built,
			})
		}
	}
	if o.boards, err = json.Marshal(boards); err != nil {
		return nil, fmt.Errorf("encode an overview: %w", err)
	}
	if o.families, err = json.Marshal(families); err != nil {
		return nil, fmt.Errorf("encode an overview: %w", err)
	}
	return o, nil
}

// readEach calls read for 0 to n-1, overviewAtOnce at a time, and gives what failed of them.
// However many there are, it goes on while answers come: each call has until nothing has
// come for overviewSilence, counted from the last answer, or from began before the first.
func readEach(ctx context.Context, began time.Time, n int, read func(ctx context.Context, i int) error) []error {
	failures := make([]error, n)
	var heard atomic.Int64 // when the last answer came, ns since began
	var reads errgroup.Group
	reads.SetLimit(overviewAtOnce)
	for i := range n {
		reads.Go(func() error {
			ctx, cancel := context.WithDeadline(ctx, began.Add(time.Duration(heard.Load())+overviewSilence))
			defer cancel()
			if failures[i] = read(ctx, i); failures[i] == nil {
				heard.Store(int64(time.Since(began)))
			}
			return nil
		})
	}
	reads.Wait()
	return failures
}

// leaders are the first entries of boards, in their order; nil for none. The profiles of a
// kind are read at once.
func (s *Server) leaders(ctx context.Context, c echo.Context, glances []*ranking.Summary) []*entryJSON {
	leaders := make([]*entryJSON, len(glances))
	of := make(map[string][]int) // by kind, which boards
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
		entries := s.entriesWithin(ctx, c, kind, list)
		for n, i := range boards {
			leaders[i] = &entries[n]
		}
	}
	return leaders
}

// isFamily reports whether what is defined under a name is a family.
func isFamily(board string) bool { return strings.Contains(board, "{") }
