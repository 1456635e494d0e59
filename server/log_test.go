package server_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// While all goes wrong that can, no line above debug has the id of a member, and no line has a key or a token.
func TestLogHasNoMembersAndNoSecrets(t *testing.T) {
	t.Parallel()
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			const member = "secret-member"
			redis, log := redistest.Start(t), new(redistest.Log)
			logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))
			g := accesstest.StartWithLog(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+keyLine("reader", "scopes: [read]")+
				"tokens: {secret_file: secret}\n", logger)
			key, reader := g.Key("ops"), g.Key("reader")
			expired := token(g, member, []string{"b"}, nil, -time.Hour)
			n := servertest.Start(t, redis.URL(), servertest.Config{Ranking: ranking.Config{CallTimeout: 2 * time.Second},
				Server: server.Config{Access: g.Guard, Log: logger}},
				definition.Board{Name: "b", Kind: "user"})
			redistest.Eventually(t, "the node to be ready", func() error { return statusIs(n.Do("GET", "/readyz", ""), 200) })
			send := func(credentials string) {
				for _, r := range [][3]string{
					{"GET", "/v1/boards/b/members/" + member}, {"POST", "/v1/boards/b/scores", `{"member":"` + member + `","score":1,"id":"1"}`},
					{"PUT", "/v1/boards/b/members/" + member + "/score", `{"score":1}`}, {"DELETE", "/v1/boards/b/members/" + member},
					{"PUT", "/v1/boards/b/hidden/" + member, `{}`}, {"PUT", "/v1/hidden/user/" + member, `{}`}, {"GET", "/v1/members/user/" + member},
					{"PUT", "/v1/members/user/" + member, `{"name":"x"}`}, {"DELETE", "/v1/members/user/" + member + "/profile"},
					{"DELETE", "/v1/members/user/" + member},
					{"GET", "/v1/members/user/" + member + "/erasure"}, {"GET", "/v1/boards/b/members/" + member + "?around=x"}, {"GET", "/v1/" + member},
				} {
					n.Do(r[0], r[1], r[2], "Authorization", "Bearer "+credentials)
				}
			}
			for range 2 {
				for _, credentials := range []string{key, reader, expired, "rck_wrong" + key[9:]} {
					send(credentials)
				}
				redis.Kill() // then all of it fails
			}
			text := log.String()
			require.Contains(t, text, "callers have no valid key or token")
			require.Contains(t, text, "callers may not do what they ask for")
			require.Contains(t, text, "request failed")
			require.Equal(t, level == slog.LevelDebug, strings.Contains(text, member), text)
			for line := range strings.Lines(text) {
				require.False(t, strings.Contains(line, member) && !strings.Contains(line, "level=DEBUG"), line)
			}
			for _, secret := range []string{key, reader, expired, key[9:], g.Secret()} {
				require.NotContains(t, text, secret)
			}
		})
	}
}

// The answer with an error, and the line of the log about it, have the id of the request: the client's, or a new one.
func TestFailedRequestsHaveAnID(t *testing.T) {
	t.Parallel()
	redis, log := redistest.Start(t), new(redistest.Log)
	n := servertest.Start(t, redis.URL(), servertest.Config{Server: server.Config{Log: slog.New(slog.NewTextHandler(log, nil))}},
		definition.Board{Name: "b"})
	id := func(want int, header ...string) string {
		a := n.Do("POST", "/v1/boards/b/scores", `{"member":"ana","score":1}`, header...)
		require.Equal(t, want, a.Status, a.Body)
		return a.Header.Get("X-Request-Id")
	}
	require.Empty(t, id(200), "an answer without an error")
	n.UntilMetric("rankcast_redis_up", 1)
	redis.Kill()
	n.UntilMetric("rankcast_redis_up", 0)
	require.Equal(t, "from-proxy-1", id(503, "X-Request-Id", "from-proxy-1"))
	require.Contains(t, log.String(),
		`msg="request failed (the log has one failure a second)" method=POST route=/v1/boards/{board}/scores request=from-proxy-1 error=`)
	require.Contains(t, log.String(), " board=b\n")
	made := id(503)
	require.Len(t, made, 26)
	require.NotEqual(t, made, id(503))
	for _, bad := range []string{strings.Repeat("x", 65), "a b", "é"} {
		require.Len(t, id(503, "X-Request-Id", bad), 26, bad)
	}
	require.Len(t, n.Do("GET", "/v1/boards/none/top", "").Header.Get("X-Request-Id"), 26)
}
