package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const accepted = `{"board":"b","period":"","member":"m","score":3,"rank":1,"previous":null,"duplicate":false}`

// answers is a handler that goes through a script, and keeps what it was sent
// and when.
type answers struct {
	t      *testing.T
	script []http.HandlerFunc
	bodies []string
	at     []time.Duration
	start  time.Time
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		a.t.Error(err)
	}
	n := len(a.bodies)
	a.bodies = append(a.bodies, string(body))
	a.at = append(a.at, time.Since(a.start))
	a.script[min(n, len(a.script)-1)](w, r)
}

func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// cut ends the connection where an answer belongs.
func cut(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	io.WriteString(w, accepted)
}

// hang answers nothing for as long as the client waits.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// script is what a server answers to one request after the other. The last answer stays.
type script []http.HandlerFunc

// simulate runs a test of a client whose server answers by a script, in simulated time.
func simulate(t *testing.T, cfg Config, s script, test func(t *testing.T, c *Client, a *answers)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{t: t, script: s, start: time.Now()}
		test(t, newScripted(t, cfg, a), a)
	})
}

const s, ms = time.Second, time.Millisecond

// An update is sent again, with the same id, whenever its outcome is not known.
func TestUpdateIsRetriedWithTheSameID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first http.HandlerFunc
		wait  time.Duration
	}{
		"503":                 {says(503, `{"code":"unavailable","detail":"later"}`), 250 * ms},
		"503 for a while":     {says(503, `{"code":"unavailable","detail":"later"}`, "Retry-After", "7"), 7250 * ms},
		"503 until a time":    {says(503, ``, "Retry-After", "Sat, 01 Jan 2000 00:00:09 GMT"), 9250 * ms},
		"429":                 {says(429, `{"code":"rate_limited","detail":"later"}`, "Retry-After", "1"), 1250 * ms},
		"a proxy's 502":       {says(502, `<html>`), 250 * ms},
		"a proxy's 504":       {says(504, ``), 250 * ms},
		"cut off":             {cut, 250 * ms},
		"cut off half way":    {half, 250 * ms},
		"no answer":           {hang, 10*s + 250*ms},
		"Retry-After, broken": {says(503, ``, "Retry-After", "soon"), 250 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, Config{}, script{c.first, says(200, accepted)}, func(t *testing.T, c1 *Client, a *answers) {
				r, err := c1.Update(t.Context(), "b", Update{Member: "m", Score: 3})
				require.NoError(t, err)
				score, rank := int64(3), int64(1)
				require.Equal(t, Result{Board: "b", Member: "m", Score: &score, Rank: &rank}, r)
				require.Equal(t, []time.Duration{0, c.wait}, a.at)
				require.Equal(t, a.bodies[0], a.bodies[1])
				var sent Update
				require.NoError(t, json.Unmarshal([]byte(a.bodies[0]), &sent))
				require.GreaterOrEqual(t, len(sent.ID), 26)
			})
		})
	}
}

func TestUpdatesHaveIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	simulate(t, Config{}, script{says(200, accepted)}, func(t *testing.T, c *Client, a *answers) {
		for _, id := range []string{"", "", "mine"} {
			_, err := c.Update(t.Context(), "b", Update{Member: "m", Score: 3, Op: Best, ID: id})
			require.NoError(t, err)
		}
		require.NotEqual(t, a.bodies[0], a.bodies[1])
		require.JSONEq(t, `{"member":"m","score":3,"op":"best","id":"mine"}`, a.bodies[2])
	})
}

