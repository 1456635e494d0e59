// Package overview reads the state of many boards at once: of all, of a page of them, and of the instances of a family.
package overview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/boardinfo"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/readable"
	"rankcast/server/internal/recent"
)

const (
	// maxOverviewBoards bounds the boards and families of an overview: readers do not look
	// through more.
	maxOverviewBoards = 500
	// firstInstances is the number of instances that an overview shows of a family.
	firstInstances = 10
	// overviewConcurrency bounds an overview's concurrent reads, so that updates stay fast.
	overviewConcurrency = 8
	// overviewTimeout bounds the read of an overview, so that the answer comes before a page
	// gives up, after 10 s. A caller that disconnects does not end the read: others wait for it.
	overviewTimeout = 9 * time.Second
	// overviewIdleTimeout bounds the time without an answer from Redis. If Redis is away, callers
	// learn it within 3 s. It exceeds the time of one call (2 s), so that an overview misses only
	// the boards of a cluster's master that hangs.
	overviewIdleTimeout = 2500 * time.Millisecond
)

// Reader reads overviews. New makes one. All methods may be called concurrently.
type Reader struct {
	store   *ranking.Store
	entries *entry.Reader
	log     *slog.Logger

	overviews *recent.Cache[*Overview]
	pages     *recent.Cache[*Overview]
	families  *recent.Cache[*Family]
	listings  *recent.Cache[listing]
	pageReads *semaphore.Weighted // of maxPageReads
	rates     changeRates
}

const (
	// maxPages bounds the pages of boards that the node keeps, and maxFamilies those of families.
	maxPages    = 100
	maxFamilies = 100
	// maxPageReads bounds the pages that the node reads at a time, each by overviewConcurrency reads: callers that ask for
	// different pages share no read.
	maxPageReads = 2
)

// New makes a Reader.
func New(store *ranking.Store, entries *entry.Reader, log *slog.Logger) *Reader {
	return &Reader{
		store: store, entries: entries, log: log, pageReads: semaphore.NewWeighted(maxPageReads),
		overviews: recent.New(recent.Age, 1, func(*Overview) int { return 1 }),
		pages:     recent.New(recent.Age, maxPages, func(*Overview) int { return 1 }),
		families:  recent.New(recent.Age, maxFamilies, func(*Family) int { return 1 }),
		listings:  recent.New(listingAge, 1, func(listing) int { return 1 }),
	}
}

// Overview is the state of all boards, or of a page of them.
type Overview struct {
	Boards, Families readable.List // for callers
	BoardCards       []BoardCard   // for pages
	FamilyCards      []FamilyCard
	leftOff          []string // names of boards that it does not show
}

// BoardCard is a board of an Overview or of a Family, as pages show it.
type BoardCard struct {
	Board       string
	About       ranking.About
	Parts       []ranking.Part // of an instance, in a Family
	Total       int64
	Top         []entry.Entry // the first entries, some at most
	Rate        *int64        // changes a minute; nil: not known
	Unavailable bool          // the board could not be read; only Board, Parts, and the title and definition of About are known
}

// FamilyCard is a family of an Overview, as pages show it.
type FamilyCard struct {
	Definition  definition.Board
	First       []Instance
	Unavailable bool
}

// Instance is one of the first instances of a family.
type Instance struct {
	Board string
	Parts []ranking.Part
}

type summaryJSON struct {
	Board     string        `json:"board"`
	Period    string        `json:"period"`
	Ends      *string       `json:"ends"`
	Frozen    *entry.Frozen `json:"frozen,omitzero"`
	Total     int64         `json:"total"`
	Epoch     string        `json:"epoch"`
	Seq       int64         `json:"seq"`
	Rate      *int64        `json:"rate"` // changes a minute; nil: not measured yet, or Built
	Leader    *entry.Entry  `json:"leader"`
	RunnersUp []entry.Entry `json:"runners_up,omitzero"`
	Built     bool          `json:"built"`
	Memory    *int64        `json:"memory,omitzero"` // bytes; nil: not read
	// Info is nil only with Unavailable.
	Info  *boardinfo.Info `json:"info,omitzero"`
	Parts []partJSON      `json:"parts,omitzero"` // of an instance of a family
	// Unavailable marks a board that the node could not read now; the other fields are then
	// unknown, but for Parts.
	Unavailable bool `json:"unavailable,omitzero"`
}

