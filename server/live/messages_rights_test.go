package live_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/live"
	"rankcast/server/servertest"
)

// messageCallers are callers who send messages about the board b and the event gift. Each letter stands for one: n
// nobody, r read, w write, m moderate, M metrics, A admin, v viewer, x expired viewer, o a key with the scopes read,
// write, moderate and metrics for other boards, events and kinds.
const messageCallers = "nrwmMAvxo"

// messageRights are the callers that may send each message, by its type and field, on a server whose anonymous may
// do nothing, and on one where it may read b and send gift.
var messageRights = map[string]struct{ message, closed, open string }{
	"subscribe board":   {`{"type":"subscribe","board":"b"}`, "rvA", "nxrvA"},
	"subscribe feed":    {`{"type":"subscribe","feed":"gift"}`, "rvA", "nxrvA"},
	"update board":      {`{"type":"update","board":"b","update":{"member":"m","score":1}}`, "wA", "wA"},
	"event event":       {`{"type":"event","event":"gift","data":{}}`, "wvA", "nxwvA"},
	"unsubscribe board": {`{"type":"unsubscribe","board":"b"}`, messageCallers, messageCallers},
	"unsubscribe feed":  {`{"type":"unsubscribe","feed":"gift"}`, messageCallers, messageCallers},
	"ping ":             {`{"type":"ping"}`, messageCallers, messageCallers},
	"auth ":             {`{"type":"auth","token":""}`, messageCallers, messageCallers},
}

// Each message lets exactly those callers pass that may send it. All others get unauthorized or forbidden.
func TestEachMessageChecksItsCaller(t *testing.T) {
	t.Parallel()
	for _, anonymous := range []bool{false, true} {
		t.Run(fmt.Sprintf("anonymous=%v", anonymous), func(t *testing.T) {
			t.Parallel()
			scopes := map[byte]string{'r': "read", 'w': "write", 'm': "moderate", 'M': "metrics", 'A': "admin"}
			file := "keys:\n  - {name: other, hash: HASH:other, scopes: [read, write, moderate, metrics], boards: [z], events: [z], kinds: [z]}\n"
			for _, scope := range scopes {
				grants := ", boards: [b], events: [gift], kinds: [user]"
				if scope == "admin" {
					grants = ""
				}
				file += fmt.Sprintf("  - {name: %s, hash: HASH:%s, scopes: [%s]%s}\n", scope, scope, scope, grants)
			}
			file += "tokens: {secret_file: secret}\n"
			if anonymous {
				file += "anonymous: {scopes: [read, write], boards: [b], events: [gift]}\n"
			}
			g := accesstest.Start(t, file)
			viewer := func(valid time.Duration) string {
				return g.Token(access.TokenContent{Sub: "u4", Boards: []string{"b"}, Events: []string{"gift"}, Expires: time.Now().Add(valid)})
			}
			credentials := map[byte]string{'n': "", 'v': viewer(time.Hour), 'x': viewer(-time.Hour), 'o': g.Key("other")}
			for letter, scope := range scopes {
				credentials[letter] = g.Key(scope)
			}
			n := startGuarded(t, redistest.Embedded(t), server.Config{Access: g.Guard})
			require.Equal(t, 200, n.Do("PUT", "/v1/events/gift",
				`{"updates":[{"board":"b","member":"{user}","score":"{n}"}],"sender":"user","fields":{"n":{"min":1,"max":9}}}`,
				"Authorization", "Bearer "+g.Key("admin")).Status)
			for _, need := range live.MessageNeeds() {
				name := need.Type + " " + need.Field
				c, known := messageRights[name]
				require.True(t, known, "no rights for %s", name)
				may := c.closed
				if anonymous {
					may = c.open
				}
				for _, letter := range []byte(messageCallers) {
					s := servertest.Dial(t, n.Addr)
					if letter != 'n' {
						m := auth(s, credentials[letter])
						require.Equal(t, letter == 'x', m.Code == "unauthorized", "auth of %c", letter)
					}
					s.Send("%s", c.message)
					m := s.Next("ok", "pong", "result", "error")
					passed := m.Code != "unauthorized" && m.Code != "forbidden"
					require.Equal(t, strings.Contains(may, string(letter)), passed, "%s by %c: %s %s", name, letter, m.Code, m.Message)
					switch {
					case passed:
					case letter == 'n' || letter == 'x':
						require.Equal(t, "unauthorized", m.Code, "%s by %c", name, letter)
					default:
						require.Equal(t, "forbidden", m.Code, "%s by %c", name, letter)
					}
					s.WS.CloseNow()
				}
			}
			require.Len(t, messageRights, len(live.MessageNeeds()))
		})
	}
}
