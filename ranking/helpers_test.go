package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/definition/definitiontest"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// Shards is the number of shards of the boards of tests whose definition gives none and may give some; 0: none.
var Shards = definitiontest.Shards()

// patient is how the stores of tests wait.
var patient = Config{CallTimeout: redistest.CallTimeout}

// aAndUnion has the board "a" and the union "u", whose only source is "a".
var aAndUnion = []definition.Board{{Name: "a"}, {Name: "u", Union: &definition.Union{Of: []string{"a"}}}}

// newNode is one of several stores on one Redis.
func newNode(t testing.TB, url string) *Store {
	s := New(redistest.Dial(t, url), patient)
	t.Cleanup(s.Close)
	return s
}

// onTwoNodes is redistest.OnEngines with two nodes on one Redis, which have the boards.
func onTwoNodes(t *testing.T, boards []definition.Board, test func(t *testing.T, a, b *Store)) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		a := newNode(t, url)
		if boards != nil {
			define(t, a, boards...)
		}
		test(t, a, newNode(t, url))
	})
}

// onNode is onTwoNodes for a test of one node.
func onNode(t *testing.T, boards []definition.Board, test func(t *testing.T, s *Store)) {
	onTwoNodes(t, boards, func(t *testing.T, s, _ *Store) { test(t, s) })
}

// must returns the result of a call that the test needs to succeed: must(s.Page(…))(t). The message of a failure is as of
// [require.NoError].
func must[T any](result T, err error) func(t require.TestingT, msgAndArgs ...any) T {
	return redistest.Must(result, err)
}

// errorOf is the error of a call whose result the test does not look at.
func errorOf[T any](_ T, err error) error { return err }

// tester is a test, or a case of a property: helpers that fail the case let rapid shrink it, and print its seed.
type tester interface {
	require.TestingT
	Helper()
	Context() context.Context
}

func define(t testing.TB, s *Store, boards ...definition.Board) {
	t.Helper()
	require.NoError(t, s.Define(t.Context(), definition.Set{Boards: boards}))
}

// defineEvent defines the event "gift", which gives {n} to a number of members on each of the boards.
func defineEvent(t testing.TB, s *Store, members int, boards ...string) {
	t.Helper()
	e := definition.Event{Name: "gift"}
	for _, board := range boards {
		for i := range members {
			e.Updates = append(e.Updates, definition.Target{Board: board, Member: fmt.Sprintf("{user}%d", i), Score: "{n}"})
		}
	}
	require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{e}}))
}

// targetOf is a board as a caller finds it that updates it.
func targetOf(t require.TestingT, s *Store, board string) *target {
	n := must(definition.ParseName(board))(t)
	return must(s.writable(context.Background(), n, time.Now()))(t)
}

func apply(t tester, s *Store, board string, u definition.Update) Outcome {
	t.Helper()
	return must(ApplyOne(t.Context(), s, board, u))(t)
}

// ApplyOne applies one update. Shards answer without ranks, so it reads the rank of the member just before the update and just after. Its
// outcome then equals that of a board without shards, if nobody else writes between these reads. A retry has no ranks.
func ApplyOne(ctx context.Context, s *Store, board string, u definition.Update) (Outcome, error) {
	before := rankOf(ctx, s, board, u.Member)
	outcomes, err := s.Apply(ctx, board, []definition.Update{u})
	if err != nil {
		return Outcome{}, err
	}
	o := outcomes[0]
	if o.Err == nil && Shards > 0 && !o.Result.Duplicate {
		if o.Result.Previous != nil && o.Result.Previous.Rank == 0 {
			o.Result.Previous.Rank = before
		}
		if o.Result.Current != nil && o.Result.Current.Rank == 0 {
			o.Result.Current.Rank = rankOf(ctx, s, board, u.Member)
		}
	}
	return o, nil
}

// rankOf reads the rank of a member where boards have shards; 0: there is none.
func rankOf(ctx context.Context, s *Store, board, member string) int64 {
	if Shards == 0 {
		return 0
	}
	if rule, err := s.compiledNamed(ctx, board); err != nil || rule.Shards == 0 {
		return 0
	}
	n, err := s.Places(ctx, board, []Lookup{{Member: member}})
	if err != nil {
		return 0
	}
	return n.List[0].Entry.Rank
}

