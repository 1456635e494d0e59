package faults

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// Two nodes on one Redis that is killed, stays away, and comes back.
func TestTwoNodesAndAnOutage(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	a, b := e2etest.Launch(t, "--redis", r.URL()), e2etest.Launch(t, "--redis", r.URL())
	a.Ready()
	b.Ready()
	onA, onB := servertest.Dial(t, a.Addr), servertest.Dial(t, b.Addr)
	onA.Subscribe("stars", 10)
	onB.Subscribe("stars", 10)
	for i := range 20 {
		answer := []*e2etest.Process{a, b}[i%2].PostOnce("stars", fmt.Sprintf(`{"member":"m%d","score":%d,"id":"%d"}`, i%7, i, i))
		require.Equal(t, 200, answer.Status, answer.Body)
	}
	e2etest.EndsAs(onA, b, "stars")
	e2etest.EndsAs(onB, a, "stars")

	require.NotContains(t, a.Output(), "works again", "what goes as it should is not logged")
	require.NotContains(t, a.Output(), "Redis answers")
	r.Kill()
	e2etest.UntilStale(onA, true)
	e2etest.UntilStale(onB, true)
	for _, p := range []*e2etest.Process{a, b} {
		for _, request := range [][3]string{{"POST", "/scores", `{"member":"m1","score":5,"id":"during"}`}, {"GET", "/top", ""}} {
			answer := servertest.Request(t, request[0], "http://"+p.Addr+"/v1/boards/stars"+request[1], request[2])
			require.Equal(t, 503, answer.Status, answer.Body)
			require.Contains(t, answer.Body, `"code":"unavailable"`)
			require.NotEmpty(t, answer.Header.Get("Retry-After"))
		}
		readiness := p.Request("GET", "/readyz", "")
		require.Equal(t, 503, readiness.Status)
		require.NotContains(t, readiness.Body, "redis.sock", "where the store is stays inside")
		p.Answers(200, "GET", "/healthz", "")
	}
	late := servertest.Dial(t, a.Addr)
	late.Send(`{"type":"subscribe","id":1,"board":"stars"}`)
	e2etest.UntilStale(late, true)

	r.Start()
	for _, s := range []*servertest.Socket{onA, onB, late} {
		e2etest.UntilStale(s, false)
	}
	redistest.Eventually(t, "the end of the outage in the log", func() error {
		if !strings.Contains(a.Output(), `msg="the subscription to Redis works again"`) || !strings.Contains(a.Output(),
			`msg="Redis answers; this node is ready" boards=stars`) {
			return errors.New(a.Output())
		}
		return nil
	})
	require.Equal(t, 409, b.PostOnce("stars", `{"member":"m3","score":100,"id":"19"}`).Status, "an id from before the outage is still known")
	answer := a.PostOnce("stars", `{"member":"m3","score":100,"id":"after"}`)
	require.Equal(t, 200, answer.Status, answer.Body)
	for _, s := range []*servertest.Socket{onA, onB, late} {
		e2etest.EndsAs(s, a, "stars")
	}

	// When one node dies, the clients of the other still get updates.
	a.Kill()
	b.Update("stars", `{"member":"m1","score":1000}`)
	e2etest.EndsAs(onB, b, "stars")
	require.Equal(t, "m1", onB.Boards["stars"].Top[0].Member)
}

// A node notices that the connection of its feed swallows everything without ending. It tells its clients, and then sends
// them what they missed.
func TestSilentConnection(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	proxy := redistest.StartProxy(t, r.URL())
	a, b := e2etest.Launch(t, "--redis", r.URL()), e2etest.Launch(t, "--redis", proxy.URL(), "--probe-interval", "100ms")
	a.Ready()
	b.Ready()
	onB := servertest.Dial(t, b.Addr)
	onB.Subscribe("stars", 10)
	a.Update("stars", `{"member":"before","score":1}`)
	e2etest.EndsAs(onB, a, "stars")
	require.Equal(t, 1, proxy.Swallow())
	a.Update("stars", `{"member":"meanwhile","score":2}`)
	e2etest.UntilStale(onB, true)
	e2etest.UntilStale(onB, false)
	e2etest.EndsAs(onB, a, "stars")
	a.Update("stars", `{"member":"after","score":3}`)
	e2etest.EndsAs(onB, a, "stars")
	require.Equal(t, "after", onB.Boards["stars"].Top[0].Member)
}

