package ranking

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// applyArgs is what a node knows of a board when it calls apply.lua, see there.
type applyArgs struct {
	rule       *definition.Compiled
	span       definition.Span
	hidden     *moderation
	leased     int64         // until when the node may rely on all this, µs since 1970
	listed     int64         // until when the script may create a board-period, µs since 1970; 0: it may not
	isBehind   bool          // more events of the window are over than the node can remove now
	ids        time.Duration // span of the request ids, see definitions.idSpan
	wantsWhole bool          // the plain script has said so of a board of the definition
	listedAs   listing       // where listed is set
}

// isPlain reports whether the plain form of apply.lua is enough for a batch with some flags.
func (a applyArgs) isPlain(flags string) bool {
	r := a.rule
	return !a.wantsWhole && !r.Ties.Tied() && r.Limit == 0 && r.MemberTTL == 0 && !r.IsWindowed() && r.Columns == nil &&
		a.hidden.revision == 0 && !strings.ContainsAny(flags, "dop")
}

// applyCall returns the next call of apply.lua for a batch, which is planned.
func (s *Store) applyCall(b *boardBatch) script.Call {
	a, batch := &b.args, b.waiting[:b.sent]
	r, k, span := a.rule, s.keys.Board(b.shard, a.span.Name), a.span
	const head, each = 21, 8
	args := make([]any, 0, head+each*len(batch))
	args = append(args, scriptHead(r, k, b.shard, span.Name)...)
	since, until := max(span.Opens, span.Starts), a.leased
	freezes := span.FreezesAt(r.Freeze)
	for _, end := range []int64{span.Closes, span.Ends, freezes} {
		if end > 0 {
			until = min(until, end)
		}
	}
	flags := applyFlags(r, batch)
	if a.listedAs == listedPending {
		flags += "p"
	}
	args = append(args, since, until, joined(span.Opens, span.Closes, span.Starts, span.Ends, a.leased, freezes), a.listed,
		joined(span.From, span.Length)+" "+newEpoch(), r.Shape, bounds(r), flags, joined(a.ids.Microseconds(), s.cfg.MaxIDs))
	sc, keys := script.ApplyPlain, k.Plain()
	if !a.isPlain(flags) {
		sc, keys = script.ApplyWhole, k.Head()
		window := ""
		if r.IsWindowed() {
			keys = append(append(keys, k.Window[:]...), s.keys.Build(b.instance).Lock)
			window = fmt.Sprintf("%d %s %s %s", r.Window.Milliseconds(), r.Mode, boolArg(r.IsLive()), boolArg(a.isBehind))
		} else {
			keys = append(keys, k.Pending().All()...)
		}
		args = append(args, r.Limit, r.MemberTTL.Microseconds(), a.hidden.revision, a.hidden.flags(b.instance, r.Kind, batch), r.Kind, window,
			columnsArg(r.Columns))
	}
	hasData := strings.Contains(flags, "d")
	for _, u := range batch {
		op, digest := u.op(r.Board), ""
		if u.ID != "" {
			digest = u.digest(r.Board)
		}
		args = append(args, op, u.Member, u.scoreArg(r), u.ID, digest, string(u.If))
		if hasData {
			args = append(args, u.Data)
		}
		if r.IsWindowed() {
			args = append(args, u.atMilli())
		}
	}
	return script.Call{Script: sc, Keys: keys, Args: args}
}

// bounds are the bounds of a score for apply.lua; "" for the widest.
func bounds(r *definition.Compiled) string {
	if r.Min == nil && r.Max == nil && r.MaxChange == 0 {
		return ""
	}
	return joined(r.LowestScore, r.HighestScore, r.LargestChange)
}

// columnsArg are the columns of a score for apply.lua.
func columnsArg(columns definition.Columns) string {
	numbers := make([]int64, 0, 3*len(columns))
	for _, c := range columns {
		numbers = append(numbers, -c.Order.Sign(), c.Min, c.Max)
	}
	return joined(numbers...)
}

