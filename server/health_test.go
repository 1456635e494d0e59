package server_test

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// fileState is the state of a file in an answer of /readyz?verbose.
type fileState struct{ Since, Fault, Expires *string }

type nodeState struct {
	Status      string
	Access, TLS *fileState
}

// An access file that is broken shows to admins, and leaves the node ready.
func TestReadinessShowsTheAccessFile(t *testing.T) {
	t.Parallel()
	admin, reader := access.NewKey(), access.NewKey()
	file := filepath.Join(t.TempDir(), "access.yaml")
	text := "keys:\n- {name: ops, hash: '" + access.HashKey(admin) + "', scopes: [admin]}\n- {name: app, hash: '" +
		access.HashKey(reader) + "', scopes: [read], boards: ['*']}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	guard, err := access.NewGuard(access.GuardConfig{File: file, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	accesstest.Run(t, guard)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: guard}})
	ready := func(key string) servertest.Answer {
		return n.Do("GET", "/readyz?verbose", "", "Authorization", "Bearer "+key)
	}
	n.UntilReady()

	servertest.RequireProblem(t, n.Do("GET", "/readyz?verbose", ""), 401, "unauthorized", "")
	servertest.RequireProblem(t, ready(reader), 403, "forbidden", "")
	var state nodeState
	ready(admin).Into(&state)
	require.Equal(t, "ok", state.Status)
	require.NotNil(t, state.Access.Since)
	require.Nil(t, state.Access.Fault)
	require.Nil(t, state.TLS)

	require.NoError(t, os.WriteFile(file, []byte("keys: {}\nscope: x\n"), 0o600))
	guard.Reload()
	redistest.Eventually(t, "the fault", func() error {
		a := ready(admin)
		if a.Into(&state); state.Access.Fault == nil {
			return errors.New(a.Body)
		}
		return nil
	})
	require.Contains(t, *state.Access.Fault, "scope")
	require.Equal(t, `{"status":"ok"}`, n.Do("GET", "/readyz", "").Body)

	// A node that is not ready shows the state too, and to nobody else.
	n.Server.Drain()
	a := ready(admin)
	servertest.RequireProblem(t, a, 503, "unavailable", "")
	var unready struct {
		Detail      string
		Access, TLS *fileState
	}
	a.Into(&unready)
	require.Contains(t, unready.Detail, "the node is stopping")
	require.Equal(t, state.Access, unready.Access)
	require.Contains(t, a.Body, `"tls":null`)
	servertest.RequireProblem(t, ready(reader), 403, "forbidden", "")
	a = n.Do("GET", "/readyz", "")
	servertest.RequireProblem(t, a, 503, "unavailable", "")
	require.NotContains(t, a.Body, "access")
	require.NotContains(t, a.Body, "tls")
}

// A key set that cannot be fetched shows, and leaves the node ready.
func TestReadinessShowsTheKeySet(t *testing.T) {
	t.Parallel()
	admin := access.NewKey()
	guard, err := access.NewGuard(access.GuardConfig{
		Text: `{keys: [{name: ops, hash: "` + access.HashKey(admin) +
			`", scopes: [admin]}], tokens: {jwks: "https://keys.example/set?code=hush", audience: rankcast}}`,
		HTTP: &http.Client{Transport: noRoute{}}, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	accesstest.Run(t, guard)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: guard}})
	redistest.Eventually(t, "the fault", func() error {
		a := n.Do("GET", "/readyz?verbose", "", "Authorization", "Bearer "+admin)
		if !strings.Contains(a.Body, `"keys":{"since":null,"fault":"no route to host"}`) {
			return errors.New(a.Body)
		}
		return a.Is(200)
	})
}

// noRoute is a network without key servers.
type noRoute struct{}

func (noRoute) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

// Anybody sees the state of an open server, which has no file.
func TestReadinessOfAnOpenServer(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	n.UntilReady()
	require.Equal(t, `{"status":"ok","access":null,"keys":null,"tls":null}`, n.Do("GET", "/readyz?verbose", "").Body)
}

// A node that does not reach Redis says why to anybody, and shows nothing of the URL of Redis.
func TestReadinessNamesTheReasonOfAnOutage(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	n := servertest.Start(t, r.AppURL("~rc:*", "&rc:*", "+@all"), servertest.Config{})
	n.UntilReady()
	says := func(reason string) {
		t.Helper()
		var a servertest.Answer
		redistest.Eventually(t, "the reason "+reason, func() error {
			if a = n.Do("GET", "/readyz", ""); !strings.Contains(a.Body, `not ready: the node receives no changes from Redis: `+reason+`"`) {
				return errors.New(a.Body)
			}
			return nil
		})
		servertest.RequireProblem(t, a, 503, "unavailable", "")
		require.NotContains(t, a.Body, "redis.sock")
		require.NotContains(t, a.Body, "app")
	}
	require.NoError(t, r.Admin().Do(t.Context(), "ACL", "DELUSER", "app").Err())
	says("Redis answers WRONGPASS")
	r.Kill()
	says("Redis refuses the connection")
}

