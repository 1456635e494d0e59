package ranking_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/diagnosis"
	"rankcast/ranking/redistest"
)

// documentedRights are the ACL rules of the user that the documentation tells to create.
var documentedRights = []string{"~rc:*", "&rc:*", "+@read", "+@write", "+@pubsub", "+@scripting", "+@connection", "+time", "-@dangerous", "+info"}

// doctor opens a store that defines nothing.
func doctor(t testing.TB, url string) *ranking.Store {
	s := ranking.New(dial(t, url), ranking.Config{CallTimeout: redistest.CallTimeout})
	t.Cleanup(s.Close)
	return s
}

// levels are the findings that are not ok, by check. The round trip of a busy machine is left out.
func levels(all []diagnosis.Finding) map[string]diagnosis.Level {
	found := make(map[string]diagnosis.Level)
	for _, f := range all {
		if f.Level != diagnosis.OK && f.Check != diagnosis.RoundTrip {
			found[f.Check] = max(found[f.Check], f.Level)
		}
	}
	return found
}

// callCLI is the call of redis-cli for a server, as a fix has it.
func callCLI(r *redistest.Redis) string {
	return "redis-cli -s " + strings.TrimPrefix(r.URL(), "unix://")
}

// of returns the first finding of a check with a level.
func of(t testing.TB, all []diagnosis.Finding, check string, level diagnosis.Level) diagnosis.Finding {
	t.Helper()
	i := slices.IndexFunc(all, func(f diagnosis.Finding) bool { return f.Check == check && f.Level == level })
	require.GreaterOrEqual(t, i, 0, "%s is not %s: %v", check, level, all)
	return all[i]
}

// Each setting that loses scores shows, by itself, and a Redis with none of them has no finding. No check
// leaves anything behind.
func TestDiagnoseSettings(t *testing.T) {
	t.Parallel()
	type want map[string]diagnosis.Level
	for name, c := range map[string]struct {
		args  []string
		want  want
		brief bool // the checks of a node's start find it too
	}{
		"good":             {nil, want{}, true},
		"evicts":           {[]string{"--maxmemory-policy", "allkeys-lru"}, want{diagnosis.Eviction: diagnosis.Problem}, true},
		"evicts with TTL":  {[]string{"--maxmemory-policy", "volatile-lru"}, want{diagnosis.Eviction: diagnosis.Problem}, true},
		"no file":          {[]string{"--appendonly", "no"}, want{diagnosis.Persistence: diagnosis.Warning}, true},
		"snapshots only":   {[]string{"--appendonly", "no", "--save", "3600 1"}, want{diagnosis.Persistence: diagnosis.Warning}, true},
		"small buffers":    {[]string{"--client-output-buffer-limit", "pubsub 16mb 8mb 60"}, want{diagnosis.OutputBuffers: diagnosis.Warning}, true},
		"tiny buffers":     {[]string{"--client-output-buffer-limit", "pubsub 32kb 8kb 60"}, want{diagnosis.OutputBuffers: diagnosis.Problem}, true},
		"frees itself":     {[]string{"--lazyfree-lazy-expire", "no"}, want{diagnosis.Expiry: diagnosis.Warning}, false},
		"renamed commands": {[]string{"--rename-command", "ZADD", ""}, want{diagnosis.Rights: diagnosis.Problem}, false},
		"no INFO": {[]string{"--rename-command", "INFO", ""}, want{diagnosis.Version: diagnosis.Unknown, diagnosis.Eviction: diagnosis.Unknown, diagnosis.Persistence: diagnosis.Unknown, diagnosis.Memory: diagnosis.Unknown,
			diagnosis.Rights: diagnosis.Problem}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := redistest.Start(t, append(c.args, redistest.WithDebug...)...)
			s := doctor(t, r.URL())
			before := r.Digest()
			all := s.Diagnose(t.Context())
			require.Equal(t, map[string]diagnosis.Level(c.want), levels(all), all)
			require.Equal(t, before, r.Digest())
			brief, err := s.DiagnoseSettings(t.Context())
			require.NoError(t, err)
			if c.brief {
				require.Equal(t, map[string]diagnosis.Level(c.want), levels(brief), brief)
			}
			for _, f := range append(all, brief...) {
				require.Equal(t, f.Level != diagnosis.OK, f.Fix != "", f)
				require.Empty(t, f.Server)
			}
		})
	}
}

