package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
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

// equalReads are requests that mean the same, by a text of their call of Redis that no other call has.
var equalReads = map[string][]string{
	"\r\n-97\r\n": {"/top?min_score=-97", "/top?min_score=-97&limit=10", "/top?limit=10&cursor=&min_score=-97&from_rank=1"},
	"\r\n98\r\n":  {"/at?score=97", "/at?limit=10&score=97", "/at?score=97&cursor="},
	"\r\n-96\r\n": {"/count?min_score=-96"},
	"\r\nm97\r\n": {"/members/m97", "/members/m97?around=0"},
}

// heldNode is a node with a board b, and a proxy that holds back answers of Redis.
type heldNode struct {
	*servertest.Node
	t       *testing.T
	proxy   *redistest.Proxy
	members int // of b
}

func startHeld(t *testing.T, url string, cfg servertest.Config) *heldNode {
	n := &heldNode{t: t, proxy: redistest.StartProxy(t, url)}
	n.Node = servertest.Start(t, n.proxy.URL(), cfg, definition.Board{Name: "b", Order: definition.Asc})
	return n
}

// add adds a member to b.
func (n *heldNode) add(header ...string) {
	n.t.Helper()
	n.members++
	body := fmt.Sprintf(`{"member":"added%d","score":60}`, n.members)
	n.Require(200, "POST", "/v1/boards/b/scores", body, header...)
}