func TestRefusalsAreFinal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   Error
	}{
		{400, `{"code":"invalid_request","detail":"score: is missing","field":"score"}`,
			Error{400, "invalid_request", "score: is missing", "score", 0, false}},
		{404, `{"code":"unknown_board","detail":"no board"}`, Error{404, "unknown_board", "no board", "", 0, false}},
		{409, `{"code":"idempotency_mismatch","detail":"used"}`, Error{409, "idempotency_mismatch", "used", "", 0, false}},
		{422, `{"code":"out_of_range","detail":"too much"}`, Error{422, "out_of_range", "too much", "", 0, false}},
		{500, `{"code":"internal","detail":"oops"}`, Error{500, "internal", "oops", "", 0, false}},
		{403, `<html>Forbidden</html>`, Error{403, "", "Forbidden", "", 0, false}},
	} {
		simulate(t, Config{}, script{says(c.status, c.body)}, func(t *testing.T, cl *Client, a *answers) {
			_, err := cl.Update(t.Context(), "b", Update{Member: "m", Score: 3})
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.want, *e)
			require.Len(t, a.bodies, 1)
			_, err = cl.Top(t.Context(), "b", Query{Limit: 1})
			require.ErrorAs(t, err, &e)
			require.Len(t, a.bodies, 2)
		})
	}
}

func TestInvalidAnswer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "<html>", "[]", `{"score":"x"}`, `{"results":"` + strings.Repeat("x", maxAnswer) + `"}`} {
		simulate(t, Config{}, script{says(200, body)}, func(t *testing.T, c *Client, a *answers) {
			_, err := c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
			require.ErrorIs(t, err, errAnswer)
			require.Len(t, a.bodies, 1)
		})
	}
}

// Back-off doubles up to 15 s, and ends when there is no time left; what went
// wrong last is in the error.
func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	later, refused := says(503, `{"code":"unavailable","detail":"later"}`), &Error{Status: 503, Code: "unavailable", Message: "later"}
	for name, c := range map[string]struct {
		cfg    Config
		answer http.HandlerFunc
		within time.Duration // the caller's time
		want   error
		why    *Error // that the error tells; nil for none
		at     []time.Duration
		took   time.Duration
	}{
		"when there is no time left": {Config{}, later, time.Hour, nil, refused,
			[]time.Duration{0, 250 * ms, 750 * ms, 1750 * ms, 3750 * ms, 7750 * ms, 15750 * ms, 30750 * ms, 45750 * ms}, 45750 * ms},
		"before a wait that is longer than there is time": {Config{RetryFor: 3 * s}, says(503, ``, "Retry-After", "5"), time.Hour, nil,
			&Error{Status: 503, Message: "Service Unavailable", retryAfter: 5 * s}, []time.Duration{0}, 0},
		"after one attempt":      {Config{RetryFor: -1}, cut, time.Hour, io.EOF, nil, []time.Duration{0}, 0},
		"with the caller's time": {Config{}, later, s, context.DeadlineExceeded, refused, []time.Duration{0, 250 * ms, 750 * ms}, s},
		"with it, in an attempt": {Config{}, hang, s, context.DeadlineExceeded, nil, []time.Duration{0}, s},
	} {
		simulate(t, c.cfg, script{c.answer}, func(t *testing.T, client *Client, a *answers) {
			ctx, cancel := context.WithTimeout(t.Context(), c.within)
			defer cancel()
			_, err := client.Update(ctx, "b", Update{Member: "m", Score: 3})
			require.Equal(t, c.took, time.Since(a.start), name)
			synctest.Wait() // the server may still have the last attempt
			require.Equal(t, c.at, a.at, name)
			if c.want != nil {
				require.ErrorIs(t, err, c.want, name)
			}
			var told *Error
			errors.As(err, &told)
			require.Equal(t, c.why, told, name)
		})
	}
	simulate(t, Config{}, script{says(200, accepted)}, func(t *testing.T, c *Client, a *answers) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.Update(ctx, "b", Update{Member: "m", Score: 3})
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, a.bodies)
	})
}

