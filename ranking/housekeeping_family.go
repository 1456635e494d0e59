package ranking

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// housekeepFamily goes through the instances of a definition. It deletes the instances of a
// deleted definition, and puts those of a changed definition on the agenda. The agenda
// holds the definition's slot, and after a space the instance to continue after.
func (s *Store) housekeepFamily(ctx context.Context, d *definitions, c claim, until int64) error {
	slot, after, goesOn := strings.Cut(c.member, " ")
	var next string
	var err error
	agenda := []string{s.keys.Agenda(), s.keys.Listing()}
	switch since, leaving := d.leaving[slot]; {
	case leaving && goesOn: // from a change before the deletion; the slot itself is on the agenda
	case leaving && c.since < since+grace.Microseconds(): // other nodes may still write
		return s.rescheduleOn(ctx, agenda, c, since+grace.Microseconds())
	case leaving:
		next, err = s.deleteFamily(ctx, d.boards[slot], slot, since, until)
	default:
		next, err = s.rescheduleFamily(ctx, slot, after)
	}
	again := int64(0)
	switch {
	case err != nil:
		return err
	case next == c.member:
		again = c.since
	case next != "":
		if err := s.scheduleNow(ctx, next); err != nil {
			return err
		}
	}
	return s.rescheduleOn(ctx, agenda, c, again)
}

// rescheduleFamily puts instances on the agenda for now, and returns the item to continue
// with.
func (s *Store) rescheduleFamily(ctx context.Context, slot, after string) (next string, err error) {
	for n := 0; n < familyMost; n += familyPage {
		page, err := s.listedInstances(ctx, slot, InstancesQuery{After: after, Limit: familyPage, Pending: true})
		if err != nil {
			return "", err
		}
		if len(page.Names) > 0 {
			if err := s.scheduleNow(ctx, page.Names...); err != nil {
				return "", err
			}
		}
		if after = page.Next; after == "" {
			return "", nil
		}
	}
	return familyCursor(slot, after), nil
}

// familyCursor is the item on the agenda for the instances of a definition after one; ""
// stands for all.
func familyCursor(slot, instance string) string { return slot + " " + instance }

// deleteFamily deletes instances of a definition that is under deletion since a time, and
// the definition once none is left. Else it returns the item to continue with. r is nil if this node cannot read the definition.
func (s *Store) deleteFamily(ctx context.Context, r *definition.Compiled, slot string, since, until int64) (next string, err error) {
	if base, plain := strings.CutSuffix(slot, "/0"); plain {
		// The data of a plain board go even if the board is not listed.
		if err := s.deleteData(ctx, r, base, until); err != nil {
			return "", err
		}
	}
	stop := time.Now().Add(familySlice)
	for after := ""; ; {
		page, err := s.listedInstances(ctx, slot, InstancesQuery{After: after, Limit: familyPage, Pending: true})
		if err != nil {
			return "", err
		}
		for names := range slices.Chunk(page.Names, familyAtOnce) {
			if err := atOnce(names, func(name string) error { return s.deleteData(ctx, r, name, until) }); err != nil {
				return "", err
			}
			if err := s.unlist(ctx, slot, since, names); err != nil {
				return "", err
			}
			if time.Now().After(stop) {
				return slot, nil
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	return "", s.define(ctx, func(d *definitions) (catalogChange, error) {
		if d.leaving[slot] != since {
			return catalogChange{}, nil
		}
		return catalogChange{fields: map[string]string{boardField + slot: "", leavingField + slot: "", idsField + boardField + slot: ""}}, nil
	}, nil)
}

// atOnce calls do for all names at the same time.
func atOnce(names []string, do func(name string) error) error {
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { errs[i] = do(name) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// unlist takes deleted instances off all lists.
func (s *Store) unlist(ctx context.Context, slot string, since int64, names []string) error {
	keys := []string{s.keys.Instances(slot), s.keys.Agenda(), s.keys.Listing(), s.keys.Definitions(), s.keys.PendingInstances(slot)}
	return script.Unlist.Run(ctx, s.rdb, keys, appendTexts([]any{leavingField + slot, since}, names)).Err
}