// warm writes the member m97 to b. It makes Redis know the scripts of reads, so that a read is one call.
func (n *heldNode) warm(header ...string) {
	n.t.Helper()
	n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"m97","score":50}`, header...)
	n.Require(200, "GET", "/v1/boards/b/top", "", header...)
	n.Require(404, "GET", "/v1/boards/b/members/nobody", "", header...)
}

// read sends a request in the background, and returns the answer to come; none if ctx ends before.
func (n *heldNode) read(ctx context.Context, method, path string, header ...string) <-chan servertest.Answer {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+n.Addr+"/v1/boards/b"+path, nil)
	require.NoError(n.t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	came := make(chan servertest.Answer, 1)
	go func() {
		defer close(came)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return
		}
		defer res.Body.Close()
		if body, err := io.ReadAll(res.Body); err == nil {
			came <- servertest.NewAnswer(n.t, res.StatusCode, res.Header, string(body))
		}
	}()
	return came
}

// untilWaiting waits until so many requests wait for an answer which they share.
func (n *heldNode) untilWaiting(requests int) {
	n.t.Helper()
	redistest.UntilEqual(n.t, "the requests that wait", requests, n.Server.WaitingReads)
}

// While a read is out, all equal reads that come cost Redis one read more, and show what was written before them.
func TestEqualReadsShareAnAnswer(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startHeld(t, url, servertest.Config{})
		n.warm()
		for text, paths := range equalReads {
			before := n.Do("GET", "/v1/boards/b"+paths[0], "").Body
			gate := n.proxy.Gate(text)
			held := n.read(t.Context(), "GET", paths[0])
			redistest.Receive(t, "the call to reach the gate", gate.Reached())
			n.add()
			var waiting []<-chan servertest.Answer
			for i := range 31 {
				waiting = append(waiting, n.read(t.Context(), "GET", paths[i%len(paths)]))
			}
			head := n.read(t.Context(), "HEAD", paths[0])
			n.untilWaiting(32)
			gate.Open()
			require.Equal(t, before, (redistest.Receive(t, "a value from held", held)).Body, "Redis has answered before the write")
			after := redistest.Receive(t, "a value from waiting[0]", waiting[0])
			require.Equal(t, 200, after.Status, after.Body)
			require.Equal(t, "application/json", after.Header.Get("Content-Type"))
			require.NotEqual(t, before, after.Body)
			for _, w := range waiting[1:] {
				require.Equal(t, after.Body, (redistest.Receive(t, "a value from w", w)).Body)
			}
			h := redistest.Receive(t, "a value from head", head)
			require.Equal(t, 200, h.Status)
			require.Empty(t, h.Body)
			require.Equal(t, after.Header.Get("Content-Length"), h.Header.Get("Content-Length"))
			require.Equal(t, 2, gate.Seen())
			require.Equal(t, after.Body, n.Do("GET", "/v1/boards/b"+paths[0], "").Body)
		}
	})
}

// Reads of different answers do not wait for each other.
func TestOtherReadsDoNotWait(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startHeld(t, url, servertest.Config{})
		n.warm()
		gate := n.proxy.Gate("\r\n-97\r\n")
		held := n.read(t.Context(), "GET", "/top?min_score=-97")
		redistest.Receive(t, "the call to reach the gate", gate.Reached())
		for _, path := range []string{"/top?min_score=-97&limit=9", "/top?min_score=-97&max_score=100", "/top?min_score=-96",
			"/count?min_score=-97", "/top?min_score=-97&from_rank=2"} {
			n.Require(200, "GET", "/v1/boards/b"+path, "")
		}
		gate.Open()
		redistest.Receive(t, "a value from held", held)
	})
}

// Callers take turns for large pages, so each such page is one read.
func TestLargePagesAreNotShared(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startHeld(t, url, servertest.Config{})
		n.warm()
		gate := n.proxy.Gate("\r\n-97\r\n")
		var answers []<-chan servertest.Answer
		for range 16 {
			answers = append(answers, n.read(t.Context(), "GET", "/top?limit=101&min_score=-97"))
		}
		redistest.Receive(t, "the call to reach the gate", gate.Reached())
		gate.Open()
		for _, a := range answers {
			require.Equal(t, 200, (redistest.Receive(t, "a value from a", a)).Status)
		}
		require.Equal(t, len(answers), gate.Seen())
	})
}

// A caller that gives up while it waits, or while the shared read is out, ends no read of others.
func TestReaderThatGivesUpEndsNoOther(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startHeld(t, url, servertest.Config{})
		n.warm()
		first := n.proxy.Gate("\r\n-97\r\n")
		held := n.read(t.Context(), "GET", "/top?min_score=-97")
		redistest.Receive(t, "the call to reach the gate", first.Reached())
		early, giveUpEarly := context.WithCancel(t.Context())
		late, giveUpLate := context.WithCancel(t.Context())
		gone := n.read(early, "GET", "/top?min_score=-97")
		n.untilWaiting(1)
		goneLater := n.read(late, "GET", "/top?min_score=-97")
		stays := n.read(t.Context(), "GET", "/top?min_score=-97")
		n.untilWaiting(3)
		giveUpEarly()
		n.untilWaiting(2)
		second := n.proxy.Gate("\r\n-97\r\n")
		first.Open()
		require.Equal(t, 200, (redistest.Receive(t, "a value from held", held)).Status)
		redistest.Receive(t, "the call to reach the gate", second.Reached())
		giveUpLate()
		n.untilWaiting(1) // the node knows
		_, answered := <-goneLater
		require.False(t, answered)
		_, answered = <-gone
		require.False(t, answered)
		second.Open()
		require.Equal(t, 200, (redistest.Receive(t, "a value from stays", stays)).Status)
	})
}

// Callers share answers, and not rights.
func TestSharedReadsCheckEachCaller(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		g := accesstest.Start(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+keyLine("page", "scopes: [read], boards: [b]")+
			keyLine("game", "scopes: [write], boards: [b]")+keyLine("other", "scopes: [read], boards: [c]"))
		as := func(name string) []string { return []string{"Authorization", "Bearer " + g.Key(name)} }
		n := startHeld(t, url, servertest.Config{Server: server.Config{Access: g.Guard}})
		n.warm(as("ops")...)
		gate := n.proxy.Gate("\r\n-97\r\n")
		held := n.read(t.Context(), "GET", "/top?min_score=-97", as("ops")...)
		redistest.Receive(t, "the call to reach the gate", gate.Reached())
		shares := n.read(t.Context(), "GET", "/top?min_score=-97", as("page")...)
		n.untilWaiting(1)
		servertest.RequireProblem(t, redistest.Receive(t, "the answer", n.read(t.Context(), "GET", "/top?min_score=-97",
			as("game")...)), 403, "forbidden", "")
		servertest.RequireProblem(t, redistest.Receive(t, "the answer", n.read(t.Context(), "GET", "/top?min_score=-97",
			as("other")...)), 403, "forbidden", "")
		servertest.RequireProblem(t, redistest.Receive(t, "the answer", n.read(t.Context(), "GET", "/top?min_score=-97")), 401,
			"unauthorized", "")
		gate.Open()
		require.Equal(t, 200, (redistest.Receive(t, "a value from held", held)).Status)
		require.Equal(t, 200, (redistest.Receive(t, "a value from shares", shares)).Status)
	})
}

// Each caller of a read that fails gets a problem of its own.
func TestSharedErrors(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startHeld(t, url, servertest.Config{})
		n.warm()
		gate := n.proxy.Gate("\r\nm98\r\n")
		answers := []<-chan servertest.Answer{n.read(t.Context(), "GET", "/members/m98")}
		redistest.Receive(t, "the call to reach the gate", gate.Reached())
		for range 3 {
			answers = append(answers, n.read(t.Context(), "GET", "/members/m98"))
		}
		n.untilWaiting(3)
		gate.Open()
		for _, a := range answers {
			servertest.RequireProblem(t, redistest.Receive(t, "a value from a", a), 404, "unknown_member", "member")
		}
	})
}

// The error of a Redis that is silent holds for the reads that wait, too.
func TestSilentRedisIsATimeout(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startHeld(t, url, servertest.Config{})
		_, err := n.Store.Read(t.Context(), "b@nonsense", ranking.Query{})
		require.Error(t, err)
		require.False(t, definition.IsTimeout(err))
		n.warm()
		n.proxy.BlackHole()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err = n.Store.Read(ctx, "b", ranking.Query{})
		require.ErrorIs(t, err, definition.ErrUnavailable)
		require.True(t, definition.IsTimeout(err), err)
		n.proxy.Restore()
		n.proxy.Cut()
	})
}