// joined returns numbers as one argument.
func joined(numbers ...int64) string {
	b := make([]byte, 0, 64)
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(b)
}

// applyReply is the reply of apply.lua.
type applyReply struct {
	why      string // "ok", or what the node must find out before it calls again
	now      int64  // unless ok: Redis's clock, µs since 1970
	revision int64  // behind: of the moderation in force
	isFull   bool   // ok: the board may take no more ids
}

// takeApplyReply reads the reply to the call for a batch. When the reply is "ok", it sets the
// outcome of each update.
func (s *Store) takeApplyReply(instance string, r *definition.Compiled, reply *script.Reply, batch []updateItem) (a applyReply, err error) {
	if reply.Err != nil {
		return a, reply.Err
	}
	if a.why = reply.Text(); a.why == "full" {
		a.why, a.isFull = "ok", true
	}
	switch a.why {
	case "ok":
		if len(reply.Rest) != len(batch) {
			reply.Fail("does not fit the batch")
		}
	case "turn", "stale", "shape", "new", "wait", "due", "whole":
		a.now = reply.Number()
		return a, reply.Err
	case "behind":
		a.now, a.revision = reply.Number(), reply.Number()
		return a, reply.Err
	default:
		reply.Fail("has an unknown state of an update")
	}
	outcomes := make([]Outcome, len(batch))
	for i := range batch {
		text := reply.Text()
		if wait, full := parseRoomWait(text); full {
			outcomes[i].Err = s.errTooManyIDs(fmt.Sprintf("board %q", instance), wait)
		} else if outcomes[i], err = parseOutcome(r, text); err != nil {
			reply.Fail(err.Error())
		}
	}
	if reply.Err != nil {
		return a, reply.Err
	}
	for i, u := range batch {
		if r.Shards > 0 {
			outcomes[i].Result.Current.forgetRank()
			outcomes[i].Result.Previous.forgetRank()
		}
		if outcomes[i].Result.Frozen && u.override != setting {
			outcomes[i].Result.Current, outcomes[i].Result.Previous = nil, nil
		}
		*u.outcome = outcomes[i]
	}
	return a, nil
}

// scriptHead returns the first arguments of each script that changes a board-period: see
// board.lua. shard is the name under which Redis holds the board-period.
func scriptHead(r *definition.Compiled, k keyspace.BoardKeys, shard, period string) []any {
	return []any{k.Channel, shard, period, string(r.Ties), r.Order.Sign()}
}

// flags holds for each update whether its member is hidden, for apply.lua; it is empty when
// no member is.
func (m *moderation) flags(instance, kind string, batch []updateItem) string {
	if m.revision == 0 {
		return ""
	}
	members := make([]string, len(batch))
	for i, u := range batch {
		members[i] = u.Member
	}
	return m.flagsOf(instance, kind, members)
}

// flagsOf is flags for members.
func (m *moderation) flagsOf(instance, kind string, members []string) string {
	flags, any := make([]byte, len(members)), false
	for i, member := range members {
		if flags[i] = '0'; m.hides(instance, kind, member) {
			flags[i], any = '1', true
		}
	}
	if !any {
		return ""
	}
	return string(flags)
}

