package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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

// A caller that loses its rights while its body arrives changes nothing.
func TestRightsEndWhileTheBodyArrives(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		const other = `  - {name: other, hash: HASH:other, scopes: [read, write], boards: [b]}` + "\n"
		file := func(rights string) string {
			return "keys:\n" + keyLine("ops", "scopes: [admin]") + keyLine("k", rights) + other
		}
		both := file("scopes: [admin]")
		g := accesstest.Start(t, both)
		n := servertest.Start(t, url, servertest.Config{Server: server.Config{Access: g.Guard}}, definition.Board{Name: "b"},
			definition.Board{Name: "c"})
		require.NoError(t, n.Store.DefineEvent(t.Context(),
			definition.Event{Name: "e", Updates: []definition.Target{{Board: "b", Member: "{user}", Score: "{n}"}}}, ranking.Moderator{}))
		replace := func(text string) {
			before := g.Version()
			g.Replace(text + fmt.Sprintf("# after %d\n", before)) // the same text twice is no change
			redistest.Eventually(t, "the new file", func() error {
				if g.Version() == before {
					return errors.New("the former one is in force")
				}
				return nil
			})
		}
		type body struct{ path, kind, first, rest string }
		score := body{"/v1/boards/b/scores", "application/json", `{"member":"m",`, `"score":1}`}
		event := body{"/v1/events/e", "application/json", `{"user":"m",`, `"n":1}`}
		imported := body{"/v1/boards/b/import", "text/csv", "member,score\nm", ",1\n"}
		for _, c := range []struct {
			body
			key, file string
			want      string
		}{
			{score, "k", "keys:\n" + keyLine("ops", "scopes: [admin]") + other, "401 unauthorized"},
			{score, "k", file("scopes: [write], boards: [c]"), "403 forbidden"},
			{score, "k", file("scopes: [read], boards: [b]"), "403 forbidden"},
			// The rights of anonymous are not those of the request.
			{event, "k", "anonymous: {scopes: [read, write], events: [e]}\nkeys:\n" + keyLine("ops", "scopes: [admin]"), "401 unauthorized"},
			{imported, "k", file("scopes: [write], boards: [b]"), "403 forbidden"},
			{score, "other", file("scopes: [read], boards: [b]"), "200 "},
		} {
			replace(both)
			conn, err := net.Dial("tcp", n.Addr)
			require.NoError(t, err)
			require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nExpect: "+
				"100-continue\r\nContent-Length: %d\r\n\r\n",
				c.path, g.Key(c.key), c.kind, len(c.first+c.rest))
			in := bufio.NewReader(conn)
			line, err := in.ReadString('\n') // the handler reads, so the caller was allowed
			require.NoError(t, err)
			require.Contains(t, line, "100 Continue")
			io.WriteString(conn, c.first)
			_, err = in.ReadString('\n')
			require.NoError(t, err)
			replace(c.file)
			io.WriteString(conn, c.rest)
			res, err := http.ReadResponse(in, nil)
			require.NoError(t, err)
			answer, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			conn.Close()
			status, code, _ := strings.Cut(c.want, " ")
			require.Equal(t, status, fmt.Sprint(res.StatusCode), "%s", answer)
			page, err := n.Store.Page(t.Context(), "b", 1, 1)
			require.NoError(t, err)
			if code == "" {
				require.EqualValues(t, 1, page.Total)
				continue
			}
			require.Contains(t, string(answer), `"code":"`+code+`"`)
			require.Zero(t, page.Total)
		}
	})
}
