package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

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
	secrets := []string{key, unknown, g.Secret(), "rct_unknownticket"}
	for _, token := range []string{valid, expired, forged, "a.b.c" + key} {
		secrets = append(secrets, token)
		if parts := strings.Split(token, "."); len(parts[1]) > 10 {
			secrets = append(secrets, parts[1], parts[2])
		}
	}
	var answers strings.Builder
	for _, credentials := range []string{key, unknown, valid, expired, forged, "a.b.c" + key, "x" + key} {
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
			for range 2 { // the second time it is used
				fmt.Fprintln(&answers, n.Do("GET", "/v1/boards/a/live?top=-1&ticket="+ticket.Ticket, "").Body)
				socketOf(t, n, "?ticket="+ticket.Ticket, &answers)
			}
		}
		socketOf(t, n, "", &answers, `{"type":"auth","id":1,"token":"`+credentials+`"}`)
	}
	socketOf(t, n, "?ticket=rct_unknownticket", &answers)
	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	for _, k := range keys {
		fmt.Fprintln(&answers, k, rdb.Get(t.Context(), k).Val())
	}
	n.Stop()
	require.Contains(t, text.String(), "X-Forwarded-For", "the log has messages, so that the search below means something")
	for _, secret := range secrets {
		require.NotContains(t, text.String(), secret)
		require.NotContains(t, answers.String(), secret)
	}
}

// socketOf opens a socket, sends messages, and notes the answer to each, or the reason for which the server
// closes.
func socketOf(t *testing.T, n *servertest.Node, query string, answers *strings.Builder, messages ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://"+n.Addr+"/v1/live"+query, &websocket.DialOptions{Subprotocols: []string{"rankcast.v1"}})
	require.NoError(t, err)
	defer ws.CloseNow()
	for _, message := range append(messages, `{"type":"ping","id":"last"}`) {
		if ws.Write(ctx, websocket.MessageText, []byte(message)) != nil {
			return
		}
		_, b, err := ws.Read(ctx)
		if err != nil {
			fmt.Fprintln(answers, err)
			return
		}
		fmt.Fprintln(answers, string(b))
	}
}