// Answered is the result that a write answers. On a board with shards, it has no ranks.
func Answered(r Result) Result {
	for _, s := range []**Standing{&r.Current, &r.Previous} {
		if Shards > 0 && *s != nil {
			*s = &Standing{Score: (*s).Score}
		}
	}
	return r
}

// IfSharded returns its argument, which an answer says of each shard. It returns nil if the boards of this run have no shards.
func IfSharded[T any](ofShards []T) []T {
	if Shards == 0 {
		return nil
	}
	return ofShards
}

// keysOf are the keys of a period of an instance, of the shard of a member if boards have shards.
func keysOf(s *Store, instance, period, member string) keyspace.BoardKeys {
	return s.keys.Board(NameOf(instance, member, Shards), period)
}

func score(t testing.TB, s *Store, board, member string) int64 {
	t.Helper()
	return must(s.Around(t.Context(), board, member, 0))(t).Entry.Score
}

// aged sets the age of a node's copy of the definitions, by the clock of the node.
func aged(s *Store, age time.Duration) {
	d := *s.catalog.latest.Load()
	d.at = time.Now().Add(-age)
	s.catalog.latest.Store(&d)
}

// stall makes a node take its copy of the definitions for a young one, as if the process had stopped during a call.
func stall(s *Store) { aged(s, -time.Hour) }

// holdDefinitions makes a node use its copy of the definitions for an hour, also by the clock of Redis. The node
// reads no definitions between the calls that a test counts, however long the test takes.
func holdDefinitions(s *Store) {
	stall(s)
	d := *s.catalog.latest.Load()
	d.readAt += time.Hour.Microseconds()
	s.catalog.latest.Store(&d)
}

// two are boards that an erasure goes through in their order.
func two(time.Time) []definition.Board {
	return []definition.Board{{Name: "a", Kind: "user"}, {Name: "b", Kind: "user"}}
}

// look makes a look at a board, as recordDue does.
func look(t testing.TB, s *Store, board string) *historyLook {
	r, err := s.compiledNamed(t.Context(), board)
	require.NoError(t, err)
	l := s.newHistoryLook(board, r, r.CurrentPeriod(s.catalog.clock.now()))
	s.record(t.Context(), []*historyLook{l})
	require.NoError(t, l.err)
	return l
}

// occurs returns an occurrence of an event. fields are names and values in turn; a value is a text or a number.
func occurs(id string, fields ...any) EventCall {
	o := EventCall{ID: id, Fields: make(map[string]jsontext.Value)}
	for i := 0; i < len(fields); i += 2 {
		value, err := jsontext.Value(fmt.Sprint(fields[i+1])), error(nil)
		if text, ok := fields[i+1].(string); ok {
			value, err = jsontext.AppendQuote(nil, text)
		}
		if err != nil {
			panic(err)
		}
		o.Fields[fields[i].(string)] = value
	}
	return o
}

// Occurs is occurs, for the tests outside of the package.
var Occurs = occurs

// happen sends an occurrence of an event, with fields as occurs takes them, and returns its result.
func happen(t tester, s *Store, event, id string, fields ...any) EventResult {
	t.Helper()
	h := must(s.ApplyEvents(t.Context(), event, []EventCall{occurs(id, fields...)}))(t)
	require.NoError(t, h[0].Err)
	return h[0]
}

func occurrenceOf(id string) EventCall { return occurs(id, "user", "u", "n", 3) }

// giftEvent defines boards of each mode that one event updates.
func giftEvent(t testing.TB, s *Store) {
	t.Helper()
	require.NoError(t, s.Define(t.Context(), definition.Set{
		Boards: []definition.Board{{Name: "stars"}, {Name: "fans:{star}", Ties: definition.Dense},
			{Name: "biggest", Mode: definition.Best}, {Name: "latest", Mode: definition.Last, MaxChange: 5}},
		Events: []definition.Event{{Name: "gift", Updates: []definition.Target{
			{Board: "stars", Member: "{star}", Score: "{n}"},
			{Board: "fans:{star}", Member: "{user}", Score: "{n}"},
			{Board: "biggest", Member: "{user}", Score: "{n}"},
			{Board: "latest", Member: "{star}", Score: "{n}"},
		}}}}))
}

