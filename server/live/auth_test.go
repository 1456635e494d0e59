package live_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/live"
	"rankcast/server/servertest"
)

// grants is a token of u4 for boards and for the events gift and periods.
func grants(g *accesstest.Guard, boards ...string) string {
	return g.Token(access.TokenContent{Sub: "u4", Boards: boards, Events: []string{"gift", "periods"}, Expires: time.Now().Add(time.Hour)})
}

func auth(s *servertest.Socket, credentials string) hubtest.Message {
	s.Send(`{"type":"auth","id":"a","token":%q}`, credentials)
	return s.Next("ok", "error")
}

const accessFile = `
keys:
  - {name: w, hash: HASH:w, scopes: [read, write], boards: [b], events: [gift]}
tokens: {secret_file: secret}
`

// startGuarded is a node with boards b and c, and an event gift that updates b.
func startGuarded(t *testing.T, url string, cfg server.Config) *servertest.Node {
	n := servertest.Start(t, url, servertest.Config{Server: cfg}, definition.Board{Name: "b"}, definition.Board{Name: "c"})
	require.NoError(t, n.Store.DefineEvent(t.Context(),
		definition.Event{Name: "gift", Updates: []definition.Target{{Board: "b", Member: "{to}", Score: "{n}"}}}, ranking.Moderator{}))
	return n
}

// A message needs the scope and the grant of its board or event. The answer without them does not say whether
// there is such a board. Wrong credentials leave the rights as they are.
func TestMessagesNeedRights(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		g := accesstest.Start(t, accessFile)
		n := startGuarded(t, url, server.Config{Access: g.Guard})
		s := servertest.Dial(t, n.Addr)
		ask := func(message string, args ...any) string {
			s.Send(message, args...)
			m := s.Next("ok", "error", "result")
			return m.Type + " " + m.Code
		}
		const update, event = `{"type":"update","board":%q,"update":{"member":"m","score":1}}`,
			`{"type":"event","event":%q,"data":{"to":"m","n":1}}`
		for _, name := range []string{"b", "none"} {
			require.Equal(t, "error unauthorized", ask(`{"type":"subscribe","board":%q}`, name))
			require.Equal(t, "error unauthorized", ask(`{"type":"subscribe","feed":%q}`, name))
			require.Equal(t, "error unauthorized", ask(update, name))
			require.Equal(t, "error unauthorized", ask(event, name))
		}
		require.Equal(t, "ok", auth(s, grants(g, "b")).Type)
		for _, credentials := range []string{"x", "rck_none", grants(g, "b") + "x"} {
			require.Equal(t, "unauthorized", auth(s, credentials).Code)
		}
		require.Equal(t, "ok ", ask(`{"type":"subscribe","board":"b"}`))
		require.NotContains(t, ask(`{"type":"subscribe","board":"b@-1"}`), "forbidden", "a board covers its periods")
		require.Equal(t, "ok ", ask(`{"type":"subscribe","feed":"gift"}`))
		for _, name := range []string{"c", "none"} {
			require.Equal(t, "error forbidden", ask(`{"type":"subscribe","board":%q}`, name))
			require.Equal(t, "error forbidden", ask(`{"type":"subscribe","feed":%q}`, name))
			require.Equal(t, "error forbidden", ask(event, name))
		}
		require.Equal(t, "error forbidden", ask(update, "b"), "a viewer sends events only")
		require.Equal(t, "ok", auth(s, g.Key("w")).Type)
		require.Equal(t, "result ", ask(update, "b"))
		require.Equal(t, "result ", ask(event, "gift"))
		require.Equal(t, "error forbidden", ask(update, "c"))
		page, err := n.Store.Page(t.Context(), "c", 1, 1)
		require.NoError(t, err)
		require.Zero(t, page.Total)
	})
}