// parseOutcome reads one result string of apply.lua.
func parseOutcome(r *definition.Compiled, s string) (Outcome, error) {
	refused := func(field, reason string, kind error) (Outcome, error) {
		return Outcome{Err: &definition.FieldError{Field: field, Reason: reason, Kind: kind}}, nil
	}
	if len(s) == 1 && 'A' <= s[0] && s[0] <= 'Z' {
		outcome, err := parseOutcome(r, strings.ToLower(s))
		outcome.Result.Frozen = true
		return outcome, err
	}
	switch s {
	case "m":
		return refused("id", "was used for another update", definition.ErrIDMismatch)
	case "r":
		return refused("score", fmt.Sprintf("is, or results in, a score outside %d to %d", r.LowestScore, r.HighestScore),
			definition.ErrOutOfRange)
	case "c":
		return refused("score", fmt.Sprintf("changes the member's score by more than %d", r.LargestChange), definition.ErrOutOfRange)
	case "s":
		return refused("op", "is sum; on a board with a limit want best or last, because a member that leaves loses its sum",
			definition.ErrInvalid)
	case "g":
		return Outcome{Err: errNotOnBoard}, nil
	case "w":
		return refused("op", fmt.Sprintf("is not %s, the mode of the board; omit it on a board with a window", r.Mode), definition.ErrInvalid)
	case "x":
		return refused("data", "does not apply to a board with a window whose result is built; omit it, or define the board with refresh live",
			definition.ErrInvalid)
	case "o":
		return refused("at", fmt.Sprintf("is longer ago than the board's window of %s", definition.FormatDuration(r.Window)),
			definition.ErrOutOfRange)
	case "h":
		return refused("at", fmt.Sprintf("is more than %s ahead of now", definition.FormatDuration(definition.MaxAhead)),
			definition.ErrOutOfRange)
	case "p":
		return Outcome{Err: notOpen("the update counted in a period that has closed since")}, nil
	case "n":
		return Outcome{Err: notOpen(r.UpdateTimes())}, nil
	case "f":
		return Outcome{Err: fmt.Errorf("%w: the period was announced as closed, and Redis's clock was set back since",
			definition.ErrUnavailable)}, nil
	}
	if i := strings.Index("bejklquv", s); len(s) == 1 && i >= 0 && i < len(r.Columns) {
		return Outcome{Err: r.Columns.OutOfRange(i)}, nil
	}
	f := strings.Split(s, " ")
	takenBack := len(f) == 6 && f[5] == "t"
	if len(f) != 5 && !takenBack || f[0] == "" || f[0][0] != 'a' && f[0][0] != 'd' {
		return Outcome{}, fmt.Errorf("has the invalid result %q", s)
	}
	frozen := f[2] == "*"
	if frozen {
		f[2] = "-"
	}
	current, err := parseStanding(f[1], f[2])
	if err != nil {
		return Outcome{}, err
	}
	previous, err := parseStanding(f[3], f[4])
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Result: Result{Period: f[0][1:], Current: current, Previous: previous, Columns: r.Columns,
		Duplicate: f[0][0] == 'd', TakenBack: takenBack, Frozen: frozen}}, nil
}

func parseStanding(score, rank string) (*Standing, error) {
	if score == "-" && rank == "-" {
		return nil, nil
	}
	if rank == "-" {
		rank = "0" // the member is hidden
	}
	n, err := strconv.ParseInt(score, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("has the invalid score %q", score)
	}
	r, err := strconv.ParseInt(rank, 10, 64)
	if err != nil || r < 0 {
		return nil, fmt.Errorf("has the invalid rank %q", rank)
	}
	return &Standing{Score: n, Rank: r}, nil
}

// forgetRank removes a rank that is that of a shard.
func (s *Standing) forgetRank() {
	if s != nil {
		s.Rank = 0
	}
}

// boolArg is a script argument that is true or false.
func boolArg(is bool) string {
	if is {
		return "1"
	}
	return "0"
}

// applyFlags are the flags of a call of apply.lua. An update that leaves the score as it is counts as a write where that
// matters to retain.
func applyFlags(r *definition.Compiled, batch []updateItem) (flags string) {
	if r.Retain > 0 {
		flags = "t"
	}
	if slices.ContainsFunc(batch, func(u updateItem) bool { return u.override != none }) {
		flags += "o"
	}
	if slices.ContainsFunc(batch, func(u updateItem) bool { return u.Data != "" }) {
		flags += "d"
	}
	return flags
}