func give(t testing.TB, s *Store, id, star, user string, n int) EventResult {
	t.Helper()
	return happen(t, s, "gift", id, "star", star, "user", user, "n", n)
}

// giftTo is an occurrence of an event with the fields star and n.
func giftTo(id, star string, n int) EventCall { return occurs(id, "star", star, "n", n) }

// feedOfGifts returns a function that returns what the feed of the event gift has told since its last
// call.
func feedOfGifts(t *testing.T, s *Store) func() string {
	const end = "end:f:gift"
	feed := s.rdb.PSubscribe(t.Context(), "*:f:gift")
	t.Cleanup(func() { feed.Close() })
	must(feed.Receive(t.Context()))(t)
	return func() string {
		require.NoError(t, s.rdb.Publish(t.Context(), end, "").Err())
		for told := ""; ; {
			m := must(feed.ReceiveMessage(t.Context()))(t)
			if m.Channel == end {
				return told
			}
			told += m.Payload
		}
	}
}

// pointEvent defines an event "e" that gives "m" points on some boards.
func pointEvent(t testing.TB, s *Store, boards ...definition.Board) {
	t.Helper()
	e := definition.Event{Name: "e"}
	for _, b := range boards {
		e.Updates = append(e.Updates, definition.Target{Board: b.Name, Member: "m", Score: "{n}"})
	}
	require.NoError(t, s.Define(t.Context(), definition.Set{Boards: boards, Events: []definition.Event{e}}))
}

func point(t testing.TB, s *Store, id string, n int) EventResult {
	t.Helper()
	return happen(t, s, "e", id, "n", n)
}

func takeBack(t testing.TB, s *Store, id string) TakenBack {
	t.Helper()
	return must(s.TakeBack(t.Context(), "e", id, nil, Moderator{}))(t)
}

func given(id string) []EventCall { return []EventCall{occurs(id, "x", "x", "n", 3)} }

// outcomesOf returns the outcomes of an event, and its error.
func outcomesOf(h []EventResult, err error) ([]Outcome, error) {
	if err != nil {
		return nil, err
	}
	return h[0].Outcomes, h[0].Err
}

// inOneAndThreeTrips runs a test on both engines, with events that take one trip and with events that
// take three. prepare makes a store so.
func inOneAndThreeTrips(t *testing.T, test func(t *testing.T, url string, prepare func(*Store))) {
	redistest.Engines(t, func(t *testing.T, url string) {
		test(t, url, func(*Store) {})
	})
	t.Run("three trips", func(t *testing.T) {
		redistest.Engines(t, func(t *testing.T, url string) {
			test(t, url, (*Store).useThreeTrips)
		})
	})
}

// whole reads all of a board.
func whole(t testing.TB, s *Store, board string) Page {
	t.Helper()
	p := must(s.Page(t.Context(), board, 1, MaxPage))(t)
	require.EqualValues(t, p.Total, len(p.Entries))
	require.Len(t, scoresOf(p), len(p.Entries), "a member is listed twice")
	return p
}

func scoresOf(p Page) map[string]int64 {
	scores := make(map[string]int64, len(p.Entries))
	for _, e := range p.Entries {
		scores[e.Member] = e.Score
	}
	return scores
}

func names(words []feedWord) (names []string) {
	for _, word := range words {
		names = append(names, word.name())
	}
	return names
}

// entriesOf lists "member score rank" of a board.
func entriesOf(t testing.TB, s *Store, board string) []string {
	t.Helper()
	p := must(s.Page(t.Context(), board, 1, 100))(t)
	list := []string{}
	for _, e := range p.Entries {
		list = append(list, fmt.Sprintf("%s %d #%d", e.Member, e.Score, e.Rank))
	}
	return list
}

func contentOf(m *moderation) moderationContent {
	c := moderationContent{members: make(map[string]int64), scopes: make(map[string]scopeState)}
	m.members.Scan(func(entry string, revision int64) bool { c.members[entry] = revision; return true })
	m.scopes.Scan(func(scope string, state scopeState) bool { c.scopes[scope] = state; return true })
	c.emptied = m.emptied.Values()
	return c
}