// A token that is renewed changes nothing but the rights. A narrower one ends the subscriptions that it does
// not include, each with an error, and no other one.
func TestTokenIsRenewed(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		g := accesstest.Start(t, accessFile)
		n := startGuarded(t, url, server.Config{Access: g.Guard})
		s := servertest.DialPath(t, n.Addr, "/v1/live", "Authorization", "Bearer "+grants(g, "b", "c"))
		s.Subscribe("b", 10)
		s.Subscribe("c", 10)
		s.Send(`{"type":"subscribe","feed":"gift"}`)
		s.Next("feed")
		// next is the type and the board of the next message.
		next := func() string {
			m, err := s.Read()
			require.NoError(t, err)
			return m.Type + " " + m.Board + m.Feed
		}
		score := func(board string) {
			_, err := n.Store.Apply(t.Context(), board, []definition.Update{{Member: "m", Score: 1}})
			require.NoError(t, err)
		}
		s.Send(`{"type":"auth","token":%q}`, grants(g, "b", "c", "d"))
		require.Equal(t, "ok ", next())
		score("c")
		require.Equal(t, "snapshot c", next(), "the first entries; nothing was sent again before")
		score("c")
		require.Equal(t, "delta c", next())

		s.Send(`{"type":"auth","token":%q}`, grants(g, "b"))
		require.Equal(t, "ok ", next())
		m := s.Next("error", "delta", "snapshot")
		require.Equal(t, "error c forbidden", m.Type+" "+m.Board+" "+m.Code)
		require.Contains(t, m.Message, `"u4"`)
		score("c")
		score("b")
		require.Equal(t, "snapshot b", next())
		require.Equal(t, 1, n.Hub.Watched())
		require.Equal(t, 1, n.Hub.Feeds())
	})
}

// On the feed "periods" a client sees the boards that it may read at that moment.
func TestPeriodsOfGrantedBoards(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, accessFile)
	n := startGuarded(t, redistest.Embedded(t), server.Config{Access: g.Guard})
	s := servertest.DialPath(t, n.Addr, "/v1/live", "Authorization", "Bearer "+grants(g, "b"))
	s.Send(`{"type":"subscribe","feed":"periods"}`)
	require.Empty(t, s.Next("feed").Items)
	closed := func(boards ...string) {
		var items [][]byte
		for _, b := range boards {
			items = append(items, fmt.Appendf(nil, `{"at":"2026-11-20T06:30:00.000Z","data":{"board":%q}}`, b))
		}
		n.Hub.FeedItems(definition.PeriodsFeed, items)
	}
	shown := func() (boards []string) {
		for _, item := range s.Next("feed").Items {
			var about struct{ Board string }
			require.NoError(t, json.Unmarshal([]byte(item.Data), &about))
			boards = append(boards, about.Board)
		}
		return boards
	}
	closed("c", "b", "c")
	require.Equal(t, []string{"b"}, shown())
	require.Equal(t, "ok", auth(s, grants(g, "c")).Type)
	closed("c", "b")
	require.Equal(t, []string{"c"}, shown())
}

// A page of another site that the server allows sends with credentials, and not without.
func TestPageOfAnotherSiteSendsWithToken(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, accessFile+`anonymous: {scopes: [read, write], events: [gift]}`)
	n := startGuarded(t, redistest.Embedded(t), server.Config{Access: g.Guard, Origins: []string{"https://example.com"}})
	s := servertest.DialPath(t, n.Addr, "/v1/live", "Origin", "https://example.com")
	event := func() hubtest.Message {
		s.Send(`{"type":"event","event":"gift","data":{"to":"m","n":1}}`)
		return s.Next("result", "error")
	}
	m := event()
	require.Equal(t, "forbidden type", m.Code+" "+m.Field)
	require.Contains(t, m.Message, "token")
	require.Equal(t, "ok", auth(s, g.Key("w")).Type)
	require.Equal(t, "result", event().Type)
}

// Each subscribe, update and event takes a token of the caller's rate.
func TestMessagesCountForTheRate(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, `keys: [{name: k, hash: HASH:k, scopes: [admin], rate: 1/m}]`)
	n := startGuarded(t, redistest.Embedded(t), server.Config{Access: g.Guard})
	for _, message := range []string{
		`{"type":"subscribe","board":"b"}`, `{"type":"subscribe","feed":"gift"}`,
		`{"type":"update","board":"b","update":{"member":"m","score":1}}`, `{"type":"event","event":"gift","data":{"to":"m","n":1}}`,
	} {
		s := servertest.DialPath(t, n.Addr, "/v1/live", "Authorization", "Bearer "+g.Key("k"))
		limited := 0
		for range 3 {
			s.Send("%s", message)
			if s.Next("ok", "result", "error").Code == "rate_limited" {
				limited++
			}
		}
		require.GreaterOrEqual(t, limited, 2, message)
		s.Send(`{"type":"ping"}`)
		s.Next("pong")
	}
}

