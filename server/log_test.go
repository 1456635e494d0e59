package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
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
			n.UntilReady()
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

// No log at any level, no answer and nothing in Redis holds a key, a token, a ticket or a secret, whether it is
// valid or not. That includes the parts of a token.
func TestSecretsStayOutOfLogs(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	rdb := redistest.Dial(t, url)
	var text redistest.Log
	log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
	g := accesstest.StartWithLog(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+"tokens: {secret_file: secret}\n", log)
	key, unknown := g.Key("ops"), access.NewKey()
	n := servertest.Start(t, url, servertest.Config{Server: server.Config{Access: g.Guard, Log: log}}, definition.Board{Name: "a"})
	valid := token(g, "m", []string{"a"}, nil, time.Hour)
	expired := token(g, "m", []string{"a"}, nil, -time.Hour)
	forged := valid[:len(valid)-4] + "AAAA"
	unknownTicket := access.NewTicket()
	secrets := []string{key, unknown, g.Secret(), unknownTicket}
	for _, token := range []string{valid, expired, forged, "a.b.c" + key} {
		secrets = append(secrets, token)
		if parts := strings.Split(token, "."); len(parts[1]) > 10 {
			secrets = append(secrets, parts[1], parts[2])
		}
	}
	var answers strings.Builder
	note := func(s *servertest.Socket, want, message string) { // notes the answer to a message, which is of the wanted type
		t.Helper()
		s.Send("%s", message)
		b, err := s.Raw()
		require.NoError(t, err)
		var answer struct{ Type string }
		require.NoError(t, json.Unmarshal(b, &answer))
		require.Equal(t, want, answer.Type, "%s", b)
		fmt.Fprintln(&answers, string(b))
	}
	refused := func(ticket string) { // notes why the server closes a socket
		t.Helper()
		_, err := servertest.DialPath(t, n.Addr, "/v1/live?ticket="+ticket).Raw()
		require.Equal(t, websocket.StatusCode(4401), websocket.CloseStatus(err))
		fmt.Fprintln(&answers, err)
	}
	for _, credentials := range []string{key, unknown, valid, expired, forged, "a.b.c" + key, "x" + key, unknownTicket} {
		for _, path := range []string{"/v1/boards/a/top", "/v1/boards/a/live?top=-1", "/v1/nothing", "/readyz?verbose", "/", "/v1/live"} {
			// no proxy is trusted: the log says so
			a := n.Do("GET", path, "", "Authorization", "Bearer "+credentials, "X-Forwarded-For", "203.0.113.9")
			fmt.Fprintln(&answers, a.Header, a.Body)
		}
		a := n.Do("POST", "/v1/tickets", "", "Authorization", "Bearer "+credentials)
		var ticket struct{ Ticket string }
		if json.Unmarshal([]byte(a.Body), &ticket); ticket.Ticket != "" {
			require.Equal(t, 201, a.Status)
			secrets = append(secrets, ticket.Ticket)
			note(servertest.DialPath(t, n.Addr, "/v1/live?ticket="+ticket.Ticket), "pong", `{"type":"ping","id":"last"}`)
			refused(ticket.Ticket) // it is used
			fmt.Fprintln(&answers, n.Require(401, "GET", "/v1/boards/a/live?top=-1&ticket="+ticket.Ticket, "").Body)
		}
		for _, a := range []servertest.Answer{ // at wrong places
			n.Require(401, "POST", "/v1/tickets", "", "Authorization", "Bearer "+credentials+"x"),
			n.Require(401, "GET", "/v1/boards/a/live?ticket="+credentials, ""),
			n.Require(401, "GET", "/v1/live?ticket="+credentials, "", "Authorization", "Basic "+credentials),
		} {
			fmt.Fprintln(&answers, a.Header, a.Body)
		}
		refused(credentials)
		socket, authorized := servertest.Dial(t, n.Addr), "error"
		if credentials == key || credentials == valid {
			authorized = "ok"
		}
		note(socket, authorized, `{"type":"auth","id":1,"token":"`+credentials+`"}`)
		for _, form := range []string{`{"type":"auth","token":["%s"]}`, `{"type":"auth","token":"%s"`, `{"type":"auth","token":{"%s":1}}`} {
			note(socket, "error", fmt.Sprintf(form, credentials))
		}
		note(socket, "pong", `{"type":"ping","id":"last"}`)
	}
	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	for _, k := range keys {
		fmt.Fprintln(&answers, k, rdb.Get(t.Context(), k).Val())
	}
	n.Stop()
	require.Contains(t, text.String(), "X-Forwarded-For", "the log has messages, so that the search below means something")
	for _, secret := range secrets {
		require.NotContains(t, text.String(), secret)
		require.NotContains(t, text.String(), access.HashSecret(secret))
		require.NotContains(t, answers.String(), secret)
	}
}