// A client dials a server that is not there until it is.
func TestServerThatStartsLater(t *testing.T) {
	t.Parallel()
	simulate(t, Config{}, script{says(200, accepted)}, func(t *testing.T, c *Client, _ *answers) {
		transport := c.http.Transport.(*http.Transport)
		dial, start := transport.DialContext, time.Now()
		transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if time.Since(start) < 20*s {
				return nil, errors.New("connection refused")
			}
			return dial(ctx, network, addr)
		}
		_, err := c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
		require.NoError(t, err)
	})
}

// In a batch each update speaks for itself; what the server could not take is
// sent again, alone, with the ids it had.
func TestBatchIsRetriedInPart(t *testing.T) {
	t.Parallel()
	const later = `{"error":{"code":"unavailable","message":"later"}}`
	simulate(t, Config{}, script{
		cut,
		says(200, `{"results":[`+accepted+`,`+later+
			`,{"rank":1,"error":{"code":"out_of_range","message":"updates[2].score: no","field":"updates[2].score"}},`+later+`]}`),
		says(200, `{"results":[`+accepted+`,{"error":{"code":"out_of_range","message":"updates[1].score: no","field":"updates[1].score"}}]}`),
	}, func(t *testing.T, c *Client, a *answers) {
		var updates []Update
		for i := range 4 {
			updates = append(updates, Update{Member: fmt.Sprint("m", i), Score: 3})
		}
		got, err := c.Updates(t.Context(), "b", updates)
		require.NoError(t, err)
		require.Equal(t, []time.Duration{0, 250 * ms, 750 * ms}, a.at)
		require.Equal(t, a.bodies[0], a.bodies[1])
		type batch struct{ Updates []Update }
		var first, last batch
		require.NoError(t, json.Unmarshal([]byte(a.bodies[0]), &first))
		require.NoError(t, json.Unmarshal([]byte(a.bodies[2]), &last))
		require.Equal(t, []Update{first.Updates[1], first.Updates[3]}, last.Updates)

		require.NoError(t, got[0].Err)
		require.NoError(t, got[1].Err)
		require.EqualValues(t, 1, *got[1].Result.Rank)
		require.Equal(t, Outcome{Err: &Error{Code: "out_of_range", Message: "updates[2].score: no", Field: "updates[2].score"}}, got[2])
		require.Equal(t, &Error{Code: "out_of_range", Message: "updates[3].score: no", Field: "updates[3].score"}, got[3].Err)
		require.Empty(t, updates[0].ID, "the caller's batch stays as it was")
	})
}

// What is known of a batch when retries end is told; where nothing is, that.
func TestBatchRetriesEnd(t *testing.T) {
	t.Parallel()
	simulate(t, Config{}, script{
		says(200, `{"results":[`+accepted+`,{"error":{"code":"unavailable","message":"later"}}]}`), says(502, ``),
	}, func(t *testing.T, c *Client, _ *answers) {
		got, err := c.Updates(t.Context(), "b", []Update{{Member: "m", Score: 3}, {Member: "n", Score: 3}})
		require.NoError(t, err)
		require.NoError(t, got[0].Err)
		require.ErrorIs(t, got[1].Err, ErrOutcomeUnknown)
		require.ErrorContains(t, got[1].Err, "502")
	})
	simulate(t, Config{}, script{
		says(200, `{"results":[{"error":{"code":"unavailable","message":"later"}}]}`),
	}, func(t *testing.T, c *Client, _ *answers) {
		_, err := c.Updates(t.Context(), "b", []Update{{Member: "m", Score: 3}})
		require.ErrorAs(t, err, new(*Error))
	})
	simulate(t, Config{}, script{says(200, `{"results":[]}`)}, func(t *testing.T, c *Client, a *answers) {
		_, err := c.Updates(t.Context(), "b", []Update{{Member: "m", Score: 3}})
		require.ErrorIs(t, err, errAnswer)
		_, err = c.Updates(t.Context(), "b", nil)
		require.ErrorContains(t, err, "1 to 1000")
		_, err = c.Updates(t.Context(), "b", make([]Update, 1001))
		require.ErrorContains(t, err, "1 to 1000")
		_, err = c.Updates(t.Context(), "b", []Update{{Member: "\xff"}})
		require.ErrorContains(t, err, "UTF-8")
		require.Len(t, a.bodies, 1)
	})
}