// Without an access file auth has no effect, and needs a token all the same.
func TestAuthWithoutAccessFile(t *testing.T) {
	t.Parallel()
	n := startGuarded(t, redistest.Embedded(t), server.Config{})
	s := servertest.Dial(t, n.Addr)
	require.Equal(t, "ok", auth(s, "anything").Type)
	for _, message := range []string{`{"type":"auth"}`, `{"type":"auth","token":""}`, `{"type":"auth","token":7}`,
		`{"type":"auth","token":"x","y":1}`} {
		s.Send("%s", message)
		require.Equal(t, "invalid_request", s.Next("error", "ok").Code, message)
	}
	s.Subscribe("b", 10)
}

// However the subscriptions of clients and the changes of the access file interleave, no client watches in the
// end what it may not.
func TestSubscriptionsWhileRightsChange(t *testing.T) {
	t.Parallel()
	const granted, denied = `keys: [{name: k, hash: HASH:k, scopes: [read], boards: [b, c], events: [gift]}]`,
		`keys: [{name: k, hash: HASH:k, scopes: [read], boards: [b]}]`
	g := accesstest.Start(t, granted)
	n := startGuarded(t, redistest.Embedded(t), server.Config{Access: g.Guard})
	watcher := servertest.DialPath(t, n.Addr, "/v1/live", "Authorization", "Bearer "+g.Key("k"))
	watcher.Subscribe("b", 10)
	var clients sync.WaitGroup
	for range 4 {
		s := servertest.DialPath(t, n.Addr, "/v1/live", "Authorization", "Bearer "+g.Key("k"))
		clients.Go(func() {
			for range 30 {
				s.Send(`{"type":"subscribe","id":1,"board":"c"}`)
				s.Send(`{"type":"subscribe","id":1,"feed":"gift"}`)
				s.Send(`{"type":"auth","id":1,"token":%q}`, g.Key("k"))
				s.Send(`{"type":"ping","id":2}`)
				s.Next("pong")
			}
		})
	}
	for i := range 6 {
		g.Enforce([]string{denied, granted}[i%2] + fmt.Sprintf("\n# %d\n", i))
	}
	g.Replace(denied)
	redistest.Wait(t, "the callers of the test", clients.Wait)
	redistest.UntilEqual(t, "one board and no feed: the end of what is denied", [2]int{1, 0},
		func() [2]int { return [2]int{n.Hub.Watched(), n.Hub.Feeds()} })
}

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

// The documentation says of each message of a socket what it needs of its caller, and names no other one.
func TestDocsNameTheNeedOfEachMessage(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../web/docs/security.md")
	require.NoError(t, err)
	page := string(b)
	listed := map[string]string{"subscribe feed": "`subscribe` to a feed", "subscribe board": "`subscribe` to a board"}
	rows := make(map[string]bool)
	var free []string // the messages that need nothing, which stand in one row
	for _, need := range live.MessageNeeds() {
		if need.Scope == 0 {
			if name := "`" + need.Type + "`"; !slices.Contains(free, name) {
				free = append(free, name)
			}
			continue
		}
		name := cmp.Or(listed[need.Type+" "+need.Field], "`"+need.Type+"`")
		row := regexp.MustCompile("(?m)^\\| " + name + " \\| `" + need.Scope.String() + "` \\| `" + need.Resource.String() + "s`(;[^|]*)? \\|$")
		require.Regexp(t, row, page, "%s %s", need.Type, need.Field)
		rows[name] = true
	}
	require.Contains(t, page, "\n| "+strings.Join(free, " ")+" | none | |\n")
	require.Len(t, rows, len(live.MessageNeeds())-len(free)-1, "unsubscribe stands for both of its fields")

	table := regexp.MustCompile("(?m)^\\| `[a-z]+`[^|/]* \\| (?:`[a-z]+`|none) \\|").FindAllString(page, -1)
	require.Len(t, table, len(rows)+1, "the table has other messages")
}
