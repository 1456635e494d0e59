package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// moderateAtOnce is the number of members that one call of moderate.lua hides or shows: 2
// ms of Redis.
const moderateAtOnce = 128

// unhiddenAtOnce is the number of members that one call of unhide.lua shows. With a pause of 5 ms these are fewer
// than 10,000 a second, so every node learns of each: see maxEmptied.
const unhiddenAtOnce = 50

// Hide removes a member from the ranks of a board in all its periods, or of one instance of
// a family. The member keeps its scores, and its updates count unseen: their results have
// the Rank 0. Hide returns ErrConflict when 100,000 members are hidden already. To hide a
// member that is hidden on that board already leaves no line in the audit.
func (s *Store) Hide(ctx context.Context, board, member string, by Moderator) error {
	return s.moderateOnBoard(ctx, actionHide, board, member, by)
}

// Show ends Hide: the member takes the place that its score gives it.
func (s *Store) Show(ctx context.Context, board, member string, by Moderator) error {
	return s.moderateOnBoard(ctx, actionShow, board, member, by)
}

// HideEverywhere is Hide on all boards of a kind, also on boards defined later. All nodes
// apply it to writes within one second, three at most. Housekeeping removes the member from
// the boards within seconds, or as long as it needs to go through all boards of the kind.
func (s *Store) HideEverywhere(ctx context.Context, kind, member string, by Moderator) error {
	return s.moderateKind(ctx, actionHide, kind, member, by)
}

// ShowEverywhere ends HideEverywhere. A board on which Hide has hidden the member keeps it
// hidden.
func (s *Store) ShowEverywhere(ctx context.Context, kind, member string, by Moderator) error {
	return s.moderateKind(ctx, actionShow, kind, member, by)
}

func (s *Store) moderateOnBoard(ctx context.Context, action, board, member string, by Moderator) error {
	n, err := definition.ParseName(board)
	if err != nil {
		return err
	}
	if n.Period != "" {
		return definition.Invalid("board", "names a period, but a member is hidden in all periods of a board: omit the @ and the period")
	}
	// A member can be shown on a board that no longer exists. Else it would be hidden again
	// when the board is created anew.
	_, unknown := s.compiledOf(ctx, n)
	if unknown != nil && (action == actionHide || !errors.Is(unknown, definition.ErrUnknownBoard)) {
		return unknown
	}
	act := Action{Action: action, Board: n.Instance(), Member: member, Moderator: by}
	if err := s.setHidden(ctx, act); err != nil || unknown != nil {
		return err
	}
	d, _, err := s.leasedDefinitions(ctx)
	if err != nil {
		return err
	}
	rule, err := d.compiled(n)
	if err != nil {
		return err
	}
	periods, err := s.periodRecords(ctx, rule, n.Instance())
	if err != nil {
		return err
	}
	if err := s.moderate(ctx, n.Instance(), rule, d.hidden, periods); err != nil {
		return fmt.Errorf("moderate board %q: %w", n.Instance(), err)
	}
	// Other nodes may have written by the state before, or may still do so.
	return s.scheduleAfterGrace(ctx, n.Instance())
}

// scheduleAfterGrace puts an item on the agenda for the time when all nodes know what this node
// knows, even if the item is due before that for another reason.
func (s *Store) scheduleAfterGrace(ctx context.Context, item string) error {
	// The listing comes first: plan.lua keeps a listed item on the agenda.
	if err := s.list(ctx, item, s.catalog.clock.now()+grace.Microseconds()); err != nil {
		return err
	}
	return s.scheduleIn(ctx, grace, item)
}

// list keeps an item on the agenda until a time, in µs since 1970.
func (s *Store) list(ctx context.Context, item string, until int64) error {
	return s.schedule(ctx, s.keys.Listing(), notEarlier, until, item)
}

func (s *Store) moderateKind(ctx context.Context, action, kind, member string, by Moderator) error {
	if err := definition.CheckKind(kind); err != nil {
		return err
	}
	if err := s.setHidden(ctx, Action{Action: action, Kind: kind, Member: member, Moderator: by}); err != nil {
		return err
	}
	d, _, err := s.leasedDefinitions(ctx)
	if err != nil {
		return err
	}
	for slot, rule := range d.boards {
		if rule.Kind == kind {
			// Now, and again when all nodes know. The first run may be on a node that does
			// not know yet, and other nodes may still write by the state before.
			if err := s.scheduleNow(ctx, slot); err != nil {
				return err
			}
			if err := s.scheduleAfterGrace(ctx, familyCursor(slot, "")); err != nil {
				return err
			}
		}
	}
	return nil
}