func TestEvents(t *testing.T) {
	t.Parallel()
	simulate(t, Config{}, script{
		cut,
		says(200, `{"results":[{"results":[`+accepted+
			`,{"board":"fans:s17","error":{"code":"out_of_range","message":"no"}},{"board":"stars","error":{"code":"internal",`+
			`"message":"oh"}}]},{"error":{"code":"invalid_request","message":"events[1].user: is missing","field":"events[1].user"}}]}`),
	}, func(t *testing.T, c *Client, a *answers) {
		got, err := c.Events(t.Context(), "gift", []Event{{ID: "1", Data: []byte(`{"star":"s17","flowers":3}`)}, {Data: []byte(`{}`)}})
		require.NoError(t, err)
		require.Equal(t, a.bodies[0], a.bodies[1])
		require.Contains(t, a.bodies[0], `{"events":[{"flowers":3,"id":"1","star":"s17"},{"id":"`)
		require.Len(t, got[0].Results, 3)
		require.NoError(t, got[0].Results[0].Err)
		require.Equal(t, Outcome{Result{Board: "fans:s17"}, &Error{Code: "out_of_range", Message: "no"}}, got[0].Results[1])
		require.ErrorIs(t, got[0].Results[2].Err, ErrOutcomeUnknown)
		refused := &Error{Code: "invalid_request", Message: "events[1].user: is missing", Field: "events[1].user"}
		require.Equal(t, EventOutcome{Err: refused}, got[1])
		for _, bad := range []string{`{"id":1}`, `[]`, `null`, `{`, ``} {
			_, err = c.Events(t.Context(), "gift", []Event{{Data: []byte(bad)}})
			require.ErrorContains(t, err, "events[0]", bad)
		}
		require.Len(t, a.bodies, 2)
	})
}

func TestNewRefusesInvalidConfig(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "localhost:8080", "127.0.0.1:8080", "ftp://x", "http://", "http://h?x=1", "http://h#x",
		"http://[::1", "ws://h"} {
		_, err := New(bad, Config{})
		require.ErrorContains(t, err, "server URL", bad)
	}
	for _, address := range []string{"localhost:8080", "127.0.0.1:8080", "[::1]:8080"} {
		_, err := New(address, Config{})
		require.EqualError(t, err, "server URL: has no scheme; want http://"+address)
	}
	for _, secret := range []string{"http://u:secret@h?x", "http://u:secret@h:port", "u:secret@h:8080", "http://u:secret#x@h",
		"http://u:%secret@h", "http://u:1/secret@h", "http://u:1?secret@h", "http://u:1#secret@h"} {
		_, err := New(secret, Config{})
		require.ErrorContains(t, err, "server URL")
		require.NotContains(t, err.Error(), "secret")
	}
	_, err := New("http://h", Config{RetryFor: 6 * time.Minute})
	require.ErrorContains(t, err, "RetryFor")
	_, err = New("http://h", Config{AttemptTimeout: -1})
	require.ErrorContains(t, err, "AttemptTimeout")
}

func TestHeadersAndPath(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		c := newScripted(t, Config{Header: http.Header{"Authorization": {"Bearer x"}}},
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = append(seen, r.Header.Get("Authorization"), r.URL.EscapedPath())
				io.WriteString(w, `{}`)
			}))
		c.base += "/mounted/at"
		_, err := c.Member(t.Context(), "fans:s17", "a/b?c#d%", 3)
		require.NoError(t, err)
		c.Watch(t.Context(), "b", Watch{}, func(Board) {})
		require.Equal(t, "Bearer x", seen[0])
		require.Equal(t, "/mounted/at/v1/boards/fans:s17/members/a%2Fb%3Fc%23d%25", seen[1])
		require.Equal(t, "Bearer x", seen[2])
		require.Equal(t, "/mounted/at/v1/live", seen[3])
	})
}