// lookAtHidden reads the moderation on a node.
func lookAtHidden(t testing.TB, s *Store) *moderation {
	t.Helper()
	return must(s.catalog.readFresh(t.Context()))(t).hidden
}

// contents are all keys with what they hold.
func contents(t testing.TB, s *Store) map[string]string {
	all := make(map[string]string)
	for _, key := range s.rdb.Keys(t.Context(), "*").Val() {
		all[key] = s.rdb.Dump(t.Context(), key).Val()
		if s.rdb.Type(t.Context(), key).Val() == "hash" {
			all[key] = fmt.Sprint(s.rdb.HGetAll(t.Context(), key).Val())
		}
	}
	return all
}

// holds makes a store the builder of a board. seen is when the result that the store replaces was built, in µs since
// 1970; 0: there is none.
func holds(t testing.TB, s *Store, board string, seen int64) *builder {
	t.Helper()
	_, until, err := s.leasedDefinitions(t.Context())
	require.NoError(t, err)
	w := &builder{s: s, instance: board, rule: must(s.compiledNamed(t.Context(), board))(t), keys: s.keys.Board(board, ""),
		its: s.keys.Build(board), token: newEpoch()}
	require.True(t, must(w.lock(t.Context(), until, seen, new(build)))(t))
	return w
}

// missing says which of some names are not among others.
func missing(want, have []string) error {
	for _, name := range want {
		if !slices.Contains(have, name) {
			return fmt.Errorf("%s is not among %v", name, have)
		}
	}
	return nil
}

// countsAs sends an update under an id, and reports whether it counts.
func countsAs(t require.TestingT, s *Store, board, id string) bool {
	outcomes := must(s.Apply(context.Background(), board, []definition.Update{{Member: "m", Score: 1, ID: id}}))(t)
	require.NoError(t, outcomes[0].Err)
	return !outcomes[0].Result.Duplicate
}

// updatesBy returns the number of updates with each result that occurred.
func updatesBy(s *Store) map[string]float64 {
	counts := make(map[string]float64)
	for _, result := range []string{updateApplied, updateDuplicate, updateRefused, updateTooManyIDs, updateOverloaded,
		updateUnavailable, updateUnknown} {
		if n := testutil.ToFloat64(s.metrics.updates.WithLabelValues(result)); n > 0 {
			counts[result] = n
		}
	}
	return counts
}

// refused checks that err is a FieldError of kind ErrInvalid at a field.
func refused(t require.TestingT, err error, field string, msgAndArgs ...any) {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	require.NotEmpty(t, Refuses(t, field, definition.ErrInvalid, err, msgAndArgs...).Reason, msgAndArgs...)
}

// Refuses requires that an error is a FieldError of a kind at a field, and returns it.
func Refuses(t require.TestingT, field string, kind, err error, msgAndArgs ...any) *definition.FieldError {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	var fe *definition.FieldError
	require.ErrorAs(t, err, &fe, msgAndArgs...)
	require.Equal(t, field, fe.Field, msgAndArgs...)
	require.ErrorIs(t, err, kind, msgAndArgs...)
	return fe
}

// audited lists "action member-or-id" of the audit, the latest line last.
func audited(t testing.TB, s *Store) []string {
	t.Helper()
	lines := must(s.Audit(t.Context(), "", MaxAudit))(t)
	list := []string{}
	for i := len(lines) - 1; i >= 0; i-- {
		list = append(list, lines[i].Action+" "+lines[i].Member+lines[i].ID)
	}
	return list
}

// counted notes how often scripts were answered.
type counted struct {
	mu sync.Mutex
	of map[string]int
}

func count(stores ...*Store) *counted {
	c := &counted{of: make(map[string]int)}
	for _, s := range stores {
		s.rdb.AddHook(&cutter{answered: func(sc string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.of[sc]++
		}})
	}
	return c
}

func (c *counted) times(sc script.Script) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[sc.Name]
}

// countCalls returns a function that returns how often each script was called since its last call.
func countCalls(s *Store) func() map[string]int {
	c := count(s)
	return func() map[string]int {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := c.of
		c.of = make(map[string]int)
		return was
	}
}

