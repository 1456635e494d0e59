package live

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/access"
)

// leeway is the time for which a token is accepted after its end.
const leeway = 30 * time.Second

const tokenFile = `tokens: {secret_file: secret}`

// in is a token of u4 for the boards b, that ends after a time.
func (w *rightsWorld) in(d time.Duration, boards ...string) string {
	return w.guard.Token(access.TokenContent{Sub: "u4", Boards: boards, Events: []string{"gift"}, Expires: time.Now().Add(d)})
}

// A socket whose token has expired is closed with 4401, within about a second, also while another client
// accepts nothing. A socket that has sent another token lives on.
func TestExpiredTokenClosesTheSocket(t *testing.T) {
	inRightsWorld(t, tokenFile, func(t *testing.T, w *rightsWorld) {
		began, short, long := time.Now(), w.in(time.Minute, "b"), w.in(time.Hour, "b")
		expires, renews, stalls := w.dial(short), w.dial(short), w.dialStalled(short)
		for _, s := range []*rightsSocket{expires, renews} {
			require.Equal(t, "ok", s.ask(`{"type":"subscribe","board":"b"}`))
		}
		var clients sync.WaitGroup
		clients.Go(func() {
			closed := expires.end()
			require.Equal(t, websocket.StatusCode(4401), closed.Code)
			require.Contains(t, closed.Reason, "expired")
			require.InDelta(t, time.Minute+leeway, time.Since(began), float64(2*time.Second))
		})
		time.Sleep(time.Minute)
		require.Equal(t, "ok", renews.ask(`{"type":"auth","token":"`+long+`"}`))
		time.Sleep(leeway - 2*time.Second)
		stalls.send(`{"type":"subscribe","board":"b"}`) // its client does not read the answer
		clients.Wait()
		stalls.ws.CloseNow()
		require.Equal(t, "pong", renews.ask(`{"type":"ping"}`))
		time.Sleep(time.Minute)
		require.Equal(t, "pong", renews.ask(`{"type":"ping"}`))
		require.Equal(t, 1, w.hub.Watched())
		renews.ws.CloseNow()
	})
}

// From its end on, a token allows nothing more, also before the socket is closed.
func TestExpiredTokenAllowsNothing(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		time.Sleep(time.Second / 2) // tokens end with a whole second, and the node looks between two
		withRights(t, tokenFile, func(w *rightsWorld) {
			const event = `{"type":"event","event":"gift","data":{}}`
			s := w.dial(w.in(0))
			require.Equal(t, "result", s.ask(event))
			time.Sleep(leeway - time.Second/4)
			require.Equal(t, "error unauthorized", s.ask(event))
			require.Equal(t, "error unauthorized", s.ask(`{"type":"subscribe","feed":"gift"}`))
			require.Equal(t, websocket.StatusCode(4401), s.end().Code)
			require.EqualValues(t, 1, w.updates.Load())
		})
	})
}

// A caller that loses its rights while its message waits for its turn changes nothing. The rights of anonymous do
// not stand in for those of its key.
func TestRightsEndDuringTheWait(t *testing.T) {
	const file = `{keys: [{name: k, hash: HASH:k, scopes: [write], events: [gift]}], tokens: {secret_file: secret}}`
	inRightsWorld(t, file, func(t *testing.T, w *rightsWorld) {
		const event = `{"type":"event","event":"gift","data":{}}`
		// during sends an event, does something while the event waits, and then lets it go on.
		during := func(s *rightsSocket, act func()) {
			var all []func()
			for range 2 {
				release, _, err := w.limits.AcquireWrite(t.Context(), access.Address{}, 0)
				require.NoError(t, err)
				all = append(all, release)
			}
			s.send(event)
			synctest.Wait()
			act()
			synctest.Wait()
			for _, release := range all {
				release()
			}
		}
		key, viewer := w.dial(w.guard.Key("k")), w.dial(w.in(0))
		during(key, func() {})
		require.Equal(t, "result", key.answer())
		time.Sleep(leeway - time.Second/2)
		during(viewer, func() { time.Sleep(time.Second) })
		require.Equal(t, websocket.StatusCode(4401), viewer.end().Code)
		require.EqualValues(t, 1, w.updates.Load())
		during(key, func() { w.guard.Replace(`{keys: [{name: k, hash: HASH:k, scopes: [read], events: [gift]}]}`) })
		require.Equal(t, "error forbidden", key.answer())
		w.guard.Replace(file)
		time.Sleep(2 * time.Second)
		during(key, func() { w.guard.Replace(`anonymous: {scopes: [read, write], events: [gift]}`) })
		require.Equal(t, "error unauthorized", key.answer())
		require.EqualValues(t, 1, w.updates.Load())
		key.ws.CloseNow()
	})
}