// An update that was not refused may have been applied, and whoever sent it can
// tell: from an error of the whole, and from that of one of a batch.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	unavailable := `{"error":{"code":"unavailable","message":"later"}}`
	for name, of := range map[string]script{
		"an answer that is none": {says(200, `{"results":[`+accepted+`,`+unavailable+`]}`), says(200, `{"results":["x"]}`)},
		"away in the end":        {says(200, `{"results":[`+accepted+`,`+unavailable+`]}`), says(503, `{"code":"unavailable","detail":"away"}`)},
		"an error inside":        {says(200, `{"results":[`+accepted+`,{"error":{"code":"internal","message":"oh"}}]}`)},
	} {
		simulate(t, Config{}, of, func(t *testing.T, c *Client, _ *answers) {
			got, err := c.Updates(t.Context(), "b", []Update{{Member: "m", Score: 3}, {Member: "n", Score: 3}})
			require.NoError(t, err, name)
			require.NoError(t, got[0].Err, name)
			require.ErrorIs(t, got[1].Err, ErrOutcomeUnknown, name)
		})
	}
	simulate(t, Config{}, script{says(503, `{"code":"unavailable","detail":"away"}`)}, func(t *testing.T, c *Client, _ *answers) {
		_, err := c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
		require.ErrorIs(t, err, ErrOutcomeUnknown)
	})
	simulate(t, Config{}, script{says(422, `{"code":"out_of_range","detail":"no"}`)}, func(t *testing.T, c *Client, _ *answers) {
		_, err := c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
		require.NotErrorIs(t, err, ErrOutcomeUnknown)
		var refused *Error
		require.ErrorAs(t, err, &refused)
	})
}

// An update has surely not counted if each attempt got no connection, or an answer that says so.
func TestUpdateThatHasNotCounted(t *testing.T) {
	t.Parallel()
	full := says(503, `{"code":"unavailable","detail":"the disk is full","counted":false}`)
	for name, of := range map[string]struct {
		answers script
		open    bool
	}{
		"known":                {script{full}, false},
		"overloaded":           {script{says(503, `{"code":"overloaded","detail":"busy"}`), full}, false},
		"too fast":             {script{says(429, `{"code":"rate_limited","detail":"slower"}`), full}, false},
		"no answer at first":   {script{cut, full}, true},
		"no answer at last":    {script{full, cut}, true},
		"open at first":        {script{says(503, `{"code":"unavailable","detail":"away"}`), full}, true},
		"open within":          {script{full, says(503, `{"code":"unavailable","detail":"away"}`), full}, true},
		"a proxy's 503":        {script{says(503, `<html>`), full}, true},
		"a refusal at last":    {script{full, says(404, `{"code":"unknown_board","detail":"no board"}`)}, false},
		"a key that ended":     {script{cut, says(401, `{"code":"unauthorized","detail":"no key"}`)}, true},
		"a board that is gone": {script{cut, says(404, `{"code":"unknown_board","detail":"no board"}`)}, true},
		"an answer cut short":  {script{full, half, full}, true},
	} {
		simulate(t, Config{}, of.answers, func(t *testing.T, c *Client, a *answers) {
			_, one := c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
			a.bodies = nil // from the beginning
			ctx, interrupt := context.WithTimeout(t.Context(), 2*s)
			defer interrupt()
			_, event := c.Event(ctx, "gift", Event{Data: []byte(`{}`)})
			for _, err := range []error{one, event} {
				require.Error(t, err, name)
				require.Equal(t, of.open, errors.Is(err, ErrOutcomeUnknown), "%s: %v", name, err)
				require.NotErrorIs(t, err, ErrNotSent, name)
			}
		})
	}
}

