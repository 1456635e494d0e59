package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

const (
	// MaxAround is the most neighbours on each side that one look-up returns.
	MaxAround = 100
	// MaxLookups is the most members that one call of Places looks up. MaxLookupRows is the
	// most entries that it returns, neighbours included. Such a call holds Redis for 1 to 3
	// ms on a board of a million (`make bench`).
	MaxLookups    = 256
	MaxLookupRows = 1024
)

// Lookup asks for one member's rank, score and neighbours.
type Lookup struct {
	Member string
	Around int // number of neighbours on each side, 0 to MaxAround

	next bool // with Around 0: the entry above, for Place.ToNext
}

// Rows is the most entries that the look-up returns.
func (l Lookup) Rows() int {
	above, below := l.neighbours()
	return 1 + above + below
}

// neighbours is the number of entries to read above and below the member.
func (l Lookup) neighbours() (above, below int) {
	if l.Around == 0 && l.next {
		return 1, 0
	}
	return l.Around, l.Around
}

// Place is one member's rank, score and neighbours.
type Place struct {
	Entry Entry // Rank is 0 for a member that is not on the board
	// 1-based position in the board's order: equal to Rank, except with ties Shared and Dense; 0 for a member that is not on the board
	Position int64
	Below    int64   // number of members that rank below it
	Around   []Entry // up to Lookup.Around entries on each side and the member itself, in the board's order
}

// Places are the places of some members, in the order of the question, at one state of the
// board.
type Places struct {
	Head
	Ties definition.Ties // of the board
	List []Place
	// ByShard has a head for each shard of the board: its members have their places at the states of that head. nil: the board has
	// no shards.
	ByShard []Head
}

// HeadOf returns the head with the states at which a member has its place.
func (p *Places) HeadOf(member string) *Head {
	if p.ByShard == nil {
		return &p.Head
	}
	return &p.ByShard[ShardOf(member, len(p.ByShard))]
}

// Places looks up 1 to MaxLookups members at once, at one state of the board. It returns a
// FieldError for an invalid member id, and for more than MaxLookupRows entries.
func (s *Store) Places(ctx context.Context, board string, lookups []Lookup) (Places, error) {
	if err := checkLookups(lookups); err != nil {
		return Places{}, err
	}
	return s.placesBy(ctx, board, func(m resolved) (Places, readTimes, error) { return s.readPlaces(ctx, m, lookups) })
}

// placesBy reads places of a board, by a function that reads them of a board-period.
func (s *Store) placesBy(ctx context.Context, board string, read func(resolved) (Places, readTimes, error)) (p Places, err error) {
	_, err = s.readResolved(ctx, board, &p.Head, func(m resolved) (at readTimes, err error) {
		p, at, err = read(m)
		return at, err
	})
	if err != nil {
		return Places{}, err
	}
	return p, nil
}

func checkLookups(lookups []Lookup) error {
	if len(lookups) < 1 || len(lookups) > MaxLookups {
		return definition.Invalid("members", fmt.Sprintf("are %d; want 1 to %d", len(lookups), MaxLookups))
	}
	rows := 0
	for _, l := range lookups {
		if err := definition.CheckMember(l.Member); err != nil {
			return err
		}
		if l.Around < 0 || l.Around > MaxAround {
			return definition.Invalid("around", fmt.Sprintf("is %d; want 0 to %d", l.Around, MaxAround))
		}
		rows += l.Rows()
	}
	if rows > MaxLookupRows {
		return definition.Invalid("around", fmt.Sprintf("makes %d entries; want %d at most", rows, MaxLookupRows))
	}
	return nil
}

// readPlaces looks up members on a board-period. See Head.describe for what the result lacks.
func (s *Store) readPlaces(ctx context.Context, m resolved, lookups []Lookup) (p Places, at readTimes, err error) {
	if m.shards != nil {
		return s.readShardedPlaces(ctx, m, lookups)
	}
	args := make([]any, 0, 3*len(lookups))
	for _, l := range lookups {
		above, below := l.neighbours()
		args = append(args, l.Member, above, below)
	}
	r := s.callRead(ctx, script.Places, m.keys, m.compiled.Board, args)
	at = takeReadTimes(r)
	p = Places{Head: Head{State: takeState(r)}}
	var order definition.Order
	order, p.Ties = takeShape(r, m.compiled.Board)
	p.Total = r.Number()
	width := r.Number()
	p.List = make([]Place, len(lookups))
	for i, l := range lookups {
		p.List[i] = takePlace(r, l, width, order, p.Ties)
	}
	return p, at, r.Err
}

// takePlace takes the answer of places.lua about one member. An entry has width values.
func takePlace(r *script.Reply, l Lookup, width int64, o definition.Order, t definition.Ties) Place {
	start, rank := r.Number(), r.Number()
	p := Place{Below: r.Number()}
	count := r.Number()
	var err error
	p.Around, err = takeEntries(r.Take(2*count), r.Take((width-2)*count), start, rank, o, t)
	r.Err = cmp.Or(r.Err, err)
	if start < 0 || r.Err != nil {
		return Place{Entry: Entry{Member: l.Member}}
	}
	for i, e := range p.Around {
		if e.Member == l.Member {
			p.Entry, p.Position = e, start+int64(i)+1
		}
	}
	if p.Entry.Rank == 0 {
		r.Fail("leaves out the member asked for")
	}
	return p
}

