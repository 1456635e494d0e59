package ranking

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rankcast/ranking/calendar"
	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// MaxRevealed is the most members that one call reveals.
const MaxRevealed = 128

// Revealed is a member that has become public, with its standing before.
type Revealed struct {
	Member   string
	Current  *Standing // nil: it has left the board
	Previous *Standing // nil: the public board had not got it
}

// Reveals is the result of Reveal.
type Reveals struct {
	Head             // after it; Frozen is nil once nothing is left
	List  []Revealed // the members that became public, in the order of the call; of RevealAll the last MaxRevealed of them
	Count int64      // number of members that became public
	Left  int64      // members that are still pending
}

// Reveal makes the pending scores of members of a frozen board public, 1 to MaxRevealed, each as one change in the order of the call.
// To reveal a member that is public already is no error and no change. The call after which nothing is pending ends the freeze. It
// returns ErrConflict for a board that is not frozen. by.Reason may be empty.
func (s *Store) Reveal(ctx context.Context, board string, members []string, by Moderator) (Reveals, error) {
	if len(members) < 1 || len(members) > MaxRevealed {
		return Reveals{}, definition.Invalid("members", fmt.Sprintf("are %d; want 1 to %d", len(members), MaxRevealed))
	}
	for i, member := range members {
		if err := definition.CheckText(definition.ItemPath("members", i), member); err != nil {
			return Reveals{}, err
		}
	}
	return s.reveal(ctx, board, by, actionReveal, func(v *revealer) error {
		frozen, err := v.step(ctx, members, onlySteps)
		if err == nil && !frozen {
			err = errNotFrozen(v.instance)
		}
		for err == nil && frozen && v.done.Left == 0 && v.done.Count > 0 && !v.ended { // one call reveals only so many hidden members, and data
			began := time.Now()
			if frozen, err = v.step(ctx, nil, andRest); err == nil {
				err = restAfter(ctx, began)
			}
		}
		return err
	})
}

// RevealAll is Reveal for all members, those without a public rank first, and then from the last public rank upwards. It ends the
// freeze.
func (s *Store) RevealAll(ctx context.Context, board string, by Moderator) (Reveals, error) {
	return s.reveal(ctx, board, by, actionReveal, func(v *revealer) error { return v.all(ctx) })
}

// Unfreeze ends the freeze of a board, as for one that was frozen by mistake: all becomes public as with RevealAll, and the definition
// does not freeze the period again. by.Reason is required.
func (s *Store) Unfreeze(ctx context.Context, board string, by Moderator) (Reveals, error) {
	if by.Reason == "" {
		return Reveals{}, definition.Invalid("reason", "is missing")
	}
	return s.reveal(ctx, board, by, actionUnfreeze, func(v *revealer) error { return v.all(ctx) })
}

// reveal reveals by an act of a moderator.
func (s *Store) reveal(ctx context.Context, board string, by Moderator, action string, do func(*revealer) error) (Reveals, error) {
	if err := by.Check(); err != nil {
		return Reveals{}, err
	}
	m, err := s.freezable(ctx, board)
	if err != nil {
		return Reveals{}, err
	}
	v := revealer{s: s, instance: m.Instance, rule: m.compiled, period: m.period}
	if err := do(&v); err != nil {
		return Reveals{}, fmt.Errorf("reveal board %q: %w", board, err)
	}
	if v.done.Count > 0 || v.ended {
		act := Action{Action: action, Board: m.Instance, Moderator: by}
		if len(v.done.List) == 1 {
			act.Member = v.done.List[0].Member
		}
		if _, err := s.audit(ctx, act, ""); err != nil {
			return Reveals{}, err
		}
	}
	if v.ended {
		// The result may be final now.
		if err := s.scheduleNow(ctx, m.Instance); err != nil {
			return Reveals{}, err
		}
	}
	v.done.Head, err = s.headOf(ctx, board)
	return v.done, err
}

// revealer reveals the pending scores of one board-period.
type revealer struct {
	s        *Store
	instance string
	rule     *definition.Compiled
	period   calendar.Period

	done  Reveals
	ended bool // the freeze has ended
}

// rest says whether a call of reveal.lua reveals what is no step of a reveal, once no step is left.
type rest string

const (
	onlySteps rest = "0"
	andRest   rest = "1" // hidden members, and data
)