// What the fix says makes the finding go away.
func TestFixesOfSettings(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, "--maxmemory-policy", "allkeys-lru", "--appendonly", "no", "--client-output-buffer-limit", "pubsub 1mb 1mb 60",
		"--lazyfree-lazy-expire", "no")
	s := doctor(t, r.URL())
	for _, f := range s.Diagnose(t.Context()) {
		command, ok := strings.CutPrefix(f.Fix, callCLI(r)+" ")
		if !ok || f.Check == diagnosis.RoundTrip {
			continue
		}
		command, _, _ = strings.Cut(command, ", and ")
		words := strings.SplitN(command, " ", 4)
		require.Equal(t, []string{"CONFIG", "SET"}, words[:2])
		require.NoError(t, r.Admin().ConfigSet(t.Context(), words[2], strings.Trim(words[3], "'")).Err())
	}
	redistest.Eventually(t, "the append-only file", func() error {
		if found := levels(s.Diagnose(t.Context())); len(found) > 0 {
			return fmt.Errorf("%v", found)
		}
		return nil
	})
}

// A Redis that is nearly full shows before it refuses updates. One that refuses them is a problem.
func TestDiagnoseMemory(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, "--maxmemory", "100mb")
	s := doctor(t, r.URL())
	require.Empty(t, levels(s.Diagnose(t.Context())))
	require.NoError(t, r.Admin().SetRange(t.Context(), "other", 85<<20, "x").Err())
	f := of(t, s.Diagnose(t.Context()), diagnosis.Memory, diagnosis.Warning)
	require.Contains(t, f.Found, "of maxmemory 100 MiB")
	require.Contains(t, f.Found, "at maxmemory Redis refuses updates")
	require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory", "80mb").Err())
	f = of(t, s.Diagnose(t.Context()), diagnosis.Memory, diagnosis.Problem)
	require.Contains(t, f.Found, "of maxmemory 80 MiB")
	require.Contains(t, f.Found, ", so Redis refuses updates")
}

// The user of the documentation sees all but the parameters of CONFIG. A password is in no finding.
func TestDiagnoseAsDocumentedUser(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../web/docs/operations.md")
	require.NoError(t, err)
	for _, rules := range [][]string{documentedRights[:1], documentedRights[1:2], documentedRights[2:]} {
		require.Contains(t, string(page), strings.Join(rules, " "), "the page creates this user")
	}
	r := redistest.Start(t)
	url := r.AppURL(documentedRights...)
	require.Contains(t, url, ":pw@")
	all := doctor(t, url).Diagnose(t.Context())
	require.Equal(t, map[string]diagnosis.Level{diagnosis.OutputBuffers: diagnosis.Unknown, diagnosis.Expiry: diagnosis.Unknown}, levels(all), all)
	f := of(t, all, diagnosis.OutputBuffers, diagnosis.Unknown)
	require.Equal(t, `redis user "app" may not run CONFIG GET`, f.Found)
	require.Equal(t, fmt.Sprintf("ask as another user: %s CONFIG GET client-output-buffer-limit; or allow it: %[1]s ACL SETUSER app '+config|get'", callCLI(r)), f.Fix)

	all = doctor(t, r.AppURL(append(documentedRights, "+config|get")...)).Diagnose(t.Context())
	require.Empty(t, levels(all), all)
	all = doctor(t, r.AppURL(append(documentedRights, "-time", "-ping", "-publish")...)).Diagnose(t.Context())
	require.Equal(t, diagnosis.Unknown, levels(all)[diagnosis.Clock])
	of(t, all, diagnosis.RoundTrip, diagnosis.Unknown)
	require.Equal(t, diagnosis.Problem, levels(all)[diagnosis.Rights])

	all = doctor(t, strings.Replace(url, ":pw@", ":secret@", 1)).Diagnose(t.Context())
	require.Len(t, all, 1)
	require.Equal(t, diagnosis.Problem, all[0].Level)
	require.Contains(t, all[0].Found, "refuses this node: WRONGPASS")
	require.NotContains(t, fmt.Sprint(all), "secret")
}

// The fix of a missing right is the command that grants it.
func TestFixesOfRights(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := doctor(t, r.AppURL("~x:*", "+@all", "-publish"))
	f := of(t, s.Diagnose(t.Context()), diagnosis.Rights, diagnosis.Problem)
	require.Contains(t, f.Found, `redis user "app" may not use the keys rc:profile:*:*, `)
	require.Equal(t, "add ~rc:* to its ACL rules: "+callCLI(r)+" ACL SETUSER app '~rc:*'", f.Fix)
	for range 3 { // a right may hide another one
		for _, f := range s.Diagnose(t.Context()) {
			if _, command, ok := strings.Cut(f.Fix, callCLI(r)+" "); ok && f.Check == diagnosis.Rights {
				var args []any
				for word := range strings.FieldsSeq(command) {
					args = append(args, strings.Trim(word, "'"))
				}
				require.NoError(t, r.Admin().Do(t.Context(), args...).Err(), command)
			}
		}
	}
	require.Empty(t, levels(s.Diagnose(t.Context())))
}

