package doctor

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// examine makes all checks of a Redis.
func examine(t testing.TB, url string) []Finding {
	t.Helper()
	rdb := redistest.Dial(t, url)
	s := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	t.Cleanup(s.Close)
	return Redis(t.Context(), url, "rc", s)
}

// faults are the findings that are not ok, by check.
func faults(all []Finding) map[string]Finding {
	found := make(map[string]Finding)
	for _, f := range all {
		if f.Level != OK {
			found[f.Check] = f
		}
	}
	return found
}

// levels are the levels of faults.
func levels(all []Finding) map[string]Level {
	found := make(map[string]Level)
	for check, f := range faults(all) {
		found[check] = f.Level
	}
	return found
}

// Each fault of a Redis shows by itself. No check leaves anything behind, and each fault says what to change.
func TestRedis(t *testing.T) {
	t.Parallel()
	type want map[string]Level
	for name, c := range map[string]struct {
		args []string
		want want
	}{
		"good":             {nil, want{}},
		"evicts":           {[]string{"--maxmemory-policy", "allkeys-lru"}, want{Eviction: Problem}},
		"no file":          {[]string{"--appendonly", "no"}, want{Persistence: Warning}},
		"tiny buffers":     {[]string{"--client-output-buffer-limit", "pubsub 32kb 8kb 60"}, want{OutputBuffers: Problem}},
		"full":             {[]string{"--maxmemory", "100kb"}, want{Memory: Problem, Rights: Problem}},
		"renamed commands": {[]string{"--rename-command", "ZADD", ""}, want{Rights: Problem}},
		"no INFO": {[]string{"--rename-command", "INFO", ""},
			want{Version: Unknown, Eviction: Unknown, Persistence: Unknown, Memory: Unknown, Rights: Problem}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := redistest.Start(t, append(c.args, redistest.WithDebug...)...)
			before := r.Digest()
			all := examine(t, r.URL())
			require.Equal(t, map[string]Level(c.want), levels(all), all)
			require.Equal(t, before, r.Digest())
			for _, f := range all {
				require.Equal(t, f.Level != OK, f.Fix != "", f)
				require.Empty(t, f.Server)
			}
		})
	}
}

// What the fix says makes the finding go away.
func TestFixes(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, "--maxmemory-policy", "allkeys-lru", "--appendonly", "no", "--client-output-buffer-limit", "pubsub 1mb 1mb 60")
	for _, f := range examine(t, r.URL()) {
		if command, ok := strings.CutPrefix(f.Fix, "redis-cli CONFIG SET "); ok {
			command, _, _ = strings.Cut(command, ", and ")
			name, value, _ := strings.Cut(command, " ")
			require.NoError(t, r.Admin().ConfigSet(t.Context(), name, strings.Trim(value, "'")).Err())
		}
	}
	redistest.UntilEqual(t, "the append-only file", "map[]", func() string { return fmt.Sprint(levels(examine(t, r.URL()))) })
}

// The user of the documentation sees all but the parameters of CONFIG, and has the rights that the fix names. A password
// is in no finding.
func TestDocumentedUser(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../web/docs/operations.md")
	require.NoError(t, err)
	rules := strings.Fields(Rules("rc"))
	for _, rules := range [][]string{rules[:1], rules[1:2], rules[2:]} {
		require.Contains(t, string(page), strings.Join(rules, " "), "the page creates this user")
	}
	r := redistest.Start(t)
	url := r.AppURL(rules...)
	require.Contains(t, url, ":pw@")
	found := faults(examine(t, url))
	require.Len(t, found, 1)
	require.Equal(t, Unknown, found[OutputBuffers].Level)
	require.Contains(t, found[OutputBuffers].Found, "NOPERM")
	require.Equal(t, "look as another user: redis-cli CONFIG GET client-output-buffer-limit", found[OutputBuffers].Fix)

	found = faults(examine(t, r.AppURL(append(rules, "-publish", "-time")...)))
	require.Equal(t, Unknown, found[Clock].Level)
	require.Contains(t, found[Rights].Found, "PUBLISH")
	require.Contains(t, found[Rights].Fix, Rules("rc"))

	all := examine(t, strings.Replace(url, ":pw@", ":secret@", 1))
	require.Len(t, all, 1)
	require.Equal(t, []any{Connection, Problem}, []any{all[0].Check, all[0].Level})
	require.Contains(t, all[0].Found, "WRONGPASS")
	require.NotContains(t, fmt.Sprint(all), "secret")
}

// A replica refuses writes, in its own words.
func TestReplica(t *testing.T) {
	t.Parallel()
	primary, replica := redistest.Start(t), redistest.Start(t)
	replica.Replicate(primary)
	found := faults(examine(t, replica.URL()))
	require.Equal(t, "READONLY You can't write against a read only replica.", found[Rights].Found)
	require.NotContains(t, found[Rights].Fix, "+@write")
	require.Empty(t, faults(examine(t, primary.URL())))
}

