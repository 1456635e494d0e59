package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// takes accepts one key alone. It keeps the field Authorization of each request.
type takes struct {
	key  string
	seen []string
	http.Handler
}

func (k *takes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.seen = append(k.seen, r.Header.Get("Authorization"))
	if r.Header.Get("Authorization") != "Bearer "+k.key {
		says(401, `{"code":"unauthorized","detail":"unauthorized: there is no such key"}`)(w, r)
		return
	}
	k.Handler.ServeHTTP(w, r)
}

// inTurn returns one key after the other, and then the last one again.
func inTurn(keys ...string) func(context.Context) (string, error) {
	n := 0
	return func(context.Context) (string, error) {
		n++
		return keys[min(n, len(keys))-1], nil
	}
}

// If the server refuses a key that has been replaced meanwhile, the client sends the request again with the new
// key. Without a new key the request fails at once.
func TestKeyThatIsReplaced(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		server := &takes{key: "rck_new", Handler: &answers{t: t, script: []http.HandlerFunc{says(200, accepted)}}}
		c := newScripted(t, Config{Credentials: inTurn("rck_old", "rck_new")}, server)
		_, err := c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
		require.NoError(t, err)
		require.Equal(t, []string{"Bearer rck_old", "Bearer rck_new"}, server.seen)

		server.seen = nil
		c = newScripted(t, Config{Credentials: Key("rck_gone"), Header: http.Header{"Authorization": {"Basic x"}}}, server)
		_, err = c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
		var refused *Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "unauthorized", refused.Code)
		require.NotErrorIs(t, err, ErrOutcomeUnknown)
		require.NotContains(t, err.Error(), "rck_gone")
		require.Equal(t, []string{"Bearer rck_gone"}, server.seen)
		for _, err := range c.Export(t.Context(), "b") {
			require.ErrorContains(t, err, "no such key")
		}
		require.Equal(t, "Bearer rck_gone", server.seen[1])
	})
}

// Without credentials nothing is sent. The client tries again, unless they are no credentials at all; no error
// shows them.
func TestCredentialsThatFail(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		server := &takes{key: "rck_a", Handler: says(200, accepted)}
		away := errors.New("the vault is sealed")
		n := 0
		c := newScripted(t, Config{Credentials: func(context.Context) (string, error) {
			if n++; n < 3 {
				return "", away
			}
			return "rck_a", nil
		}}, server)
		_, err := c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
		require.NoError(t, err)

		server.seen = nil
		c = newScripted(t, Config{Credentials: func(context.Context) (string, error) { return "", away }}, server)
		_, err = c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
		require.ErrorIs(t, err, ErrCredentials)
		require.ErrorIs(t, err, away)
		require.ErrorIs(t, err, ErrNotSent)
		require.NotErrorIs(t, err, ErrOutcomeUnknown)

		for _, wrong := range []string{"hunter2\n", "hunter2 hunter2", "hunter2\x00", "hünter2"} {
			c = newScripted(t, Config{Credentials: Key(wrong)}, server)
			began := time.Now()
			_, err = c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
			require.ErrorIs(t, err, ErrCredentials)
			require.NotContains(t, err.Error(), "nter2")
			require.ErrorContains(t, c.Watch(t.Context(), "b", Watch{}, func(Board) {}), "neither a key nor a token")
			require.Zero(t, time.Since(began), "a retry would change nothing")
		}
		require.Empty(t, server.seen)
	})
}

// A redirect to another server does not take the credentials along, whatever the name of that server; one to the
// same server does.
func TestRedirectsKeepCredentials(t *testing.T) {
	t.Parallel()
	var seen []string
	note := func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		says(200, accepted)(w, r)
	}
	other := httptest.NewServer(http.HandlerFunc(note)) // another port of the same host
	defer other.Close()
	target := other.URL + "/x"
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, target, http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/here", note)
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) {
		note(httptest.NewRecorder(), r)
		http.Redirect(w, r, "/round", http.StatusTemporaryRedirect)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	c, err := New(server.URL, Config{Credentials: Key("rck_a"), RetryFor: -1})
	require.NoError(t, err)
	defer c.Close()
	send := func() error {
		_, err := c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
		return err
	}
	require.NoError(t, send())
	require.Equal(t, []string{""}, seen)
	seen, target = nil, "/here"
	require.NoError(t, send())
	require.Equal(t, []string{"Bearer rck_a"}, seen)
	target = "/round"
	require.ErrorContains(t, send(), "redirects")
}

// When its token has expired, a watch comes back with another one.
func TestWatchRenewsCredentials(t *testing.T) {
	t.Parallel()
	watching(t, Config{Credentials: inTurn("t1", "t2")}, Watch{}, func(t *testing.T, s *scripted, p *peer) {
		require.Equal(t, "Bearer t1", s.header.Get("Authorization"))
		s.live(p, 1)
		p.close(4401, "the token has expired")
		p = <-s.peers
		require.Equal(t, "Bearer t2", s.header.Get("Authorization"))
		s.live(p, 1)
		s.cancel()
		p.lost()
		require.ErrorIs(t, <-s.ended, context.Canceled)
	})
}

// A key that leaves the access file ends a watch, unless it has been replaced meanwhile.
func TestWatchWithAWithdrawnKey(t *testing.T) {
	t.Parallel()
	watching(t, Config{Credentials: inTurn("k1", "k2", "k2", "k3", "k3", "k4")}, Watch{}, func(t *testing.T, s *scripted, p *peer) {
		p.read()
		p.snapshot("e", 1)
		p.send(`{"type":"error","code":"forbidden","message":"the key is gone","board":"b"}`)
		p.lost()
		p = <-s.peers
		require.Equal(t, "Bearer k2", s.header.Get("Authorization"))
		p.read()
		p.close(4503, "no rights")
		p = <-s.peers
		require.Equal(t, "Bearer k3", s.header.Get("Authorization"))
		p.send(`{"type":"error","id":%v,"code":"unauthorized","message":"the key is gone"}`, p.read()["id"])
		p.lost()
		p = <-s.peers
		require.Equal(t, "Bearer k4", s.header.Get("Authorization"))
		p.read()
		p.send(`{"type":"error","code":"forbidden","message":"the key is gone","board":"b"}`)
		p.lost()
		require.ErrorContains(t, <-s.ended, "the key is gone")
	})
}

// A handshake that is refused ends a watch, unless the credentials have been replaced meanwhile.
func TestWatchWithRefusedCredentials(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		s := newScriptedSocketsWith(t, Config{Credentials: inTurn("t1", "t2")})
		refusals := 0
		s.refuse = func(w http.ResponseWriter) bool {
			if s.header.Get("Authorization") == "Bearer t1" {
				refusals++
				says(401, `{"code":"unauthorized","detail":"the token has expired"}`)(w, nil)
				return true
			}
			return false
		}
		s.start(Watch{})
		p := <-s.peers
		require.Equal(t, 1, refusals)
		p.close(4503, "the token allows nothing")
		require.ErrorContains(t, <-s.ended, "the token allows nothing")

		for status, code := range map[int]string{401: "unauthorized", 403: "forbidden"} {
			s := newScriptedSocketsWith(t, Config{Credentials: Key("t1")})
			s.refuse = func(w http.ResponseWriter) bool {
				says(status, `{"code":"`+code+`","detail":"no"}`)(w, nil)
				return true
			}
			s.start(Watch{})
			var refused *Error
			require.ErrorAs(t, <-s.ended, &refused)
			require.Equal(t, code, refused.Code)
		}
	})
}
