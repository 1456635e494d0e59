package overview

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/readable"
)

// FamilyPage is the number of instances that a family's page shows first, and the default of an answer.
const FamilyPage = 50

// Family is the state of some instances of a family.
type Family struct {
	Boards readable.List // for callers
	Cards  []BoardCard   // for pages
}

// Instances returns the state of instances of a family, which is at most recent.Age old. Callers that may read the
// same instances share one read of it.
func (r *Reader) Instances(ctx context.Context, family string, names []string) (*Family, error) {
	key := family + "\n" + strings.Join(names, "\n")
	return r.families.Get(ctx, key, func() (*Family, error) { return r.readFamily(ctx, family, names) })
}

// readFamily reads the state of instances of a family, for the request of ctx and for others that wait. It continues if
// ctx ends.
func (r *Reader) readFamily(ctx context.Context, family string, names []string) (*Family, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), overviewTimeout)
	defer cancel()
	if err := r.pageReads.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("read instances of %q: %w: the node reads other pages: %w", family, definition.ErrUnavailable, err)
	}
	defer r.pageReads.Release(1)
	d, err := r.store.Definition(ctx, family)
	if err != nil {
		return nil, err
	}
	parts := r.store.Parts(ctx, d, names) // before the summaries, whose titles have the same names
	summaries := make([]*ranking.Summary, len(names))
	failures := readEach(ctx, time.Now(), len(names), func(ctx context.Context, i int) error {
		sum, err := r.store.Summary(ctx, names[i])
		if err == nil {
			summaries[i] = &sum
		}
		return err
	})
	if err := r.checkFailures(failures); err != nil {
		return nil, fmt.Errorf("read instances of %q: %w", family, err)
	}
	tops := r.tops(ctx, summaries)
	o := new(Family)
	for i, name := range names {
		line, card := summaryJSON{Board: name, Unavailable: true}, unavailableCard(name, d)
		switch sum := summaries[i]; {
		case sum != nil:
			line, card = r.summarize(name, sum, tops[i])
		case failures[i] == nil: // deleted meanwhile
			continue
		}
		line.Parts, card.Parts = newParts(parts[i]), parts[i]
		if err := o.Boards.Add(access.Board(name), line); err != nil {
			return nil, err
		}
		o.Cards = append(o.Cards, card)
	}
	o.Boards.Close()
	return o, nil
}

// maxSkippedPages bounds the pages of ranking.MaxInstancesPage names that one request reads.
const maxSkippedPages = 50

// ReadableNames is Store.FindInstances for what a caller may read. It reads on until the page is full: a cursor
// holds a name, so it must be one that the caller may read too.
func (r *Reader) ReadableNames(ctx context.Context, caller *access.Caller, family string, q ranking.InstancesQuery) (
	ranking.Instances, error) {
	page, err := r.store.FindInstances(ctx, family, q)
	if err != nil || caller.MayAll() {
		return page, err
	}
	limit := q.Limit
	q.Limit = ranking.MaxInstancesPage
	readable := ranking.Instances{Names: []string{}, Total: page.Total}
	for range maxSkippedPages {
		for _, name := range page.Names {
			if !caller.May(access.ScopeRead, access.Board(name)) {
				continue
			}
			if len(readable.Names) == limit {
				readable.Next = readable.Names[limit-1]
				return readable, nil
			}
			readable.Names = append(readable.Names, name)
		}
		if page.Next == "" {
			return readable, nil
		}
		q.After = page.Next
		if page, err = r.store.FindInstances(ctx, family, q); err != nil {
			return ranking.Instances{}, err
		}
	}
	return ranking.Instances{}, &definition.FieldError{Field: "board",
		Reason: "has too many instances that the caller may not read; use a key that may read all of them", Kind: definition.ErrTooLarge}
}