// old sets the age of a result, on all nodes.
func old(t testing.TB, age time.Duration, board string, stores ...*Store) {
	t.Helper()
	s := stores[0]
	meta := s.keys.Board(board, "").Meta
	require.NotZero(t, must(s.builtAt(t.Context(), meta))(t))
	now := s.rdb.Time(t.Context()).Val().UnixMicro()
	require.NoError(t, s.rdb.HSet(t.Context(), meta, builtField, now-age.Microseconds()).Err())
	for _, s := range stores {
		s.builds.note(board, 0)
	}
}

const day24 = 24 * time.Hour

// after calls what once, as soon as a script of s was answered once more than times.
func after(t testing.TB, s *Store, sc script.Script, times int, what func()) {
	t.Helper()
	knows(t, s, sc)
	var seen atomic.Int64
	s.rdb.AddHook(&cutter{answered: func(name string) {
		if name == sc.Name && seen.Add(1) == int64(times)+1 {
			what()
		}
	}})
}

func longest(took []time.Duration) (most time.Duration, waited int) {
	for _, d := range took {
		if most = max(most, d); d > 0 {
			waited++
		}
	}
	return most, waited
}

// together runs a call of many callers at one time and tells how long each took.
func together(callers int, call func() error) (took []time.Duration, errs []error) {
	took, errs = make([]time.Duration, callers), make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			start := time.Now()
			errs[i] = call()
			took[i] = time.Since(start)
		})
	}
	wg.Wait()
	return took, errs
}

// waitsForTurn wants a read to wait while another caller has the turn, and then to succeed.
func waitsForTurn(t *testing.T, s *Store, read func(ctx context.Context) error) {
	t.Helper()
	waits, done := make(chan struct{}), make(chan error, 1)
	require.NoError(t, s.inTurn(t.Context(), func() error {
		go func() { done <- read(waitingCaller{t.Context(), sync.OnceFunc(func() { close(waits) })}) }()
		select {
		case <-waits:
			return nil
		case err := <-done:
			return fmt.Errorf("the read did not wait; its error: %w", err)
		}
	}))
	require.NoError(t, redistest.Receive(t, "the run to end", done))
}

// calls is how often a Redis has carried a command out.
func calls(t testing.TB, r *redistest.Redis, command string) int {
	t.Helper()
	info := must(r.Admin().Info(t.Context(), "commandstats").Result())(t)
	m := regexp.MustCompile(`cmdstat_` + command + `:calls=(\d+)`).FindStringSubmatch(info)
	if m == nil {
		return 0
	}
	return must(strconv.Atoi(m[1]))(t)
}

// whileErasing calls do when a node has taken a member from the n-th board, before the node notes that.
func whileErasing(t testing.TB, s *Store, n int64, do func()) {
	require.NoError(t, s.rdb.ScriptLoad(t.Context(), script.Erase.Source).Err()) // so that it is called once for each
	var erased atomic.Int64
	s.rdb.AddHook(&cutter{answered: func(sc string) {
		if sc == script.Erase.Name && erased.Add(1) == n {
			do()
		}
	}})
}

// at calls do before the n-th command, from 0, that a client sends from now on. Where do returns an error, that
// command and all later ones fail with it. Reads of the definitions do not count: a slow node reads them in the background.
func at(rdb redis.UniversalClient, n int, do func() error) *steps {
	s := &steps{at: int64(n), do: do}
	rdb.AddHook(redistest.Hook(s.pass))
	return s
}

type steps struct {
	sent atomic.Int64
	at   int64
	do   func() error
	fail atomic.Pointer[error] // of all commands from then on
}

func (s *steps) step() error {
	if s.sent.Add(1)-1 == s.at {
		if err := s.do(); err != nil {
			s.fail.Store(&err)
		}
	}
	if err := s.fail.Load(); err != nil {
		return *err
	}
	return nil
}

// isAside reports whether a command is no step of a call: the reads of the catalog, and what opens a connection, are sent
// beside the call of the test, by goroutines that the call does not wait for.
func isAside(cmd redis.Cmder) bool {
	return scriptOf(cmd) == script.Catalog.Name || cmd.Name() == "hello" || cmd.Name() == "client"
}

func (s *steps) pass(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
	if s.fail.Load() != nil || !isAside(cmds[0]) {
		if err := s.step(); err != nil {
			return err
		}
	}
	return send(ctx, cmds)
}