// A replica is a problem of its own, with what to do.
func TestDiagnoseReplica(t *testing.T) {
	t.Parallel()
	primary, replica := redistest.Start(t), redistest.Start(t)
	replica.Replicate(primary)
	f := of(t, doctor(t, replica.URL()).Diagnose(t.Context()), diagnosis.Role, diagnosis.Problem)
	require.Equal(t, readOnlyReplica, f.Found+": "+f.Fix)
	require.Empty(t, levels(doctor(t, primary.URL()).Diagnose(t.Context())))
}

// A clock that is set wrong shows, ahead and behind.
func TestDiagnoseClock(t *testing.T) {
	t.Parallel()
	r, shift := redistest.StartShifted(t)
	s := doctor(t, r.URL())
	for by, says := range map[time.Duration]string{time.Hour: "ahead of this machine's", -time.Hour: "behind this machine's", 0: ""} {
		shift(by)
		redistest.Eventually(t, "the clock to be shifted", func() error {
			all, err := s.DiagnoseSettings(t.Context())
			if err != nil {
				return err
			}
			level, i := diagnosis.OK, slices.IndexFunc(all, func(f diagnosis.Finding) bool { return f.Check == diagnosis.Clock })
			if by != 0 {
				level = diagnosis.Warning
			}
			if f := all[i]; f.Level != level || !strings.Contains(f.Found, says) {
				return errors.New(f.Found)
			}
			return nil
		})
	}
}

// Of a Redis that is away, a finding says so. One that comes back is checked.
func TestDiagnoseOutage(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	rdb, err := ranking.Open(r.URL())
	require.NoError(t, err)
	t.Cleanup(func() { rdb.Close() })
	s := ranking.New(rdb, ranking.Config{})
	t.Cleanup(s.Close)
	r.Kill()
	all := s.Diagnose(t.Context())
	require.Len(t, all, 1)
	require.Equal(t, diagnosis.Problem, all[0].Level)
	require.Contains(t, all[0].Found, "does not answer: dial unix")
	_, err = s.DiagnoseSettings(t.Context())
	require.ErrorIs(t, err, ranking.ErrUnavailable)
	r.Start()
	redistest.Eventually(t, "Redis to be back", func() error {
		_, err := s.DiagnoseSettings(t.Context())
		return err
	})
}

// The embedded store knows no INFO of this kind: the checks say so, and fail in no other way.
func TestDiagnoseEmbedded(t *testing.T) {
	t.Parallel()
	for check, level := range levels(doctor(t, redistest.Embedded(t)).Diagnose(t.Context())) {
		require.Equal(t, diagnosis.Unknown, level, check)
	}
}

// Each master of a cluster is checked, and all slots need a master.
func TestDiagnoseCluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	url, masters := cluster.URL, cluster.Masters
	s := doctor(t, url)
	all := s.Diagnose(t.Context())
	require.Equal(t, map[string]diagnosis.Level{diagnosis.Cluster: diagnosis.Warning}, levels(all), all)
	require.Contains(t, of(t, all, diagnosis.Cluster, diagnosis.Warning).Found, "3 masters hold all 16384 slots; without a replica that is ready: ")
	require.Empty(t, of(t, all, diagnosis.Eviction, diagnosis.OK).Server, "all masters agree")

	require.NoError(t, masters[1].Admin().ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	require.NoError(t, masters[2].Admin().ConfigSet(t.Context(), "appendonly", "no").Err())
	all = s.Diagnose(t.Context())
	address := func(r *redistest.Redis) string { return strings.TrimPrefix(r.URL(), "redis://") }
	evicts := of(t, all, diagnosis.Eviction, diagnosis.Problem)
	require.Equal(t, address(masters[1]), evicts.Server)
	require.Contains(t, evicts.Fix, "redis-cli -u "+masters[1].URL()+" CONFIG SET maxmemory-policy noeviction")
	require.Equal(t, address(masters[2]), of(t, all, diagnosis.Persistence, diagnosis.Warning).Server)
	brief, err := s.DiagnoseSettings(t.Context())
	require.NoError(t, err)
	require.Equal(t, address(masters[1]), of(t, brief, diagnosis.Eviction, diagnosis.Problem).Server)

	of(t, doctor(t, masters[0].URL()).Diagnose(t.Context()), diagnosis.Cluster, diagnosis.Problem)

	for _, master := range masters {
		require.NoError(t, master.Admin().Do(t.Context(), "CLUSTER", "DELSLOTS", 77).Err())
	}
	f := of(t, s.Diagnose(t.Context()), diagnosis.Cluster, diagnosis.Problem)
	require.Equal(t, "no master holds 1 of the 16384 slots: boards in these slots get 503", f.Found)
}