// step calls reveal.lua once. It reports whether the board-period was frozen.
func (v *revealer) step(ctx context.Context, members []string, what rest) (frozen bool, err error) {
	s := v.s
	for range maxAttempts {
		d, _, err := s.leasedDefinitions(ctx)
		if err != nil {
			return false, err
		}
		span := v.rule.Span(v.period.Opens.UnixMicro())
		if v.rule.Calendar == nil {
			span = v.rule.Span(s.catalog.clock.now())
		}
		freezes := v.rule.FreezesAt(v.period)
		if s.catalog.clock.now() < freezes {
			freezes = 0
		}
		k := s.keys.Board(v.instance, v.period.Name)
		if f, err := s.freezeOf(ctx, k.Meta); err != nil || f.since() == 0 && (freezes == 0 || f.hasEnded(freezes)) {
			return false, err // nobody is told of an instance by this
		}
		if _, err := s.registerInstance(ctx, d, v.instance, v.rule, 0, listedPublic); err != nil {
			return false, err
		}
		args := append(scriptHead(v.rule, k, v.instance, v.period.Name), v.rule.Shape, d.hidden.revision,
			d.hidden.flagsOf(v.instance, v.rule.Kind, members), joined(span.From, span.Length)+" "+newEpoch(),
			joined(span.Opens, span.Closes), freezes, v.rule.Kind, string(what))
		r := script.Reveal.Run(ctx, s.rdb, k.Freezing(), appendTexts(args, members))
		switch r.Text() {
		case "no":
			return false, r.Err
		case "shape":
			return false, errOtherShape(v.instance)
		case "behind":
			revision := r.Number()
			if r.Err != nil {
				return false, r.Err
			}
			if err := s.restoreModeration(ctx, d, revision); err != nil {
				return false, err
			}
			continue
		}
		v.done.Left, v.ended = r.Number(), r.Number() == 1
		v.take(r, members)
		return true, r.Err
	}
	return false, fmt.Errorf("%w: the moderation changes too often", definition.ErrUnavailable)
}

// take takes the results for members.
func (v *revealer) take(r *script.Reply, members []string) {
	for _, member := range members {
		text := r.Text()
		if text == "" {
			continue
		}
		f := strings.Split(text, " ")
		if len(f) != 4 {
			r.Fail("has an invalid result of a reveal")
			return
		}
		one := Revealed{Member: member}
		var err, err2 error
		one.Current, err = parseStanding(f[1], f[0])
		if one.Previous, err2 = parseStanding(f[3], f[2]); err != nil || err2 != nil {
			r.Fail("has an invalid standing")
			return
		}
		v.done.Count++
		v.done.List = append(v.done.List, one)
	}
	if n := len(v.done.List); n > MaxRevealed {
		v.done.List = v.done.List[n-MaxRevealed:]
	}
}

// all reveals all that is pending, in parts.
func (v *revealer) all(ctx context.Context) error {
	for !v.ended {
		began := time.Now()
		page, err := v.s.readPending(ctx, v.rule, v.instance, v.period.Name, PendingQuery{Order: RevealOrder, Limit: MaxRevealed})
		if err != nil {
			return err
		}
		members := make([]string, len(page.Entries))
		for i, e := range page.Entries {
			members[i] = e.Member
		}
		if frozen, err := v.step(ctx, members, andRest); err != nil {
			return err
		} else if !frozen {
			if v.done.Count > 0 {
				return nil // another caller has ended the freeze
			}
			return errNotFrozen(v.instance)
		}
		if err := restAfter(ctx, began); err != nil {
			return err
		}
	}
	return nil
}

// revealDue reveals what a period of an instance keeps back once the store is to reveal it. held reports that the period is still
// frozen, and that its result must wait until the time next, in µs since 1970.
func (s *Store) revealDue(ctx context.Context, instance string, r *definition.Compiled, p calendar.Period, now int64) (
	held bool, next int64, err error) {
	if !r.MayBeFrozen() {
		return false, 0, nil
	}
	f, err := s.freezeOf(ctx, s.keys.Board(instance, p.Name).Meta)
	if err != nil {
		return false, 0, err
	}
	since := f.at(r, p, now)
	if since == 0 {
		return false, 0, nil
	}
	if due := r.RevealsAt(p, since); now < due || due <= 0 {
		return true, due, nil
	}
	v := revealer{s: s, instance: instance, rule: r, period: p}
	if err := v.all(ctx); err != nil {
		return true, now + housekeepingInterval.Microseconds(), fmt.Errorf("reveal the period %q: %w", p.Name, err)
	}
	return false, 0, nil
}
