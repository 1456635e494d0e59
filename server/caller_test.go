package server_test

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// A client learns from a 401 whether the server has refused its credentials (RFC 6750, section 3.1).
func TestChallenge(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+"tokens: {secret_file: secret}\n")
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}})
	valid := token(g, "m", []string{"a"}, nil, time.Hour)
	const none, invalid = `Bearer`, `Bearer error="invalid_token"`
	for name, c := range map[string]struct {
		path, authorization, want string
	}{
		"no credentials":   {"/v1/boards", "", none},
		"another scheme":   {"/v1/boards", "Basic dTpw", none},
		"an unknown key":   {"/v1/boards", "Bearer " + access.NewKey(), invalid},
		"no token":         {"/v1/boards", "bearer x", invalid},
		"nothing":          {"/v1/boards", "Bearer", invalid},
		"a forged token":   {"/v1/boards", "Bearer " + valid[:len(valid)-4] + "AAAA", invalid},
		"an expired token": {"/v1/boards", "Bearer " + token(g, "m", []string{"a"}, nil, -time.Hour), invalid},
		"a ticket":         {"/v1/boards/a/live?ticket=rct_x", "", invalid},
	} {
		var fields []string
		if c.authorization != "" {
			fields = []string{"Authorization", c.authorization}
		}
		a := n.Do("GET", c.path, "", fields...)
		servertest.RequireProblem(t, a, 401, "unauthorized", "")
		require.Equal(t, []string{c.want}, a.Header.Values("WWW-Authenticate"), name)
	}
}

type failingTransport struct{}

func (failingTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

// A client whose token the server cannot verify yet learns when the server tries again.
func TestTokenWhoseKeyIsNotAvailable(t *testing.T) {
	t.Parallel()
	guard, err := access.NewGuard(access.GuardConfig{
		Text: "tokens: {jwks: 'https://keys.example/', audience: a}", HTTP: &http.Client{Transport: failingTransport{}},
		Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() { guard.Run(ctx); close(running) }()
	defer func() { stop(); redistest.Receive(t, "the run to end", running) }()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: guard}})
	encode := base64.RawURLEncoding.EncodeToString
	unknown := encode([]byte(`{"alg":"ES256","kid":"k"}`)) + "." + encode([]byte(`{}`)) + "." + encode(make([]byte, 64))
	a := n.Do("GET", "/v1/boards", "", "Authorization", "Bearer "+unknown)
	servertest.RequireProblem(t, a, 503, "unavailable", "")
	require.Empty(t, a.Header.Get("WWW-Authenticate"))
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.LessOrEqual(t, seconds, 60)
	require.Greater(t, seconds, 1, "the server fetches the keys once a minute")
}