// betweenCommands calls do before each command of the calls of a store, those of a pipeline one by one: another client
// may come between any two of them. do is never called twice at one time.
func betweenCommands(s *Store, do func()) {
	s.rdb.AddHook(redistest.Hook(func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) (err error) {
		for _, cmd := range cmds {
			if !isAside(cmd) {
				do()
			}
			err = cmp.Or(err, send(ctx, []redis.Cmder{cmd}))
		}
		return err
	}))
}

var errCut = errors.New("cut on purpose")

// fate is what becomes of a call of a script.
type fate int

const (
	passes fate = iota
	isLost      // before Redis has it
	isDone      // but its answer is lost
)

// fateAt lets calls pass up to the one with a number, from 0 on, and gives that one a fate and the later
// ones another. calls counts them.
func fateAt(calls *atomic.Int64, at int64, there, beyond fate) func(string) fate {
	return func(string) fate {
		switch n := calls.Add(1) - 1; {
		case n < at:
			return passes
		case n == at:
			return there
		default:
			return beyond
		}
	}
}

// cutter is a hook that says of each script what becomes of it, and hears of each that
// was answered.
type cutter struct {
	fate     func(sc string) fate
	answered func(sc string)
}

func (c *cutter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *cutter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return redistest.Hook(c.pass).ProcessHook(next)
}

func (c *cutter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return redistest.Hook(c.pass).ProcessPipelineHook(next)
}

func (c *cutter) pass(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
	fates, names := make([]fate, len(cmds)), make([]string, len(cmds))
	var there []redis.Cmder
	var err error
	for i, cmd := range cmds {
		if names[i] = scriptOf(cmd); names[i] != "" && c.fate != nil {
			fates[i] = c.fate(names[i])
		}
		if fates[i] == isLost {
			err = errCut
			cmd.SetErr(err)
			continue
		}
		there = append(there, cmd)
	}
	if len(there) > 0 {
		err = cmp.Or(send(ctx, there), err)
	}
	for i, cmd := range cmds {
		if fates[i] == isDone {
			err = errCut
			cmd.SetErr(err)
		} else if fates[i] == passes && names[i] != "" && c.answered != nil {
			c.answered(names[i])
		}
	}
	return err
}

// cut decides the fate of each call of one script that a store makes.
func cut(s *Store, sc script.Script, decide func() fate) {
	s.rdb.AddHook(&cutter{fate: func(name string) fate {
		if name != sc.Name {
			return passes
		}
		return decide()
	}})
}

// loseCall loses one call of a script: the one that begins when left is 0. Each call takes 1 from left.
func loseCall(s *Store, sc script.Script, left *atomic.Int64) {
	cut(s, sc, func() fate {
		if left.Add(-1) == -1 {
			return isLost
		}
		return passes
	})
}

// scriptOf names the script that a command calls; "" for none.
func scriptOf(cmd redis.Cmder) string {
	if call, ok := cmd.(interface{ Script() string }); ok {
		return call.Script()
	}
	return ""
}

// seconds are boards with periods of a second.
func seconds(now time.Time) []definition.Board {
	return []definition.Board{
		{Name: "stars", Period: "1s", Base: now.Truncate(time.Second)},
		{Name: "fans:{star}", Period: "1s", Base: now.Truncate(time.Second)},
	}
}

// profileReads counts the pipelines that read profiles, and loses them while lose is set. It lets the
// pipelines pass by which a client greets Redis on a new connection.
type profileReads struct {
	sent atomic.Int64
	lose atomic.Bool
}

func (p *profileReads) pass(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
	if cmds[0].Name() != "hmget" {
		return send(ctx, cmds)
	}
	p.sent.Add(1)
	if !p.lose.Load() {
		return send(ctx, cmds)
	}
	for _, c := range cmds {
		c.SetErr(errCut)
	}
	return errCut
}

// heapGrowth is GOGC for the tests: the heap grows by this percentage of the live heap before
// the next collection. The embedded store makes much garbage. With 100, Go's default, the
// collector takes a fifth of the tests' CPU. With 400 the tests need more than 1 GiB.
const heapGrowth = 200

func TestMain(m *testing.M) {
	debug.SetGCPercent(heapGrowth)
	redistest.Main(m)
}
