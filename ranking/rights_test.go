package ranking_test

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// allRights are the ACL rules of a user who may do what the documentation asks for.
var allRights = []string{"~rc:*", "&rc:*", "+@all", "-@dangerous", "-@admin", "+info"}

// without returns all rights and then further rules.
func without(rules ...string) []string { return append(append([]string{}, allRights...), rules...) }

// checksRights runs the checks of rights of a node until the test ends, and returns their log.
func checksRights(t *testing.T, s *ranking.Store) *redistest.Log {
	log := new(redistest.Log)
	ended := redistest.Go(func() { s.RunRightsChecks(t.Context(), slog.New(slog.NewTextHandler(log, nil))) })
	t.Cleanup(func() { <-ended })
	return log
}

// goesOn waits until the log says a number of times that the node goes on.
func goesOn(t *testing.T, log *redistest.Log, times int) {
	t.Helper()
	redistest.Eventually(t, "the log", func() error {
		if n := strings.Count(log.String(), "Redis allows what this node needs"); n != times {
			return errors.New(log.String())
		}
		return nil
	})
}

// A check names the missing right. No update counts before the operator grants it.
func TestMissingRights(t *testing.T) {
	t.Parallel()
	const (
		publish = "PUBLISH rc:probe:*, PUBLISH rc:{*}:c, PUBLISH rc:{/}:f:*, PUBLISH rc:{/}:profiles: ERR "
		zadd    = "redis user \"app\": ZADD: ERR "
	)
	for name, c := range map[string]struct {
		rules   []string
		reasons []string // up to the words of Redis, which change with its version
	}{
		"no channels": {[]string{"~rc:*", "+@all"}, []string{ // Redis 7 gives a new user no channels
			publish, "SUBSCRIBE rc:probe:*, SUBSCRIBE rc:{*}:c, SUBSCRIBE rc:{/}:f:*, SUBSCRIBE rc:{/}:profiles: NOPERM "}},
		"channels but that of profiles": {[]string{"~rc:*", "&rc:{*}:c", "&rc:{/}:f:*", "&rc:probe:*", "+@all"}, []string{
			"PUBLISH rc:{/}:profiles: ERR ", "; redis user \"app\": SUBSCRIBE rc:{/}:profiles: NOPERM "}},
		"no PUBLISH":                {without("-publish"), []string{publish}},
		"no SUBSCRIBE":              {without("-subscribe"), []string{"SUBSCRIBE rc:{/}:profiles: NOPERM "}},
		"no UNSUBSCRIBE":            {without("-unsubscribe"), []string{"UNSUBSCRIBE: NOPERM "}},
		"no ZADD":                   {without("-zadd"), []string{zadd}},
		"no HSET nor UNLINK":        {without("-hset", "-unlink"), []string{"HSET, UNLINK: ERR "}},
		"no UNLINK nor DEL":         {without("-hset", "-unlink", "-del"), []string{"DEL, HSET, UNLINK: ERR "}},
		"no EVAL":                   {without("-eval"), []string{"EVAL rc:{*}:*, EVAL rc:{/}:*: NOPERM "}},
		"no EVALSHA":                {without("-evalsha"), []string{"EVALSHA rc:{*}:*, EVALSHA rc:{/}:*: NOPERM "}},
		"keys of definitions alone": {[]string{"~rc:{/}:*", "&rc:*", "+@all"}, []string{"EVAL rc:{*}:*, EVALSHA rc:{*}:*: NOPERM "}},
		"keys to read alone": {[]string{"%R~rc:*", "&rc:*", "+@all"},
			[]string{"EVAL rc:{*}:*, EVAL rc:{/}:*, EVALSHA rc:{*}:*, EVALSHA rc:{/}:*: NOPERM "}},
		"the id of Redis": {without("-info"), []string{"INFO: ERR "}},
		"several":         {[]string{"~rc:*", "+@all", "-zadd"}, []string{publish, "; " + zadd}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := redistest.Start(t, redistest.WithDebug...)
			open(t, r.URL(), definition.Board{Name: "stars"})
			s := newNode(t, r.AppURL(c.rules...), ranking.Config{})
			before := r.Digest()
			err := s.CheckRights(t.Context())
			for _, reason := range c.reasons {
				require.ErrorContains(t, err, reason)
			}
			require.Equal(t, before, r.Digest(), "a check leaves nothing behind")
			require.Equal(t, err, s.MissingRights())
			requireRefused(t, r, s, c.reasons[0])

			r.AppURL(allRights...)
			require.NoError(t, s.CheckRights(t.Context()))
			require.NoError(t, s.MissingRights())
			require.Equal(t, applied(1, 1, nil), applyOne(t, s, "stars", definition.Update{Member: "ana", Score: 1, ID: "1"}))
		})
	}
}

