package server_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
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
	ctx, stop := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() { guard.Run(ctx); close(running) }()
	defer func() { stop(); redistest.Receive(t, "the run to end", running) }()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: guard}})
	ready := func(key string) servertest.Answer {
		return n.Do("GET", "/readyz?verbose", "", "Authorization", "Bearer "+key)
	}
	redistest.Eventually(t, "the node to be ready", func() error { return statusIs(n.Do("GET", "/readyz", ""), 200) })

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
		a.Into(&state)
		if state.Access.Fault == nil {
			return statusIs(a, 0)
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
	ctx, stop := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() { guard.Run(ctx); close(running) }()
	defer func() { stop(); redistest.Receive(t, "the run to end", running) }()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: guard}})
	redistest.Eventually(t, "the fault", func() error {
		a := n.Do("GET", "/readyz?verbose", "", "Authorization", "Bearer "+admin)
		if a.Status != 200 || !strings.Contains(a.Body, `"keys":{"since":null,"fault":"no route to host"}`) {
			return statusIs(a, 0)
		}
		return nil
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
	redistest.Eventually(t, "the node to be ready", func() error { return statusIs(n.Do("GET", "/readyz", ""), 200) })
	require.Equal(t, `{"status":"ok","access":null,"keys":null,"tls":null}`, n.Do("GET", "/readyz?verbose", "").Body)
}

// A node that does not reach Redis says why to anybody, and shows nothing of the URL of Redis.
func TestReadinessNamesTheReasonOfAnOutage(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	n := servertest.Start(t, r.AppURL("~rc:*", "&rc:*", "+@all"), servertest.Config{})
	redistest.Eventually(t, "the node to be ready", func() error { return statusIs(n.Do("GET", "/readyz", ""), 200) })
	says := func(reason string) {
		t.Helper()
		var a servertest.Answer
		redistest.Eventually(t, "the reason", func() error {
			if a = n.Do("GET", "/readyz", ""); !strings.Contains(a.Body, `not ready: the node receives no changes from Redis: `+reason+`"`) {
				return statusIs(a, 0)
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
