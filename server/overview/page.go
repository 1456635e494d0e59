package overview

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/search"
	"rankcast/server/access"
)

// listing is what a search for boards reads of one version of the definitions.
type listing struct {
	defined []definition.Board // by name
	texts   []string           // of each: its name and its titles, folded
}

// listingAge bounds how long the node keeps a listing. A listing never changes, because its version is the key.
const listingAge = 24 * time.Hour

// listing returns the listing of the present definitions. There may be 10,000, so the node folds their texts once.
func (r *Reader) listing(ctx context.Context) (listing, error) {
	version, err := r.store.DefinitionsVersion(ctx)
	if err != nil {
		return listing{}, err
	}
	return r.listings.Get(ctx, version, func() (l listing, err error) {
		if l.defined, err = r.store.Boards(context.WithoutCancel(ctx)); err != nil {
			return l, err
		}
		l.texts = make([]string, len(l.defined))
		for i, d := range l.defined {
			texts := []string{search.Fold(d.Name)}
			for _, title := range d.Title {
				texts = append(texts, search.Fold(title))
			}
			l.texts[i] = strings.Join(texts, "\n")
		}
		return l, nil
	})
}

// Query selects a page of boards and families.
type Query struct {
	Search string // texts that the name or the titles contain, separated by white space; "" for all boards
	After  string // the name after which the page begins; "" for the first page
	Limit  int
}

// Match is a page of the boards and families that match a Query.
type Match struct {
	Total   int // of all pages
	Next    string
	defined []definition.Board
}

// Len is the number of boards and families on the page.
func (m Match) Len() int { return len(m.defined) }

// Match finds the boards and families that a caller may read and that match a query. It reads no board.
func (r *Reader) Match(ctx context.Context, caller *access.Caller, q Query) (Match, error) {
	l, err := r.listing(ctx)
	if err != nil {
		return Match{}, err
	}
	words := strings.Fields(search.Fold(q.Search))
	if q.Search != "" && len(words) == 0 {
		return Match{}, definition.Invalid("search", "has only white space")
	}
	var m Match
	for i, text := range l.texts {
		isMissing := func(word string) bool { return !strings.Contains(text, word) }
		name := l.defined[i].Name
		if slices.ContainsFunc(words, isMissing) || !caller.May(access.ScopeRead, access.Board(name)) {
			continue
		}
		m.Total++
		switch {
		case name <= q.After:
		case len(m.defined) < q.Limit:
			m.defined = append(m.defined, l.defined[i])
		default:
			m.Next = m.defined[q.Limit-1].Name
		}
	}
	return m, nil
}

// Page returns the state of the boards and families of a page, at most recent.Age old. It reads no others. Callers that
// may read the same ones share one read.
func (r *Reader) Page(ctx context.Context, m Match) (*Overview, error) {
	names := make([]string, len(m.defined))
	for i, d := range m.defined {
		names[i] = d.Name
	}
	return r.pages.Get(ctx, strings.Join(names, "\n"), func() (*Overview, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), overviewTimeout)
		defer cancel()
		if err := r.pageReads.Acquire(ctx, 1); err != nil {
			return nil, fmt.Errorf("read an overview: %w: the node reads other pages: %w", definition.ErrUnavailable, err)
		}
		defer r.pageReads.Release(1)
		o := new(Overview)
		return o, r.fill(ctx, o, time.Now(), m.defined, r.store.SummaryWithMemory)
	})
}