// A Redis whose configuration renames a command is told from a user who may not run the command.
func TestRenamedCommands(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"PUBLISH", "ZADD", "SUBSCRIBE", "UNLINK", "EVALSHA"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := redistest.Start(t, append([]string{"--rename-command", command, ""}, redistest.WithDebug...)...)
			s := newNode(t, r.URL(), ranking.Config{})
			require.Error(t, s.CheckRights(t.Context()))
			reason := s.MissingRights().(*definition.MissingRightsError).Reason
			require.Regexp(t, command+`.*: ERR [Uu]nknown`, reason)
			require.Empty(t, allKeys(t, r.URL()))
			requireRefused(t, r, s, reason)
			require.ErrorContains(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b"}}}), reason)
			require.Empty(t, allKeys(t, r.URL()))
		})
	}
}

// With all rights a check succeeds, and leaves nothing behind.
func TestCheckLeavesNothingBehind(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url)
		before := allKeys(t, url)
		require.NoError(t, s.CheckRights(t.Context()))
		require.NoError(t, s.MissingRights())
		require.Equal(t, before, allKeys(t, url))
	})
}

// Before a check has succeeded once, an update does not count by chance: Redis may answer a moment
// after the check.
func TestNoWriteBeforeTheFirstCheck(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, redistest.WithDebug...)
	open(t, r.URL(), definition.Board{Name: "stars"})
	r.Kill()
	rdb := must(ranking.Open(r.URL()))(t)
	t.Cleanup(func() { rdb.Close() })
	s := ranking.New(rdb, ranking.Config{})
	t.Cleanup(s.Close)
	require.ErrorIs(t, s.CheckRights(t.Context()), definition.ErrUnavailable)
	require.NoError(t, s.MissingRights(), "nothing is known to be missing")
	r.Start()
	before := r.Digest()
	_, err := s.Apply(t.Context(), "stars", []definition.Update{{Member: "ana", Score: 1}})
	require.ErrorIs(t, err, definition.ErrUnavailable)
	require.Equal(t, before, r.Digest())
	require.NoError(t, s.CheckRights(t.Context()))
	require.Equal(t, applied(1, 1, nil), applyOne(t, s, "stars", definition.Update{Member: "ana", Score: 1}))

	// Later, an outage closes nothing: the answers decide.
	r.Kill()
	require.ErrorIs(t, s.CheckRights(t.Context()), definition.ErrUnavailable)
	r.Start()
	redistest.Eventually(t, "Redis to answer", func() error { return s.Ping(t.Context()) })
	require.Equal(t, applied(2, 1, &ranking.Standing{Score: 1, Rank: 1}), applyOne(t, s, "stars", definition.Update{Member: "ana", Score: 1}))
}

// A user loses the right to publish while the node runs, and no check has noticed yet: nothing that
// cannot be published is written, and a retry counts once.
func TestRightsLostBeforeACheck(t *testing.T) {
	t.Parallel()
	for name, rules := range map[string][]string{"channels": {"~rc:*", "+@all"}, "publish": without("-publish"),
		"hset": without("-hset"), "keys": {"&rc:*", "+@all"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := redistest.Start(t, redistest.WithDebug...)
			s := open(t, r.AppURL(allRights...), definition.Board{Name: "stars", Kind: "user"},
				definition.Board{Name: "hour", Window: 3600e9, Refresh: definition.Live})
			require.NoError(t, s.CheckRights(t.Context()))
			update := []definition.Update{{Member: "ana", Score: 1, ID: "1"}}
			for _, board := range []string{"stars", "hour"} {
				applyOne(t, s, board, definition.Update{Member: "bob", Score: 5})
			}
			set := func() error {
				return errorOf(s.SetProfile(t.Context(), "user", "ana", ranking.Profile{Name: "Ana"}))
			}
			require.NoError(t, set())

			r.AppURL(rules...)
			before := r.Digest()
			var missing *definition.MissingRightsError // though no check has run
			for _, board := range []string{"stars", "hour"} {
				_, err := s.Apply(t.Context(), board, update)
				require.ErrorIs(t, err, definition.ErrUnavailable)
				_, removal := s.Remove(t.Context(), board, "bob")
				require.ErrorIs(t, removal, definition.ErrUnavailable)
				if name != "keys" { // Redis refuses the call, and its answer does not tell whether the script had begun
					require.ErrorAs(t, err, &missing)
					require.NotErrorIs(t, err, definition.ErrOutcomeUnknown)
					require.ErrorAs(t, removal, &missing)
				}
			}
			if name != "hset" { // a profile needs none
				require.ErrorIs(t, set(), definition.ErrUnavailable)
			}
			require.Equal(t, before, r.Digest())

			r.AppURL(allRights...)
			for _, board := range []string{"stars", "hour"} {
				require.Equal(t, applied(1, 2, nil), applyOne(t, s, board, update[0]))
				again := applyOne(t, s, board, update[0])
				require.True(t, again.Result.Duplicate)
				require.EqualValues(t, 1, again.Result.Current.Score)
			}
		})
	}
}