// After the close frame no message counts, not even auth. A client that does not close its connection is
// disconnected.
func TestClosingSocketActsOnNothing(t *testing.T) {
	inRightsWorld(t, tokenFile, func(t *testing.T, w *rightsWorld) {
		s := w.dialStalled(w.in(0))
		var received bytes.Buffer
		var reading sync.WaitGroup
		reading.Go(func() { io.Copy(&received, s.conn) }) // and it answers no close frame
		time.Sleep(leeway + 2*time.Second)
		for _, message := range []string{`{"type":"auth","token":"` + w.in(time.Hour) + `"}`, `{"type":"event","event":"gift","data":{}}`} {
			s.send(message)
		}
		synctest.Wait()
		require.Zero(t, w.updates.Load())
		reading.Wait()
		require.Contains(t, received.String(), "\x11\x31unauthorized: the token has expired", "4401 and the reason")
		s.ws.CloseNow()
	})
}

// A socket without any rights has 10 s to send auth. A wrong token does not count.
func TestSocketWithoutRightsHasTenSeconds(t *testing.T) {
	inRightsWorld(t, tokenFile, func(t *testing.T, w *rightsWorld) {
		began, silent, wrong, right := time.Now(), w.dial(""), w.dial(""), w.dial("")
		require.Equal(t, "error unauthorized", wrong.ask(`{"type":"auth","token":"x"}`))
		require.Equal(t, "error invalid_request", wrong.ask(`{"type":"auth"}`))
		time.Sleep(9 * time.Second)
		require.Equal(t, "ok", right.ask(`{"type":"auth","token":"`+w.in(time.Hour, "b")+`"}`))
		for _, s := range []*rightsSocket{silent, wrong} {
			closed := s.end()
			require.Equal(t, websocket.StatusCode(4503), closed.Code)
			require.Contains(t, closed.Reason, "send auth")
		}
		require.GreaterOrEqual(t, time.Since(began), 10*time.Second)
		require.LessOrEqual(t, time.Since(began), 12*time.Second)
		time.Sleep(time.Minute)
		require.Equal(t, "ok", right.ask(`{"type":"subscribe","board":"b"}`))
		right.ws.CloseNow()
	})
}