// A clock that is set wrong shows, ahead and behind.
func TestDiagnoseClock(t *testing.T) {
	t.Parallel()
	r, shift := redistest.StartShifted(t)
	for by, says := range map[time.Duration]string{time.Hour: "ahead of this machine's", -time.Hour: "behind this machine's"} {
		shift(by)
		redistest.Eventually(t, "the clock to be shifted", func() error {
			all, err := Settings(t.Context(), r.URL())
			if f := faults(all)[Clock]; f.Level != Warning || !strings.Contains(f.Found, says) {
				return errors.Join(err, errors.New(f.Found))
			}
			return nil
		})
	}
}

// The only finding of a Redis that does not answer as it should has the words of the answer, or of the system. One that
// comes back is checked.
func TestNoRedis(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	plain := strings.TrimPrefix(redistest.StartProxy(t, r.URL()).URL(), "redis://")
	sentinel := redistest.StartSentinel(t).URL()
	node, _ := redistest.StartNode(t)
	for url, says := range map[string]string{
		"redis://127.0.0.1:1":                                     "connection refused",
		"redis-cluster://" + plain:                                "ERR This instance has cluster support disabled",
		"redis-sentinel://" + plain + "/mymaster":                 "ERR unknown command",
		strings.Replace(sentinel, "mymaster", "another", 1):       "redis: nil",
		"redis-cluster" + strings.TrimPrefix(node.URL(), "redis"): "this cluster has no master",
	} {
		all := examine(t, url)
		require.Len(t, all, 1, url)
		require.Equal(t, []any{Connection, Problem}, []any{all[0].Check, all[0].Level}, url)
		require.Contains(t, all[0].Found, says, url)
		require.NotEmpty(t, all[0].Fix)
	}
	r.Kill()
	_, err := Settings(t.Context(), r.URL())
	require.ErrorIs(t, err, definition.ErrUnavailable)
	r.Start()
	redistest.Eventually(t, "Redis to be back", func() error {
		_, err := Settings(t.Context(), r.URL())
		return err
	})
	_, err = Settings(t.Context(), "mongodb://a")
	require.ErrorContains(t, err, `redis URL: scheme "mongodb"`)
}

// The embedded store knows no INFO of this kind: the checks say so, and fail in no other way.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	for check, level := range levels(examine(t, redistest.Embedded(t))) {
		require.Equal(t, Unknown, level, check)
	}
}

// Shards on one Redis are a warning, on the embedded store too. On a cluster they are none.
func TestShardsOnOneRedis(t *testing.T) {
	t.Parallel()
	for url, masters := range map[string]int{
		redistest.Embedded(t): 1, redistest.Start(t).URL(): 1, redistest.StartCluster(t).URL: 3,
	} {
		s := ranking.New(redistest.Dial(t, url), ranking.Config{CallTimeout: redistest.CallTimeout})
		t.Cleanup(s.Close)
		for _, name := range []string{"calm", "stars", "votes"} {
			b := definition.Board{Name: name}
			if name != "calm" {
				b.Shards = 4
			}
			require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{b}}))
		}
		f, warned := faults(Redis(t.Context(), url, "rc", s))[Shards]
		require.Equal(t, masters == 1, warned, url)
		if warned {
			require.Equal(t, Warning, f.Level)
			require.Equal(t, "stars, votes: shards gain nothing on one Redis, and cost CPU", f.Found)
		}
	}
}

// Each master of a cluster is checked. A user of the documentation needs one right more there, and a right that it lacks
// on one master is found each time.
func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	masters := cluster.Masters
	require.Empty(t, faults(examine(t, cluster.URL)))
	address := func(r *redistest.Redis) string { return strings.TrimPrefix(r.URL(), "redis://") }
	require.NoError(t, masters[1].Admin().ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	require.Equal(t, address(masters[1]), faults(examine(t, cluster.URL))[Eviction].Server)
	require.NoError(t, masters[1].Admin().ConfigSet(t.Context(), "maxmemory-policy", noEviction).Err())

	rules := strings.Fields(Rules("rc"))
	url := ""
	for _, master := range masters {
		url = "redis-cluster" + strings.TrimPrefix(master.AppURL(rules...), "redis")
	}
	require.Regexp(t, `NOPERM .*'cluster\|slots' command`, faults(examine(t, url))[Connection].Found)
	rules = append(rules, "+cluster|slots", "+config|get")
	for _, master := range masters {
		master.AppURL(rules...)
	}
	require.Empty(t, faults(examine(t, url)))
	for i, right := range []string{"ssubscribe", "sunsubscribe", "subscribe", "spublish", "evalsha", "eval", "zadd"} {
		at := masters[i%len(masters)]
		at.AppURL(append(rules, "-"+right)...)
		f := faults(examine(t, url))[Rights]
		require.Equal(t, address(at), f.Server, right)
		require.Contains(t, strings.ToLower(f.Found), right)
		require.NotContains(t, f.Found, address(at))
		at.AppURL(rules...)
	}
}