// The first command that Redis refuses brings about a check, also one of an event's feed or of the
// audit. The log has each reason once, and the node goes on by itself when the right is there.
func TestRightsLostAndGranted(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, redistest.WithDebug...)
	s := open(t, r.AppURL(allRights...), definition.Board{Name: "stars"})
	require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{{Name: "gift",
		Updates: []definition.Target{{Board: "stars", Member: "{m}", Score: "1"}}}}}))
	require.NoError(t, s.CheckRights(t.Context()))
	log := checksRights(t, s)
	gift := []ranking.EventCall{{ID: "1", Fields: map[string]jsontext.Value{"m": jsontext.Value(`"ana"`)}}}
	update := []definition.Update{{Member: "ana", Score: 1}}
	for i, c := range []struct {
		rules  []string
		write  func() error
		reason string
	}{
		{[]string{"~rc:*", "&rc:{*}:c", "&rc:probe:*", "&rc:{/}:profiles", "+@all"}, func() error {
			return errorOf(s.ApplyEvents(t.Context(), "gift", gift))
		}, "PUBLISH rc:{/}:f:*"},
		{without("-xadd"), func() error { return s.Hide(t.Context(), "stars", "bob", ranking.Moderator{}) }, "XADD"},
		{without("-zadd"), func() error { return errorOf(s.Apply(t.Context(), "stars", update)) }, "ZADD"},
	} {
		r.AppURL(c.rules...)
		require.ErrorIs(t, c.write(), definition.ErrUnavailable)
		redistest.Until(t, "a check", func() bool { return s.MissingRights() != nil })
		before := r.Digest()
		_, err := s.Apply(t.Context(), "stars", update)
		var missing *definition.MissingRightsError
		require.ErrorAs(t, err, &missing)
		require.Contains(t, missing.Reason, c.reason)
		must(s.Page(t.Context(), "stars", 1, 10))(t, "reads go on")
		require.Equal(t, before, r.Digest())

		r.AppURL(allRights...)
		redistest.Eventually(t, "the node to go on by itself", s.MissingRights)
		require.NoError(t, c.write())
		goesOn(t, log, i+1)
		outages := strings.SplitAfter(log.String(), "Redis allows what this node needs")
		// A check amid a change of the rights finds other refusals, and has a reason of its own.
		reasons := regexp.MustCompile(`reason=.*`).FindAllString(outages[i], -1)
		require.Contains(t, strings.Join(reasons, "\n"), c.reason)
		slices.Sort(reasons)
		require.Equal(t, slices.Compact(slices.Clone(reasons)), reasons, "each once")
	}

	// A reason is logged once, however many checks find it, and then the next reason.
	checks := func() (n int) {
		stats := must(r.Admin().Info(t.Context(), "commandstats").Result())(t)
		_, after, _ := strings.Cut(stats, "cmdstat_eval:calls=")
		fmt.Sscan(after, &n)
		return n
	}
	r.AppURL(without("-zrem")...)
	s.RecheckRights()
	before := checks()
	redistest.Eventually(t, "three checks", func() error {
		if n := checks() - before; n < 3 {
			return fmt.Errorf("%d of them", n)
		}
		return nil
	})
	r.AppURL(without("-zrem", "-zscan")...)
	redistest.Eventually(t, "the next reason", func() error {
		if !strings.Contains(log.String(), "ZREM, ZSCAN: ") {
			return errors.New(log.String())
		}
		return nil
	})
	require.Equal(t, 1, strings.Count(log.String(), `: ZREM: `), log.String())

	page := must(s.Page(t.Context(), "stars", 1, 10))(t)
	require.EqualValues(t, 2, page.Entries[0].Score, "the gift and the update, each once")
}

// A user who may not ask for the memory of a key gets an estimate.
func TestMemoryIsEstimatedWithoutTheRight(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := open(t, r.AppURL("~rc:*", "&rc:*", "+@all", "-memory"), definition.Board{Name: "stars"})
	applyOne(t, s, "stars", definition.Update{Member: "ana", Score: 1})
	require.Positive(t, must(s.Info(t.Context(), "stars"))(t).Memory)
}