// An event that some board could not take is refused as a whole, and sent again
// with its id: what is missing is done then.
func TestPartlyAppliedEventIsRetried(t *testing.T) {
	t.Parallel()
	simulate(t, Config{}, script{says(200, `{"results":[{"results":[`+accepted+`]},{"error":{"code":"unavailable","message":"later"}}]}`),
		says(200, `{"results":[{"results":[`+accepted+`]}]}`)}, func(t *testing.T, c *Client, a *answers) {
		got, err := c.Events(t.Context(), "gift", []Event{{ID: "1", Data: []byte(`{}`)}, {ID: "2", Data: []byte(`{}`)}})
		require.NoError(t, err)
		for _, e := range got {
			require.NoError(t, e.Err)
			require.Len(t, e.Results, 1)
		}
		require.Equal(t, []string{`{"events":[{"id":"1"},{"id":"2"}]}`, `{"events":[{"id":"2"}]}`}, a.bodies)
	})
	simulate(t, Config{}, script{
		cut, says(503, `{"code":"unavailable","detail":"later"}`), says(200, `{"results":[`+accepted+`]}`),
	}, func(t *testing.T, c *Client, a *answers) {
		got, err := c.Event(t.Context(), "gift", Event{Data: []byte(`{"star":"s17"}`)})
		require.NoError(t, err)
		require.Len(t, got, 1)
		require.Equal(t, []string{a.bodies[0], a.bodies[0], a.bodies[0]}, a.bodies)
		require.Regexp(t, `^{"id":"\w+","star":"s17"}$`, a.bodies[0])
	})
	simulate(t, Config{}, script{says(404, `{"code":"unknown_event","detail":"no such event"}`)}, func(t *testing.T, c *Client, _ *answers) {
		_, err := c.Event(t.Context(), "gift", Event{Data: []byte(`{}`)})
		require.NotErrorIs(t, err, ErrOutcomeUnknown)
		_, err = c.EventDefinition(t.Context(), "gift")
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "unknown_event", e.Code)
		_, err = c.Event(t.Context(), "gift", Event{Data: []byte(`[]`)})
		require.ErrorContains(t, err, "not a JSON object")
	})
}

type wrapped struct{ http.RoundTripper }

// A program may have put a transport of its own in the default's place.
// It is not parallel: it replaces http.DefaultTransport.
func TestClientWithoutTheDefaultTransport(t *testing.T) {
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	http.DefaultTransport = wrapped{before}
	c, err := New("http://h", Config{})
	require.NoError(t, err)
	c.Close()
}

