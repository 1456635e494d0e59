package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/request"
	"rankcast/server/pages"
)

// maxFamilyPage bounds the instances in one answer, because each of them costs a read. familyPage is the default, and what
// a family's page shows first.
const maxFamilyPage, familyPage = 100, 50

const (
	// instancesPerToken is the number of instances that a caller reads for a further token of its rate.
	instancesPerToken = 10
	// maxFamilyReads bounds the families that the node reads at a time, each by overviewConcurrency reads: callers that
	// ask for different pages share no read.
	maxFamilyReads = 2
)

// familyOverview is the state of some instances of a family.
type familyOverview struct {
	boards namedList
	cards  []pages.BoardCard
}

// getFamilyOverview answers the state of a page of a family's instances that the caller may read, by name. total also
// counts those that the caller may not read.
func (s *Server) getFamilyOverview(c echo.Context) error {
	after, limit, err := readNamePage(c, familyPage, maxFamilyPage)
	if err != nil {
		return err
	}
	family := request.PathValue(c, "board")
	ctx := c.Request().Context()
	page, err := s.readableInstances(ctx, callerOf(c), family, after, limit)
	if err != nil {
		return err
	}
	if err := s.takeRate(c, len(page.Names)/instancesPerToken); err != nil {
		return err
	}
	o, err := s.familyOverview(ctx, family, page.Names)
	if err != nil {
		return err
	}
	return ok(c, struct {
		Now    *string        `json:"now"` // by the clock of Redis
		Board  string         `json:"board"`
		Total  int64          `json:"total"`
		Boards jsontext.Value `json:"boards"`
		Cursor *string        `json:"cursor"`
	}{definition.FormatTime(s.store.Now()), family, page.Total, o.boards.whole, newNameCursor(page.Next)})
}

// familyOverview returns the state of instances of a family, which is at most recentAge old. Callers that may read the
// same instances share one read of it.
func (s *Server) familyOverview(ctx context.Context, family string, names []string) (*familyOverview, error) {
	key := family + "\n" + strings.Join(names, "\n")
	return s.families.get(ctx, key, func() (*familyOverview, error) { return s.readFamily(ctx, family, names) })
}

// readFamily reads the state of instances of a family, for the request of ctx and for others that wait. It continues if
// ctx ends.
func (s *Server) readFamily(ctx context.Context, family string, names []string) (*familyOverview, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), overviewTimeout)
	defer cancel()
	if err := s.familyReads.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("read instances of %q: %w: the node reads other families: %w", family, ranking.ErrUnavailable, err)
	}
	defer s.familyReads.Release(1)
	d, err := s.store.Definition(ctx, family)
	if err != nil {
		return nil, err
	}
	parts := s.store.Parts(ctx, d, names) // before the summaries, whose titles have the same names
	summaries := make([]*ranking.Summary, len(names))
	failures := readEach(ctx, time.Now(), len(names), func(ctx context.Context, i int) error {
		sum, err := s.store.Summary(ctx, names[i])
		if err == nil {
			summaries[i] = &sum
		}
		return err
	})
	if err := s.checkFailures(failures); err != nil {
		return nil, fmt.Errorf("read instances of %q: %w", family, err)
	}
	tops := s.tops(ctx, summaries)
	o := new(familyOverview)
	for i, name := range names {
		line, card := summaryJSON{Board: name, Unavailable: true}, unavailableCard(name, d)
		switch sum := summaries[i]; {
		case sum != nil:
			line, card = s.summarize(name, sum, tops[i])
		case failures[i] == nil: // deleted meanwhile
			continue
		}
		line.Parts, card.Parts = newParts(parts[i]), parts[i]
		if err := o.boards.add(access.Board(name), line); err != nil {
			return nil, err
		}
		o.cards = append(o.cards, card)
	}
	o.boards.close()
	return o, nil
}