type partJSON struct {
	Kind   string `json:"kind"`
	Member string `json:"member"`
	Name   string `json:"name,omitzero"` // of the member's profile, like Avatar
	Avatar string `json:"avatar,omitzero"`
}

func newParts(parts []ranking.Part) []partJSON {
	list := make([]partJSON, len(parts))
	for i, p := range parts {
		list[i] = partJSON{p.Kind, p.Member, p.Profile.Name, p.Profile.Avatar}
	}
	return list
}

type familyJSON struct {
	Board     string         `json:"board"`
	Instances int64          `json:"instances"`
	First     []instanceJSON `json:"first,omitzero"`
	Info      boardinfo.Info `json:"info"`

	Unavailable bool `json:"unavailable,omitzero"`
}

// instanceJSON is one of the first instances of a family.
type instanceJSON struct {
	Board string     `json:"board"`
	Parts []partJSON `json:"parts"`
}

// LeftOffFor counts the boards that o does not show, of those that a caller may read.
func (o *Overview) LeftOffFor(caller *access.Caller) int {
	n := 0
	for _, name := range o.leftOff {
		if caller.May(access.ScopeRead, access.Board(name)) {
			n++
		}
	}
	return n
}

// All returns the state of all boards, at most recent.Age old.
func (r *Reader) All(ctx context.Context) (*Overview, error) {
	return r.overviews.Get(ctx, "", func() (*Overview, error) { return r.readOverview(ctx) })
}

// readOverview reads an overview for the request of ctx and for others that wait. It continues if ctx ends.
func (r *Reader) readOverview(ctx context.Context) (*Overview, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), overviewTimeout)
	defer cancel()
	began := time.Now()
	first, cancelFirst := context.WithDeadline(ctx, began.Add(overviewIdleTimeout))
	defer cancelFirst()
	defined, err := r.store.Boards(first)
	if err != nil {
		return nil, err
	}
	o := new(Overview)
	for len(defined) > maxOverviewBoards {
		last := len(defined) - 1
		o.leftOff = append(o.leftOff, defined[last].Name)
		defined = defined[:last]
	}
	return o, r.fill(ctx, o, began, defined, r.store.Summary)
}

// fill reads the state of defined boards and families into o. summarize reads a board.
func (r *Reader) fill(ctx context.Context, o *Overview, began time.Time, defined []definition.Board,
	summarize func(ctx context.Context, board string) (ranking.Summary, error)) error {
	summaries, firsts := make([]*ranking.Summary, len(defined)), make([]*ranking.Instances, len(defined)) // nil: deleted meanwhile
	parts := make([][][]ranking.Part, len(defined))
	failures := readEach(ctx, began, len(defined), func(ctx context.Context, i int) error {
		if IsFamily(defined[i].Name) {
			page, err := r.store.Instances(ctx, defined[i].Name, "", firstInstances)
			if err == nil {
				firsts[i], parts[i] = &page, r.store.Parts(ctx, defined[i], page.Names)
			}
			return err
		}
		sum, err := summarize(ctx, defined[i].Name)
		if err == nil {
			summaries[i] = &sum
		}
		return err
	})
	if err := r.checkFailures(failures); err != nil {
		return fmt.Errorf("read an overview: %w", err)
	}
	tops := r.tops(ctx, summaries)
	for i, d := range defined {
		var err error
		switch sum := summaries[i]; {
		case failures[i] != nil && IsFamily(d.Name):
			err = o.addFamily(d, ranking.Instances{}, nil, failures[i])
		case failures[i] != nil:
			err = o.addBoard(summaryJSON{Board: d.Name, Unavailable: true}, unavailableCard(d.Name, d))
		case firsts[i] != nil:
			err = o.addFamily(d, *firsts[i], parts[i], nil)
		case sum != nil:
			err = o.addBoard(r.summarize(d.Name, sum, tops[i]))
		}
		if err != nil {
			return err
		}
	}
	o.Boards.Close()
	o.Families.Close()
	return nil
}