// Neighbourhood is a member and its neighbours.
type Neighbourhood struct {
	Head
	Place
}

// Around reads a member's place and up to k neighbours (0 to MaxAround) on each side; with 0 the
// entry above alone, for ToNext. It returns ErrUnknownMember for a member that is hidden or not on the board,
// and a FieldError for an invalid k or id.
func (s *Store) Around(ctx context.Context, board, member string, k int) (Neighbourhood, error) {
	l := Lookup{Member: member, Around: k, next: true}
	if err := checkLookups([]Lookup{l}); err != nil {
		return Neighbourhood{}, err
	}
	places, err := s.placesBy(ctx, board, func(m resolved) (Places, readTimes, error) { return s.readPlace(ctx, m, l) })
	if err != nil {
		return Neighbourhood{}, err
	}
	n := Neighbourhood{places.Head, places.List[0]}
	if n.Entry.Rank == 0 {
		return Neighbourhood{}, unknownMember(board, member)
	}
	return n, nil
}

// Percentile is the share of the other members that rank below the member, 0 to 100; 100
// for a board's only member.
func (n Neighbourhood) Percentile() float64 {
	if n.Total <= 1 {
		return 100
	}
	return 100 * float64(n.Below) / float64(n.Total-1)
}

// ToNext is the distance in score to the entry above: 0 where both have the same score. It is nil at rank 1, which several
// members may share, and where Around is empty.
func (p Place) ToNext() *int64 {
	above := p.next()
	if above == nil {
		return nil
	}
	gap := max(above.Score-p.Entry.Score, p.Entry.Score-above.Score)
	return &gap
}

// ToNextColumns is what each column lacks to be that of the entry above, as a JSON object: see definition.Columns.AppendToNext. It
// is null where ToNext is nil, and nil on a board without columns.
func (p Place) ToNextColumns(columns definition.Columns) jsontext.Value {
	above := p.next()
	switch {
	case columns == nil:
		return nil
	case above == nil:
		return jsontext.Value("null")
	}
	return columns.AppendToNext(nil, p.Entry.Score, above.Score)
}

// next is the entry above, for ToNext.
func (p Place) next() *Entry {
	if p.Entry.Rank == 1 {
		return nil
	}
	for i, e := range p.Around {
		if e.Member == p.Entry.Member && i > 0 {
			return &p.Around[i-1]
		}
	}
	return nil
}

// MaxMembers is the most members that one call of Members looks up.
const MaxMembers = 100

// Members are some members of a board, at one state of it.
type Members struct {
	Head
	List []Member // in the order of the question
}

// Member is one of the members in the question.
type Member struct {
	Entry // Rank is 0 for a member that is not on the board, and then only Member is set
	// Among is its rank among the members in the question, by the ties rule of the board.
	// It is 0 for a member that is not on the board. A member given twice counts once.
	Among int64
}

// Members looks up 1 to MaxMembers members at once, such as friends, and ranks them among
// themselves. The answer has the order of the question. It returns a FieldError for an
// invalid member id.
func (s *Store) Members(ctx context.Context, board string, members []string) (Members, error) {
	if len(members) < 1 || len(members) > MaxMembers {
		return Members{}, definition.Invalid("id", fmt.Sprintf("is given %d times; want 1 to %d", len(members), MaxMembers))
	}
	lookups := make([]Lookup, len(members))
	for i, m := range members {
		if err := definition.CheckText("id", m); err != nil {
			return Members{}, err
		}
		lookups[i] = Lookup{Member: m}
	}
	p, err := s.Places(ctx, board, lookups)
	if err != nil {
		return Members{}, err
	}
	m := Members{Head: p.Head, List: make([]Member, len(members))}
	for i, place := range p.List {
		m.List[i].Entry = place.Entry
	}
	m.rank(p.Ties)
	return m, nil
}

// ByRank returns the list in the order of the board. Members that are not on the board come
// last, in the order of the question.
func (m Members) ByRank() []Member {
	list := slices.Clone(m.List)
	slices.SortStableFunc(list, func(a, b Member) int {
		if a.Rank == 0 || b.Rank == 0 {
			return cmp.Compare(b.Rank, a.Rank)
		}
		return a.Key.Compare(a.Member, b.Key, b.Member)
	})
	return list
}

// rank sets Among of each member.
func (m Members) rank(t definition.Ties) {
	among := make(map[string]int64, len(m.List))
	var last Entry
	rank := int64(0)
	for _, e := range m.ByRank() {
		if e.Rank == 0 {
			break
		}
		if _, again := among[e.Member]; again {
			continue
		}
		rank = t.RankAfter(rank, int64(len(among))+1, len(among) > 0 && e.Score == last.Score)
		among[e.Member], last = rank, e.Entry
	}
	for i, e := range m.List {
		m.List[i].Among = among[e.Member]
	}
}