// A scrape asks Redis itself: the first one after Redis has hung up on a node, or does not answer it, shows that.
func TestMetricsOfReadiness(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	n := servertest.Start(t, redis.URL(), servertest.Config{}, definition.Board{Name: "b"})
	requireMetrics := func(ready, up float64, when string) {
		t.Helper()
		require.Equal(t, []float64{ready, up}, []float64{n.Metric("rankcast_ready"), n.Metric("rankcast_redis_up")}, when)
	}
	n.UntilMetric("rankcast_ready", 1)
	requireMetrics(1, 1, "ready")
	redis.Suspend()
	requireMetrics(0, 0, "Redis hangs")
	redis.Resume()
	n.UntilMetric("rankcast_ready", 1)
	requireMetrics(1, 1, "ready again")
	n.Server.Drain()
	requireMetrics(0, 1, "the node stops")
}

// One update, from the request to the frame, as the metrics show it.
func TestMetricsOfOneUpdate(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.UntilMetric(`rankcast_redis_up`, 1)
		scores := `{"member":"ana","score":1},{"member":"ben","score":90},{"member":"eli","score":80},{"member":"kim","score":70}`
		n.Do("POST", "/v1/boards/b/scores", `{"updates":[`+scores+`]}`)
		s := servertest.Dial(t, n.Addr)
		s.Send(`{"type":"subscribe","id":1,"board":"b","top":5,"me":"ana"}`)
		s.Next("snapshot")
		s.Next("me")
		stream := servertest.OpenStream(t, n.Addr, "/v1/boards/b/live?top=5")
		stream.Next("snapshot")
		for metric, want := range map[string]float64{
			`rankcast_clients{kind="websocket"}`: 1, `rankcast_clients{kind="stream"}`: 1, `rankcast_subscriptions`: 2, `rankcast_followers`: 1,
			`rankcast_watched_boards`: 1, `rankcast_frames_total{kind="snapshot"}`: 2, `rankcast_frames_total{kind="answer"}`: 1,
			`rankcast_score_to_frame_seconds_count`: 0, `rankcast_changes_total`: 0,
		} {
			n.UntilMetric(metric, want)
		}

		n.Do("POST", "/v1/boards/b/scores", `{"member":"ana","score":5}`)
		s.Next("delta")
		s.Next("me")
		stream.Next("delta")
		for metric, want := range map[string]float64{
			`rankcast_updates_total{result="applied"}`: 5, `rankcast_update_seconds_count`: 2, `rankcast_batch_updates_sum`: 5,
			`rankcast_changes_total`:              1,
			`rankcast_frames_total{kind="delta"}`: 2, `rankcast_score_to_frame_seconds_count`: 2,
		} {
			n.UntilMetric(metric, want)
		}
		require.Positive(t, n.Metric(`rankcast_frame_bytes_total`))
		require.Less(t, n.Metric(`rankcast_score_to_frame_seconds_sum`), 2*servertest.Patience.Seconds())

		n.Do("GET", "/v1/boards/b/top", "")
		n.Do("GET", "/v1/boards/b/members/ana", "")
		n.Do("GET", "/v1/boards/b/members/eli", "")
		n.UntilMetric(`rankcast_reads_total{route="/v1/boards/{board}/top"}`, 1)
		n.UntilMetric(`rankcast_reads_total{route="/v1/boards/{board}/members/{member}"}`, 2)

		s.WS.Close(websocket.StatusNormalClosure, "")
		stream.Close()
		n.UntilMetric(`rankcast_closed_total{code="1000"}`, 1)
		n.UntilMetric(`rankcast_clients{kind="websocket"}`, 0)
		n.Do("POST", "/v1/boards/b/scores", `{"member":"ana","score":5}`) // a write finds that the stream has gone
		n.UntilMetric(`rankcast_clients{kind="stream"}`, 0)
		n.UntilMetric(`rankcast_subscriptions`, 0)
		n.UntilMetric(`rankcast_followers`, 0)
	})
}

// The node measures the time from a score to its frame by Redis's clock alone: its own clock may differ by an hour. Here
// Redis is behind, because a time below zero counts as zero. The node's estimate of that clock lags, so a time shorter
// than the lag counts as zero too.
func TestScoreToFrameByTheClockOfRedis(t *testing.T) {
	t.Parallel()
	redis, shift := redistest.StartShifted(t)
	shift(-time.Hour)
	n := servertest.Start(t, redis.URL(), servertest.Config{}, definition.Board{Name: "b"})
	s := servertest.Dial(t, n.Addr)
	s.Subscribe("b", 3)
	scores := 0
	redistest.Until(t, "a frame that took longer than the estimate lags", func() bool {
		scores++
		n.Do("POST", "/v1/boards/b/scores", `{"member":"ana","score":5}`)
		n.UntilMetric("rankcast_score_to_frame_seconds_count", float64(scores))
		return n.Metric("rankcast_score_to_frame_seconds_sum") > 0
	})
	require.Less(t, n.Metric("rankcast_score_to_frame_seconds_sum"), servertest.Patience.Seconds())
}