// checkFailures returns an error if no board could be read. A board that cannot be read, because its master of a cluster
// is away, hides no other board. Boards that were deleted meanwhile are no failures.
func (r *Reader) checkFailures(failures []error) error {
	var first error
	failed := 0
	for i, err := range failures {
		if errors.Is(err, definition.ErrUnknownBoard) {
			failures[i] = nil
		} else if err != nil {
			first = cmp.Or(first, err)
			failed++
		}
	}
	if failed > 0 && failed < len(failures) {
		r.log.Debug("the overview lacks boards that the node could not read", "boards", failed, "error", first)
		return nil
	}
	return first
}

// summarize makes the line of a board for callers, and its card for pages.
func (r *Reader) summarize(board string, g *ranking.Summary, top []entry.Entry) (summaryJSON, BoardCard) {
	info := boardinfo.New(g.About)
	line := summaryJSON{Board: board, Period: g.Period, Ends: definition.FormatTime(g.Ends), Frozen: entry.NewFrozen(g.Frozen),
		Total: g.Total, Epoch: g.Epoch, Seq: g.Seq, Built: g.Built, Memory: g.Memory, Info: &info}
	if !g.Built { // its changes are builds
		line.Rate = r.rates.of(board, g.Epoch, g.Seq, time.Now())
	}
	card := BoardCard{Board: board, About: g.About, Total: g.Total, Top: top, Rate: line.Rate}
	if len(top) > 0 {
		line.Leader = &top[0]
	}
	if len(top) > 1 {
		line.RunnersUp = top[1:]
	}
	return line, card
}

// unavailableCard is the card of a board that the node could not read.
func unavailableCard(board string, d definition.Board) BoardCard {
	return BoardCard{Board: board, About: ranking.About{Board: ranking.Board{Name: board, Instance: board, Definition: d},
		Title: d.Title}, Unavailable: true}
}

// addBoard adds a board, for callers and for the front page.
func (o *Overview) addBoard(line summaryJSON, card BoardCard) error {
	o.BoardCards = append(o.BoardCards, card)
	return o.Boards.Add(access.Board(line.Board), line)
}

// addFamily adds a family, for callers and for the front page. parts are those of its first instances.
func (o *Overview) addFamily(d definition.Board, first ranking.Instances, parts [][]ranking.Part, failure error) error {
	line := familyJSON{Board: d.Name, Instances: first.Total, Info: boardinfo.OfFamily(d), Unavailable: failure != nil}
	card := FamilyCard{Definition: d, Unavailable: failure != nil}
	bare := line
	resources := make([]access.Resource, len(first.Names))
	for i, name := range first.Names {
		resources[i] = access.Board(name)
		line.First = append(line.First, instanceJSON{name, newParts(parts[i])})
		card.First = append(card.First, Instance{Board: name, Parts: parts[i]})
	}
	o.FamilyCards = append(o.FamilyCards, card)
	return o.Families.AddWith(access.Board(d.Name), line, resources, bare)
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

// tops returns the first entries of each board. It reads the profiles of a kind in one call.
func (r *Reader) tops(ctx context.Context, summaries []*ranking.Summary) [][]entry.Entry {
	tops := make([][]entry.Entry, len(summaries))
	of := make(map[string][]int) // kind to indexes of boards
	for i, sum := range summaries {
		if sum != nil && len(sum.Top) > 0 {
			of[sum.Kind] = append(of[sum.Kind], i)
		}
	}
	for kind, boards := range of {
		var list []ranking.Entry
		for _, i := range boards {
			list = append(list, summaries[i].Top...)
		}
		var entries []entry.Entry
		for some := range slices.Chunk(list, ranking.MaxPage) {
			entries = append(entries, r.entries.Entries(ctx, kind, nil, some)...)
		}
		for _, i := range boards {
			n := len(summaries[i].Top)
			tops[i], entries = entries[:n:n], entries[n:]
			for j := range tops[i] {
				tops[i][j].Columns = summaries[i].Columns.JSON(tops[i][j].Score)
			}
		}
	}
	return tops
}

// IsFamily reports whether a defined name is that of a family.
func IsFamily(board string) bool { return strings.Contains(board, "{") }