// An error says that nothing was sent only if no attempt got a connection.
func TestNothingSent(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	update := func(c *Client, ctx context.Context) error {
		_, err := c.Update(ctx, "b", Update{Member: "m", Score: 3})
		return err
	}
	simulate(t, Config{}, script{says(200, accepted)}, func(t *testing.T, c *Client, a *answers) {
		c.http.Transport.(*http.Transport).DialContext = refuse
		err := update(c, t.Context())
		require.ErrorIs(t, err, ErrNotSent)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.NotErrorIs(t, err, ErrOutcomeUnknown)
		require.ErrorContains(t, err, "nothing was sent: gave up after 9 attempts")
		_, err = c.Updates(t.Context(), "b", []Update{{Member: "m"}})
		require.ErrorIs(t, err, ErrNotSent)
		require.NotErrorIs(t, err, ErrOutcomeUnknown)
		_, err = c.DefineBoard(t.Context(), "b", []byte(`{}`))
		require.ErrorIs(t, err, ErrNotSent)
		require.NotErrorIs(t, err, ErrOutcomeUnknown)
		require.Empty(t, a.bodies)
	})
	simulate(t, Config{}, script{
		says(200, accepted),
	}, func(t *testing.T, c *Client, _ *answers) { // ctx ends while the client dials, and before it
		c.http.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), s)
		defer cancel()
		for range 2 {
			err := update(c, ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, ErrNotSent)
			require.NotErrorIs(t, err, ErrOutcomeUnknown)
		}
	})
	simulate(t, Config{}, script{nil}, func(t *testing.T, c *Client, a *answers) { // the first attempt has got through
		a.script[0] = func(w http.ResponseWriter, r *http.Request) {
			c.http.Transport.(*http.Transport).DialContext = refuse
			cut(w, r)
		}
		err := update(c, t.Context())
		require.ErrorIs(t, err, ErrOutcomeUnknown)
		require.NotErrorIs(t, err, ErrNotSent)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.Len(t, a.bodies, 1)
	})
	simulate(t, Config{}, script{
		says(200, accepted),
	}, func(t *testing.T, c *Client, _ *answers) { // a transport that does not say how far it got
		c.http = &http.Client{Transport: transportFunc(func(*http.Request) (*http.Response, error) {
			_, err := refuse(t.Context(), "", "")
			return nil, err
		})}
		err := update(c, t.Context())
		require.ErrorIs(t, err, ErrOutcomeUnknown)
		require.NotErrorIs(t, err, ErrNotSent)
	})
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A connection of HTTP/2 counts as one too, a new one and an idle one.
func TestNothingSentOverHTTP2(t *testing.T) {
	t.Parallel()
	var protocols []string
	f := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocols = append(protocols, r.Proto)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	f.EnableHTTP2 = true
	f.StartTLS()
	t.Cleanup(f.Close)
	c, err := New(f.URL, Config{HTTP: f.Client(), RetryFor: -1})
	require.NoError(t, err)
	for range 2 {
		_, err = c.Update(t.Context(), "b", Update{Member: "m", Score: 3})
		require.ErrorIs(t, err, ErrOutcomeUnknown)
		require.NotErrorIs(t, err, ErrNotSent)
	}
	require.Equal(t, []string{"HTTP/2.0", "HTTP/2.0"}, protocols)
}

// Reindex sends requests until the server has no cursor for another one, and adds their figures up.
func TestReindexGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		step := func(answer string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				seen = append(seen, r.Method+" "+r.URL.String())
				io.WriteString(w, answer)
			}
		}
		c := newScripted(t, Config{}, &answers{t: t, script: []http.HandlerFunc{
			step(`{"kind":"user","profiles":7,"changed":1,"cursor":"a="}`), step(`{"kind":"user","profiles":5,"changed":2,"cursor":null}`),
		}})
		done, err := c.Reindex(t.Context(), "user")
		require.NoError(t, err)
		require.Equal(t, Reindexed{Profiles: 12, Changed: 3}, done)
		require.Equal(t, []string{"POST /v1/reindex/user?cursor=", "POST /v1/reindex/user?cursor=a%3D"}, seen)
	})
}

// A definition is sent again until the server has it.
func TestDefinitionIsRetried(t *testing.T) {
	t.Parallel()
	simulate(t, Config{}, script{
		says(503, `{"code":"unavailable","detail":"later"}`), cut, says(201, `{"board":"b"}`),
	}, func(t *testing.T, c *Client, a *answers) {
		d, err := c.DefineBoard(t.Context(), "b", []byte(`{"mode":"best"}`))
		require.NoError(t, err)
		require.Equal(t, `{"board":"b"}`, string(d))
		require.Equal(t, []string{`{"mode":"best"}`, `{"mode":"best"}`, `{"mode":"best"}`}, a.bodies)
	})
	simulate(t, Config{RetryFor: -1}, script{cut}, func(t *testing.T, c *Client, _ *answers) {
		_, err := c.DefineEvent(t.Context(), "e", []byte(`{}`))
		require.ErrorIs(t, err, ErrOutcomeUnknown)
	})
}