// The names, helps and units follow the conventions of Prometheus, and no label depends on what users send.
func TestMetricsAreWellFormed(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Metrics: registry}},
		definition.Board{Name: "fans:{star}"})
	series := func() (count int) {
		families, err := registry.Gather()
		require.NoError(t, err)
		for _, f := range families {
			if f.GetName() != "rankcast_script_seconds" { // of each script that was called
				count += len(f.Metric)
			}
		}
		return count
	}
	before := series()
	for _, path := range []string{"/v1/boards/fans:s1/top", "/v1/boards/nobody/top", "/v1/nothing",
		"/v1/boards/fans:s2/members/ana", "/boards/fans:s3", "/x"} {
		n.Do("GET", path, "")
	}
	n.Do("POST", "/v1/boards/fans:s1/scores", `{"member":"secret-member","score":5}`)
	require.Equal(t, before, series())
	text := n.Do("GET", "/metrics", "").Body
	for _, of := range []string{"fans", "secret-member", "nobody"} {
		require.NotContains(t, text, of)
	}
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	require.Empty(t, problems)
	answer := n.Do("GET", "/metrics", "", "Accept", "application/openmetrics-text; version=1.0.0")
	require.Contains(t, answer.Header.Get("Content-Type"), "application/openmetrics-text")
	require.True(t, strings.HasSuffix(answer.Body, "# EOF"))
}

// The listener for operators asks for no key, and is closed to pages that reach it by another name.
func TestAdmin(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	loopback := httptest.NewServer(n.Server.Admin(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))
	t.Cleanup(loopback.Close)
	public := httptest.NewServer(n.Server.Admin(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}))
	t.Cleanup(public.Close)
	get := func(of *httptest.Server, path string) servertest.Answer {
		return servertest.Request(t, "GET", of.URL+path, "")
	}
	for _, of := range []*httptest.Server{loopback, public} {
		require.Contains(t, get(of, "/metrics").Body, "\nrankcast_redis_up ")
		require.Contains(t, get(of, "/debug/pprof/goroutine?debug=1").Body, "goroutine profile: total")
		require.Equal(t, 404, get(of, "/debug/pprof/cmdline").Status, "it would show a password of Redis")
		require.Equal(t, 404, get(of, "/v1/boards").Status)
		require.Equal(t, 405, servertest.Request(t, "POST", of.URL+"/metrics", "").Status)
	}
	for of, status := range map[*httptest.Server]int{loopback: 421, public: 200} {
		r := httptest.NewRequest("GET", "http://stranger.example/metrics", nil)
		w := httptest.NewRecorder()
		of.Config.Handler.ServeHTTP(w, r)
		require.Equal(t, status, w.Code)
	}
}

// The ends of sockets are counted by the code of the first close frame.
func TestClosedSocketsAreCountedByCode(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Metrics: registry}}, definition.Board{Name: "b"})
	ended := make(map[string]float64)
	expect := func(code string) {
		t.Helper()
		ended[code]++
		for _, c := range []string{"1000", "1006", "1009", "4503", "other"} {
			n.UntilMetric(`rankcast_closed_total{code="`+c+`"}`, ended[c])
		}
	}
	servertest.Dial(t, n.Addr).WS.Close(websocket.StatusNormalClosure, "")
	expect("1000")
	servertest.Dial(t, n.Addr).WS.Close(3333, "")
	expect("other")
	servertest.Dial(t, n.Addr).WS.CloseNow()
	expect("1006")
	s := servertest.Dial(t, n.Addr)
	s.Send(`{"type":%q}`, strings.Repeat("x", 64<<10))
	for {
		if _, err := s.Raw(); err != nil {
			break
		}
	}
	expect("1009")
	foreign := servertest.DialPath(t, n.Addr, "/v1/live", "Origin", "https://stranger.example")
	_, err := foreign.Raw()
	require.Equal(t, websocket.StatusCode(4503), websocket.CloseStatus(err))
	expect("4503")
	last := servertest.Dial(t, n.Addr)
	last.Subscribe("b", 3)
	n.Stop()
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`# HELP rankcast_clients Clients that are connected, by kind.
# TYPE rankcast_clients gauge
rankcast_clients{kind="stream"} 0
rankcast_clients{kind="websocket"} 0
`), "rankcast_clients"))
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == "rankcast_closed_total" && m.Label[0].GetValue() == "1001" {
				require.EqualValues(t, 1, m.Counter.GetValue(), "a node that stops")
				return
			}
		}
	}
	t.Fatal("no socket was closed with 1001")
}