// Scopes without a grant, and scopes that no message needs, are no rights on a socket.
func TestRightsThatASocketCannotUse(t *testing.T) {
	const keys = `keys: [{name: metrics, hash: HASH:metrics, scopes: [metrics]}, {name: moderate, hash: HASH:moderate, ` +
		`scopes: [moderate], boards: [b]}, ` +
		`{name: kinds, hash: HASH:kinds, scopes: [read, write], kinds: [k]}, {name: ungranted, hash: HASH:ungranted, scopes: [read, write]}, ` +
		`{name: reads, hash: HASH:reads, scopes: [read], boards: [b]}, {name: feeds, hash: HASH:feeds, scopes: [read], events: [gift]}, ` +
		`{name: writes, hash: HASH:writes, scopes: [write], boards: [b]}, {name: ops, hash: HASH:ops, scopes: [admin]}]`
	// anonymous may read profiles, which no message does
	inRightsWorld(t, `{`+keys+`, tokens: {secret_file: secret}, anonymous: {scopes: [read], kinds: [k]}}`, func(t *testing.T, w *rightsWorld) {
		token := func(boards, events []string) string {
			return w.guard.Token(access.TokenContent{Sub: "u4", Boards: boards, Events: events, Expires: time.Now().Add(time.Hour)})
		}
		var useless, useful []*rightsSocket
		for _, credentials := range []string{"", token(nil, nil), w.guard.Key("metrics"), w.guard.Key("moderate"),
			w.guard.Key("kinds"), w.guard.Key("ungranted")} {
			useless = append(useless, w.dial(credentials))
		}
		for _, credentials := range []string{token([]string{"b"}, nil), token(nil, []string{"gift"}), w.guard.Key("reads"),
			w.guard.Key("feeds"), w.guard.Key("writes"), w.guard.Key("ops")} {
			useful = append(useful, w.dial(credentials))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for i, s := range useless {
			select {
			case _, open := <-s.frames:
				require.False(t, open)
				require.Equal(t, websocket.StatusCode(4503), s.closed.Code, i)
			default:
				require.Fail(t, "the socket is open", "%d", i)
			}
		}
		for _, s := range useful {
			require.Equal(t, "pong", s.ask(`{"type":"ping"}`))
			s.ws.CloseNow()
		}
	})
}

// A key that leaves the access file leaves the rights of anonymous. The subscriptions that these do not
// include end, each with an error, and the others go on.
func TestKeyLeavesTheFile(t *testing.T) {
	const anonymous = `anonymous: {scopes: [read], boards: [open]}`
	inRightsWorld(t, `{keys: [{name: k, hash: HASH:k, scopes: [read], boards: [open, closed], events: [gift]}], `+anonymous+`}`,
		func(t *testing.T, w *rightsWorld) {
			s := w.dial(w.guard.Key("k"))
			for _, subscribe := range []string{`{"type":"subscribe","board":"open"}`, `{"type":"subscribe","board":"closed"}`,
				`{"type":"subscribe","feed":"gift"}`} {
				require.Equal(t, "ok", s.ask(subscribe))
			}
			w.hub.FeedFollowed("gift")
			require.Equal(t, "feed gift", s.answer())
			require.Equal(t, 2, w.hub.Watched())
			require.Equal(t, 1, w.hub.Feeds())
			w.guard.Replace(anonymous)
			lost := []string{s.answer(), s.answer()}
			require.ElementsMatch(t, []string{"error closed forbidden", "error gift forbidden"}, lost)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			require.Equal(t, 1, w.hub.Watched())
			require.Zero(t, w.hub.Feeds())
			require.Equal(t, "error unauthorized", s.ask(`{"type":"subscribe","board":"closed"}`))
			require.Equal(t, "ok", s.ask(`{"type":"unsubscribe","board":"open"}`))
			require.Equal(t, "error invalid_request", s.ask(`{"type":"unsubscribe","board":"closed"}`))

			w.guard.Replace(`{}`) // nobody may do anything
			began := time.Now()
			require.Equal(t, websocket.StatusCode(4503), s.end().Code)
			require.LessOrEqual(t, time.Since(began), 13*time.Second)
			require.GreaterOrEqual(t, time.Since(began), 10*time.Second)
		})
}

// A caller of a former access file gets no rights by it: the file may have changed between the check of its
// credentials and now.
func TestCallerOfAFormerFile(t *testing.T) {
	inRightsWorld(t, `keys: [{name: k, hash: HASH:k, scopes: [read], boards: [b]}]`, func(t *testing.T, w *rightsWorld) {
		version := w.guard.Version()
		c, err := w.guard.Authenticate(t.Context(), w.guard.Key("k"))
		require.NoError(t, err)
		w.guard.Replace(`{}`)
		synctest.Wait()
		ss := &session{sessions: &Sessions{cfg: Config{Guard: w.guard.Guard}}}
		ss.caller.Store(w.guard.Anonymous())
		_, set := ss.setCallerOf(c, version)
		require.False(t, set)
		require.Error(t, ss.keep(&message{caller: c, about: access.Board("b")}, func() { t.Error("the subscription is kept") }))
	})
}

// A stream ends with an error event when its token expires, or when its key leaves the access file.
func TestStreamLosesItsRights(t *testing.T) {
	const file = `{keys: [{name: k, hash: HASH:k, scopes: [read], boards: [b]}, {name: other, hash: HASH:other, scopes: ` +
		`[read], boards: [b]}], ` + tokenFile + `}`
	inRightsWorld(t, file, func(t *testing.T, w *rightsWorld) {
		open := func(credentials string) *bufio.Reader {
			r, err := http.NewRequest("GET", "http://node/stream/b", nil)
			require.NoError(t, err)
			r.Header.Set("Authorization", "Bearer "+credentials)
			a, err := w.client(func(net.Conn) {}).Do(r)
			require.NoError(t, err)
			require.Equal(t, 200, a.StatusCode)
			t.Cleanup(func() { a.Body.Close() })
			return bufio.NewReader(a.Body)
		}
		requireEnd := func(lines *bufio.Reader, code string) {
			t.Helper()
			rest, err := io.ReadAll(lines)
			require.NoError(t, err)
			_, last, found := strings.Cut(string(rest), "event: error\ndata: ")
			require.True(t, found, string(rest))
			require.True(t, strings.HasPrefix(last, `{"type":"error","board":"b","code":"`+code+`","message":"`), last)
			require.True(t, strings.HasSuffix(last, "}\n\n"), last)
		}
		began := time.Now()
		viewer, withdrawn, stays := open(w.in(0, "b")), open(w.guard.Key("k")), open(w.guard.Key("other"))
		w.guard.Replace(strings.Replace(file, "{name: k, hash: HASH:k, scopes: [read], boards: [b]}, ", "", 1))
		requireEnd(withdrawn, "forbidden")
		require.LessOrEqual(t, time.Since(began), 2*time.Second)
		requireEnd(viewer, "unauthorized")
		require.LessOrEqual(t, time.Since(began), leeway+2*time.Second)
		w.guard.Replace(`keys: [{name: other, hash: HASH:other, scopes: [read], boards: [c]}]`)
		requireEnd(stays, "forbidden")
	})
}