// A Redis user without channels, which is Redis 7's default for a new user: the node names the right,
// and no update counts until the user has it. The same holds when the user loses it later.
func TestRedisUserWithoutChannels(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	const reason = `redis user \"app\": PUBLISH rc:probe:*, PUBLISH rc:{*}:c, PUBLISH rc:{/}:f:*, PUBLISH rc:{/}:profiles: ERR ` +
		`The user executing the script can't publish to the channel mentioned in the command`
	page, err := os.ReadFile("../../../../web/docs/operations.md")
	require.NoError(t, err)
	require.Contains(t, string(page), strings.ReplaceAll(reason, `\"`, `"`), "the page shows what /readyz says")

	p := e2etest.Launch(t, "--redis", r.AppURL("~rc:*", "+@all"))
	require.NoError(t, p.NotReady(reason))
	answer := p.PostOnce("stars", `{"member":"m","score":1,"id":"1"}`)
	require.Equal(t, 503, answer.Status, answer.Body)
	require.Contains(t, answer.Body, reason)
	require.Empty(t, r.Admin().Keys(t.Context(), "*").Val())

	r.AppURL("~rc:*", "&rc:*", "+@all")
	p.Ready()
	for _, duplicate := range []string{"false", "true"} {
		answer = p.PostOnce("stars", `{"member":"m","score":1,"id":"1"}`)
		require.Equal(t, 200, answer.Status, answer.Body)
		require.Contains(t, answer.Body, `"duplicate":`+duplicate)
	}
	s := servertest.Dial(t, p.Addr)
	s.Subscribe("stars", 10)

	// Redis ends the subscriptions, so the node notices without a write.
	r.AppURL("~rc:*", "+@all")
	e2etest.UntilStale(s, true)
	p.Refuses(reason)
	require.Equal(t, 503, p.PostOnce("stars", `{"member":"m","score":1,"id":"2"}`).Status)
	r.AppURL("~rc:*", "&rc:*", "+@all")
	p.Ready()
	e2etest.UntilStale(s, false)
	require.Contains(t, p.PostOnce("stars", `{"member":"m","score":1,"id":"2"}`).Body, `"score":2`)
	e2etest.EndsAs(s, p, "stars")
	outages := strings.SplitAfter(p.Output(), "Redis allows what this node needs")
	require.Len(t, outages, 3, p.Output())
	for i, outage := range outages {
		// A check amid a change of the rights finds only some of the refusals, and has a reason of its own.
		lines := regexp.MustCompile(`no writes until Redis allows it" reason=.*`).FindAllString(outage, -1)
		require.Equal(t, i < 2, strings.Contains(strings.Join(lines, "\n"), reason), p.Output())
		require.Equal(t, slices.Compact(slices.Clone(lines)), lines, "a reason has one line")
		require.LessOrEqual(t, len(lines), 3)
	}
}

// A node that starts before its Redis waits for it.
func TestNodeStartsBeforeItsRedis(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	r.Kill()
	var boards strings.Builder
	for i := range 12 {
		fmt.Fprintf(&boards, ", b%02d: {}", i)
	}
	p := e2etest.LaunchBoards(t, "boards: {stars: {}"+boards.String()+"}", "--redis", r.URL())
	p.Logs(`msg="Redis does not answer; this node is ready when it does" reason="dial unix`)
	require.NotContains(t, p.Output(), "script")
	s := servertest.Dial(t, p.Addr)
	s.Send(`{"type":"subscribe","id":1,"board":"stars"}`)
	e2etest.UntilStale(s, true)
	require.Equal(t, 503, p.PostOnce("stars", `{"member":"m","score":1}`).Status)
	r.Start()
	e2etest.UntilStale(s, false)
	p.Update("stars", `{"member":"m","score":1}`)
	e2etest.EndsAs(s, p, "stars")
	p.Logs(`msg="Redis answers; this node is ready" boards="b00 b01 b02 b03 b04 b05 b06 b07 b08 b09 and 3 more"`)
}

// readOnlyReplica is the reason of a node whose Redis is a replica.
const readOnlyReplica = "READONLY You can't write against a read only replica."

// A node whose Redis is a read-only replica is not ready, at its start and later, and says why. It shows
// boards, and takes updates once the replica has become the primary.
func TestReadOnlyReplica(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../web/docs/operations.md")
	require.NoError(t, err)
	require.Contains(t, string(page), readOnlyReplica, "the page shows what /readyz says")
	primary, replica := redistest.Start(t), redistest.Start(t)
	a := e2etest.Launch(t, "--redis", primary.URL())
	a.Ready()
	require.Equal(t, 200, a.PostOnce("stars", `{"member":"m","score":1,"id":"1"}`).Status)
	replica.Replicate(primary)

	b := e2etest.Launch(t, "--redis", replica.URL(), "--probe-interval", "100ms")
	s := servertest.Dial(t, b.Addr)
	s.Subscribe("stars", 10)
	e2etest.EndsAs(s, a, "stars")
	refuses := func(id string) {
		t.Helper()
		b.Refuses(readOnlyReplica)
		answer := b.PostOnce("stars", `{"member":"m","score":1,"id":"`+id+`"}`)
		require.Equal(t, 503, answer.Status, answer.Body)
		require.Contains(t, answer.Body, readOnlyReplica)
		e2etest.EndsAs(s, b, "stars")
	}
	logged := func(refusals, ends int) {
		t.Helper()
		require.Equal(t, refusals, strings.Count(b.Output(), `reason="`+readOnlyReplica), b.Output())
		require.Equal(t, ends, strings.Count(b.Output(), "Redis allows what this node needs"), b.Output())
	}
	refuses("2")
	require.Equal(t, 200, a.PostOnce("stars", `{"member":"m","score":1,"id":"3"}`).Status)
	e2etest.EndsAs(s, a, "stars")
	require.NoError(t, b.NotReady(readOnlyReplica))
	logged(1, 0)
	require.NotContains(t, b.Output(), "node is ready")

	replica.Promote()
	b.Ready()
	require.Contains(t, b.PostOnce("stars", `{"member":"m","score":1,"id":"2"}`).Body, `"score":3`)
	logged(1, 1)

	// No connection breaks, and no client sends anything: the node notices by itself.
	replica.Replicate(primary)
	refuses("4")
	logged(2, 1)
	replica.Promote()
	b.Ready()
	require.Contains(t, b.PostOnce("stars", `{"member":"m","score":2,"id":"4"}`).Body, `"score":4`)
	e2etest.EndsAs(s, b, "stars")
	logged(2, 2)
}