// In a cluster the user of the documentation needs one right more, which finds the masters.
func TestDiagnoseClusterAsDocumentedUser(t *testing.T) {
	t.Parallel()
	masters := redistest.StartCluster(t).Masters
	allow := func(rules ...string) (url string) {
		for _, master := range masters {
			url = "redis-cluster" + strings.TrimPrefix(master.AppURL(rules...), "redis")
		}
		return url
	}
	all := doctor(t, allow(documentedRights...)).Diagnose(t.Context())
	require.Len(t, all, 1)
	f := of(t, all, diagnosis.Rights, diagnosis.Problem)
	require.Contains(t, f.Found, `redis user "app" may not run CLUSTER SLOTS`)
	require.Equal(t, "on each node of the cluster: redis-cli -u redis://HOST:PORT ACL SETUSER app '+cluster|slots'", f.Fix)
	all = doctor(t, allow(append(documentedRights, "+cluster|slots")...)).Diagnose(t.Context())
	require.Equal(t, map[string]diagnosis.Level{diagnosis.OutputBuffers: diagnosis.Unknown, diagnosis.Expiry: diagnosis.Unknown, diagnosis.Cluster: diagnosis.Warning}, levels(all), all)
	require.Regexp(t, `^on each node of the cluster: ask as another user: redis-cli -u redis://HOST:PORT CONFIG GET `, of(t, all, diagnosis.OutputBuffers, diagnosis.Unknown).Fix)
	all = doctor(t, allow(append(documentedRights, "+cluster|slots", "-zcard")...)).Diagnose(t.Context())
	require.Equal(t, "add +zcard to its ACL rules: on each node of the cluster: redis-cli -u redis://HOST:PORT ACL SETUSER app +zcard", of(t, all, diagnosis.Rights, diagnosis.Problem).Fix)
}

// Each master of a cluster has users of its own. A right that the user lacks on one of them is found each time.
func TestDiagnoseRightsOfEachMaster(t *testing.T) {
	t.Parallel()
	masters := redistest.StartCluster(t).Masters
	url := ""
	for _, master := range masters {
		url = "redis-cluster" + strings.TrimPrefix(master.AppURL(without()...), "redis")
	}
	s := doctor(t, url)
	require.NoError(t, s.CheckRights(t.Context()))
	for i, c := range []struct {
		right, says string
	}{
		{"ssubscribe", `redis user "app" may not run SSUBSCRIBE`},
		{"sunsubscribe", `redis user "app" may not run SUNSUBSCRIBE`},
		{"subscribe", `redis user "app" may not run SUBSCRIBE`},
		{"spublish", `redis user "app" may not run SPUBLISH`},
		{"evalsha", `redis user "app" may not run EVALSHA`},
		{"eval", `redis user "app" may not run EVAL`},
		{"zadd", `redis user "app" may not run ZADD`},
	} {
		at := masters[i%len(masters)]
		at.AppURL(without("-" + c.right)...)
		f := of(t, s.Diagnose(t.Context()), diagnosis.Rights, diagnosis.Problem)
		require.Equal(t, []string{c.says, strings.TrimPrefix(at.URL(), "redis://")}, []string{f.Found, f.Server})
		require.Contains(t, f.Fix, ": redis-cli -u "+at.URL()+" ACL SETUSER app +"+c.right)
		var missing *ranking.MissingRightsError
		require.ErrorAs(t, s.CheckRights(t.Context()), &missing)
		require.Equal(t, []string{f.Server}, missing.Masters)
		require.NotContains(t, missing.Error(), f.Server)
		at.AppURL(without()...)
		require.NoError(t, s.CheckRights(t.Context()))
	}
}

// A check of a definition says what Define would, and defines nothing.
func TestCheckDefine(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "used"}, definition.Board{Name: "unused"})
		require.NoError(t, applyOne(t, s, "used", definition.Update{Member: "ana", Score: 1}).Err)
		before := allKeys(t, url)
		check := func(boards ...definition.Board) error {
			return s.CheckDefine(t.Context(), definition.Set{Boards: boards})
		}
		require.NoError(t, check(definition.Board{Name: "new"}, definition.Board{Name: "used"}))
		require.NoError(t, check(definition.Board{Name: "unused", Order: definition.Asc}))
		err := check(definition.Board{Name: "used", Order: definition.Asc})
		require.ErrorIs(t, err, ranking.ErrConflict)
		require.Equal(t, err, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "used", Order: definition.Asc}}}))
		require.ErrorIs(t, check(definition.Board{Name: "x", Mode: "most"}), ranking.ErrInvalid)
		_, err = s.Definition(t.Context(), "new")
		require.ErrorIs(t, err, ranking.ErrUnknownBoard)
		require.Equal(t, before, allKeys(t, url))
	})
}
