package ranking

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rankcast/ranking/definition"
	"rankcast/ranking/search"
)

const (
	// MaxFound is the most entries that one call of Search returns.
	MaxFound = 50
	// MaxQueryBytes is the greatest length of the text of a search, that of a member id and of a name, in bytes.
	MaxQueryBytes = definition.MaxIDBytes
)

// searchBounds bound the cost of a search.
type searchBounds struct {
	small int64 // members of a board; a search on a smaller or equal one reads all members
	names int   // elements of names; a search on a larger board reads up to that many from each part of the index
	ids   int   // likewise, elements of ids
}

// defaultSearchBounds keep a search on a board of a million below 1 ms of Redis (BenchmarkSearch): 256 names and 64 ids.
var defaultSearchBounds = searchBounds{small: 1000, names: 16, ids: 4}

// SearchResult are the members that a search has found, at one state of the board.
type SearchResult struct {
	Head
	// Complete reports that the search has looked at all members that match. It is false if more members of the kind match
	// than a search looks at. Then a longer text may find others.
	Complete bool
	List     []Found
}

// Found is a member that a search has found.
type Found struct {
	Entry
	Profile Profile // the present one; zero for none
}

// Search finds the members of a board by their names and ids. limit is 1 to MaxFound members. text is 1 to
// MaxQueryBytes bytes, and not only white space. Search ignores white space around it. Package search says how texts are
// compared. Search finds a member if
//
//   - text is its id, or
//   - each word of text begins at the start of a word of its name, or
//   - text and its name have no words, and the name begins with text, or
//   - its id begins with text. On a board of more than 1,000 members, such a member needs a profile.
//
// The member with the id comes first, then members whose whole name is text, then all others; each in the board's
// order. A member that is hidden on the board is not on it, so no search finds the member.
//
// The index follows a profile before SetProfile or DeleteProfile returns. On a board of up to 1,000 members, a search looks
// at all of them. On a larger one it looks at about 500 elements of the index with the rarest word of text, and at about
// 100 ids that begin with text: the first of each part.
func (s *Store) Search(ctx context.Context, board, text string, limit int) (SearchResult, error) {
	q, err := parseQuery(text, limit)
	if err != nil {
		return SearchResult{}, err
	}
	var found SearchResult
	_, err = s.readResolved(ctx, board, &found.Head, func(m resolved) (at readTimes, err error) {
		found, at, err = s.search(ctx, m, q, limit)
		return at, err
	})
	if err != nil {
		return SearchResult{}, err
	}
	return found, nil
}

// searchQuery is the query of one call of Search.
type searchQuery struct {
	search.Query
	id   string // the text without white space around it
	text string
}

// parseQuery checks the text and the limit of a search.
func parseQuery(text string, limit int) (searchQuery, error) {
	if reason := definition.UTF8Fault(text, MaxQueryBytes); reason != "" {
		return searchQuery{}, definition.Invalid("q", reason)
	}
	q := searchQuery{Query: search.NewQuery(text), id: strings.TrimSpace(text), text: text}
	if q.id == "" {
		return q, definition.Invalid("q", "has only white space")
	}
	if limit < 1 || limit > MaxFound {
		return q, definition.Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", limit, MaxFound))
	}
	return q, nil
}

// isID reports whether the text is the id of a member. The ids of old members may begin or end with white space.
func (q searchQuery) isID(member string) bool { return member == q.id || member == q.text }

// search searches a board of a known meaning.
func (s *Store) search(ctx context.Context, m resolved, q searchQuery, limit int) (SearchResult, readTimes, error) {
	before, at, err := s.readPlaces(ctx, m, []Lookup{{Member: q.id}})
	if err != nil {
		return SearchResult{}, at, err
	}
	found := SearchResult{Head: before.Head, Complete: true}
	if before.Total == 0 {
		return found, at, nil
	}
	var list []candidate
	var profiles map[string]Profile
	find := func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
		defer cancel()
		if before.Total <= s.searches.small {
			list, profiles, err = s.searchAll(ctx, m, q)
			slices.SortFunc(list, compareCandidates)
		} else if list, found.Complete, err = s.searchIndex(ctx, m, q); err == nil {
			slices.SortFunc(list, compareCandidates)
			list, profiles, err = s.firstMatching(ctx, m.compiled.Kind, q, list, limit)
		}
		list = list[:min(len(list), limit)]
		return err
	}
	if err := s.inTurnIf(ctx, before.Total > PacedEntries, find); err != nil { // as for large pages: names may be long
		return SearchResult{}, at, err
	}
	if len(list) == 0 {
		return found, at, nil
	}
	lookups := make([]Lookup, len(list))
	for i, c := range list {
		lookups[i].Member = c.member
	}
	places, at, err := s.readPlaces(ctx, m, lookups)
	if err != nil {
		return SearchResult{}, at, err
	}
	// Members may have moved since, or have left the board.
	found.Head = places.Head
	for i, p := range places.List {
		list[i].key = p.Entry.Key
		if p.Entry.Rank == 0 {
			continue
		}
		found.List = append(found.List, Found{p.Entry, profiles[p.Entry.Member]})
	}
	by := make(map[string]candidate, len(list))
	for _, c := range list {
		by[c.member] = c
	}
	slices.SortFunc(found.List, func(a, b Found) int { return compareCandidates(by[a.Member], by[b.Member]) })
	return found, at, nil
}