// setHidden records that a member is hidden or shown, and adds the act to the audit. An act
// that changes nothing leaves no line, so a repetition leaves none. After setHidden returns,
// this node applies the change.
func (s *Store) setHidden(ctx context.Context, act Action) error {
	if err := cmp.Or(definition.CheckMember(act.Member), act.Moderator.Check()); err != nil {
		return err
	}
	line, err := act.line()
	if err != nil {
		return err
	}
	scope := boardScope(act.Board)
	if act.Board == "" {
		scope = kindScope(act.Kind)
	}
	r := script.Censor.Run(ctx, s.rdb, []string{s.keys.Hidden(), s.keys.Shown(), s.keys.Definitions(), s.keys.Audit()},
		[]any{scope, act.Member, boolArg(act.Action == actionHide), maxHidden, line, auditKept, maxEmptied})
	if r.Err != nil {
		return fmt.Errorf("%s %q: %w", act.Action, act.Member, r.Err)
	}
	if r.Text() == "full" {
		return conflict("member", "would be one too many: at most %d members can be hidden", maxHidden)
	}
	_, err = s.catalog.readFresh(ctx)
	return err
}

// moderate hides and shows members of an instance up to the revision of m.
func (s *Store) moderate(ctx context.Context, instance string, r *definition.Compiled, m *moderation, periods []periodRecord) error {
	latest := m.latest(instance, r.Kind)
	if m.revision == 0 || len(periods) == 0 {
		return nil
	}
	var all []boardPeriod
	for _, p := range periods {
		for _, shard := range p.shards {
			all = append(all, boardPeriod{shard, p.Name})
		}
	}
	done, err := s.moderated(ctx, all)
	if err != nil {
		return err
	}
	for i, p := range all {
		if done[i].upTo > m.revision {
			return s.raiseRevision(ctx, done[i].upTo) // this node reads the moderation again before it returns here
		}
		forgotten := done[i].hides && done[i].upTo < m.forgotten
		if done[i].upTo < latest || forgotten || done[i].kind != "" && done[i].kind != r.Kind {
			if err := s.moderatePeriod(ctx, p, instance, r, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// boardPeriod is a period of a shard of an instance.
type boardPeriod struct{ shard, period string }

// moderated is the progress of the moderation of a board-period.
type moderated struct {
	upTo  int64  // the revision up to which all changes are applied
	kind  string // the kind for which they are; "" where it was not recorded
	hides bool   // it has hidden members
	shows int64  // number of members that are not hidden
}

// moderated reads the progress of some board-periods.
func (s *Store) moderated(ctx context.Context, periods []boardPeriod) ([]moderated, error) {
	pipe := s.rdb.Pipeline()
	values := make([]*redis.SliceCmd, len(periods))
	hidden, pending, shown := make([]*redis.IntCmd, len(periods)), make([]*redis.IntCmd, len(periods)), make([]*redis.IntCmd, len(periods))
	for i, p := range periods {
		k := s.keys.Board(p.shard, p.period)
		values[i] = pipe.HMGet(ctx, k.Meta, "moderated", "remoderate", "kind")
		hidden[i], pending[i], shown[i] = pipe.ZCard(ctx, k.Hidden), pipe.ZCard(ctx, k.Pending().Hidden), pipe.ZCard(ctx, k.Members)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	done := make([]moderated, len(periods))
	for i, v := range values {
		r := replyOf(v)
		upTo := r.OptionalNumber()
		if !r.TookNone() { // a change has begun and not ended: see moderate.lua
			upTo = r.Number()
		}
		done[i] = moderated{upTo: upTo, kind: r.Optional(), hides: hidden[i].Val()+pending[i].Val() > 0, shows: shown[i].Val()}
		if r.Err != nil {
			return nil, r.Err
		}
	}
	return done, nil
}

// moderatePeriod brings a board-period of an instance to the revision of m.
func (s *Store) moderatePeriod(ctx context.Context, p boardPeriod, instance string, r *definition.Compiled, m *moderation) error {
	k := s.keys.Board(p.shard, p.period)
	step := func(phase string, members []any) (bool, error) {
		args := append(scriptHead(r, k, p.shard, p.period), r.Shape, r.Limit, m.revision, r.Kind, phase, boolArg(r.IsBuilt()))
		reply := script.Moderate.Run(ctx, s.rdb, k.Freezing(), append(args, members...))
		return reply.Text() == "ok", reply.Err
	}
	if goesOn, err := step("begin", nil); err != nil || !goesOn {
		return err
	}
	// After the first step, no node with an older moderation can write to the period.
	at, err := s.moderated(ctx, []boardPeriod{p})
	if err != nil {
		return err
	}
	// A board with few members costs no more than these, however many members were hidden elsewhere.
	changed, all := m.since(instance, r.Kind, at[0].upTo, at[0].shows) // also members of other shards, which are not there
	if !all {
		if err := s.scanMembers(ctx, k.Members, func(member, _ string) {
			if m.hides(instance, r.Kind, member) {
				changed = append(changed, member)
			}
		}); err != nil {
			return err
		}
		if err := s.scanMembers(ctx, k.Pending().Members, func(member, _ string) {
			if m.hides(instance, r.Kind, member) {
				changed = append(changed, member)
			}
		}); err != nil {
			return err
		}
	}
	var parts []any
	for _, member := range changed {
		parts = append(parts, member, "1")
	}
	hidden := make(map[string]string)
	if err := cmp.Or(s.hiddenIn(ctx, k, hidden), s.pendingHiddenIn(ctx, k, hidden)); err != nil {
		return err
	}
	for member := range hidden {
		if !m.hides(instance, r.Kind, member) {
			parts = append(parts, member, "0")
		}
	}
	for {
		n, phase := min(len(parts), 2*moderateAtOnce), "part"
		if n == len(parts) {
			phase = "end"
		}
		if goesOn, err := step(phase, parts[:n]); err != nil || !goesOn || phase == "end" {
			return err
		}
		parts = parts[n:]
	}
}

// restoreModeration brings this node to a revision that a board already has. Redis may have
// lost that revision where it keeps the hidden members.
func (s *Store) restoreModeration(ctx context.Context, d *definitions, revision int64) error {
	d, err := s.catalog.readNewer(ctx, d)
	if err != nil || d.hidden.revision >= revision {
		return err
	}
	if err := s.raiseRevision(ctx, revision); err != nil {
		return err
	}
	_, err = s.catalog.readFresh(ctx)
	return err
}

// raiseRevision raises the stored revision of the moderation to at least the given one.
func (s *Store) raiseRevision(ctx context.Context, revision int64) error {
	return script.Raise.Run(ctx, s.rdb, []string{s.keys.Definitions()}, []any{revision}).Err
}

// forgetHidden shows all members that are hidden on an instance that is deleted.
func (s *Store) forgetHidden(ctx context.Context, instance string) error {
	d := s.catalog.latest.Load()
	if d == nil {
		return nil
	}
	scope := boardScope(instance)
	for members := range slices.Chunk(d.hidden.page(scope, "", maxHidden), unhiddenAtOnce) {
		args := appendTexts([]any{scope, maxEmptied}, members)
		if err := script.Unhide.Run(ctx, s.rdb, []string{s.keys.Hidden(), s.keys.Shown(), s.keys.Definitions()}, args).Err; err != nil {
			return err
		}
		if len(members) == unhiddenAtOnce {
			if err := pauseAfter(ctx, 2*gentleMost); err != nil {
				return err
			}
		}
	}
	return nil
}

// hiddenIn reads the hidden members of a board-period into hidden, with their sort keys.
func (s *Store) hiddenIn(ctx context.Context, k keyspace.BoardKeys, hidden map[string]string) error {
	return s.scanMembers(ctx, k.Hidden, func(member, key string) { hidden[member] = key })
}

// pendingHiddenIn is hiddenIn for what a frozen board-period keeps back.
func (s *Store) pendingHiddenIn(ctx context.Context, k keyspace.BoardKeys, hidden map[string]string) error {
	return s.scanMembers(ctx, k.Pending().Hidden, func(member, key string) { hidden[member] = key })
}

// scanMembers reads a sorted set of members and sort keys, in pages that share one Config.CallTimeout. It may find a member
// twice.
func (s *Store) scanMembers(ctx context.Context, set string, found func(member, key string)) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	var at scanPosition
	for more := true; more; more = at != (scanPosition{}) {
		r, err := s.scan(ctx, scansSet, []string{set}, moderationPage, &at)
		if err != nil {
			return err
		}
		pairs := r.List()
		for pairs.More() {
			found(pairs.Text(), pairs.Text())
		}
		if err := cmp.Or(r.Err, pairs.Err); err != nil {
			return err
		}
	}
	return nil
}
