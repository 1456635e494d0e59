//go:build upgrade

package faults

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/hub/hubtest"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

// previousTree is the variable with the folder of the version before: its sources, and bin/rankcast. make
// upgrade sets it.
const previousTree = "PREVIOUS_TREE"

// upgradeBoards holds a board of each sort beside those of the fault suite. The event gift writes to them.
const upgradeBoards = faultBoards + `
  stars: {kind: star, history: 10s}
  "fans:{star}": {kind: user, period: year}
  senders: {kind: user, window: 1h, refresh: live}
  built: {kind: user, window: 1h, refresh: 1s}
  rounds: {kind: user, period: 3s, base: "2026-01-01T00:00:00Z", keep: 1000}
  twice: {kind: user, union: {of: [senders, built], refresh: 1s}}
events:
  gift:
    - {board: stars,         member: "{star}", score: "{flowers}"}
    - {board: "fans:{star}", member: "{user}", score: "{flowers}"}
    - {board: senders,       member: "{user}", score: "{flowers}"}
    - {board: built,         member: "{user}", score: "{flowers}"}
    - {board: rounds,        member: "{user}", score: "{flowers}"}
  mistake: [{board: stars, member: "{star}", score: 1000}]
`

// upgrade is a trial whose nodes change their version, one after another, while updates and events come in.
type upgrade struct {
	*trial
	gifts   *giftLoad
	queue   *e2etest.Process // rankcast ingest
	hooks   *servertest.Receiver
	fans    []*watcher           // of boards that the event writes to, on both nodes
	streams []*servertest.Stream // of the board stars, one on each node
	tables  []keyTable           // the keys that each version knows
}

// Two nodes of the version before are replaced by this version, one after another, and then back again. The
// load loses no update and counts none twice, whichever version answers. Both versions give the same answers,
// and a client of either sees what Redis holds. This version refuses the data of another layout.
func TestUpgrade(t *testing.T) {
	tree := os.Getenv(previousTree)
	require.NotEmpty(t, tree, "run make upgrade: it builds the version before and sets "+previousTree)
	previous := filepath.Join(tree, "bin", "rankcast")
	if layoutOf(t, tree) != layoutOf(t, e2etest.ModuleRoot) {
		requireRefusal(t, previous)
		return
	}

	u := &upgrade{hooks: &servertest.Receiver{T: t}, tables: []keyTable{readKeyTable(t, tree), readKeyTable(t, e2etest.ModuleRoot)}}
	receiver := httptest.NewServer(u.hooks)
	t.Cleanup(receiver.Close)
	form := shortForm
	form.boards, form.program = upgradeBoards, previous
	form.args = append(slices.Clone(form.args), "--webhook", receiver.URL, "--webhook-secret", servertest.WebhookSecret,
		"--webhook-boards", "rounds", "--webhook-top", "100")
	u.trial = &trial{t: t, form: form, redis: redistest.Start(t)}
	for range 2 {
		u.addNode(nil, u.redis.URL())
	}
	u.begin()
	u.gifts = startGifts(u.load, 2)
	u.queue = launchIngestOf(t, previous, "--redis", u.redis.URL())
	for i, n := range u.nodes {
		random := rand.New(rand.NewPCG(5, uint64(i)))
		for _, board := range []string{"stars", "fans:s1", "senders", "built", "twice"} {
			u.fans = append(u.fans, watch(t, n.client, board, client.Watch{Top: pick(random, 3, 10), Me: u.gifts.member(random, board), Around: 1}))
		}
		u.streams = append(u.streams, servertest.OpenStream(t, n.Addr, starsStream))
	}
	u.check("before", u.nodes[0], u.nodes[1])
	for i, step := range []struct {
		replaced, other int
		program         string
	}{{0, 1, e2etest.Binary}, {1, 0, e2etest.Binary}, {0, 1, previous}, {1, 0, previous}} {
		n, other := u.nodes[step.replaced], u.nodes[step.other]
		u.replace(step.replaced, step.program)
		if step.program == e2etest.Binary {
			u.check(fmt.Sprint("step ", i), other, n)
		} else {
			u.check(fmt.Sprint("step ", i), n, other)
		}
	}
	u.end()
	u.settled()
	for _, n := range u.nodes {
		n.quiet()
	}
}

// layoutOf is the layout of a version's data in Redis; "" for a version without layouts.
func layoutOf(t testing.TB, tree string) string {
	text, err := os.ReadFile(filepath.Join(tree, "ranking", "layout.go"))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^const Layout = (\d+)$`).FindSubmatch(text)
	require.NotNil(t, found, "%s has another form", tree)
	return string(found[1])
}

// requireRefusal requires that this version refuses the data of a node of another layout, and leaves them to it.
func requireRefusal(t *testing.T, previous string) {
	r := redistest.Start(t, redistest.WithDebug...)
	node := e2etest.LaunchProgram(t, previous, nil, "--redis", r.URL())
	node.Ready()
	node.Update("stars", `{"member":"m","score":3}`)
	node.Terminate()
	require.Zero(t, node.Ended())
	requireLayoutRefused(t, r)
	again := e2etest.LaunchProgram(t, previous, nil, "--redis", r.URL())
	again.Ready()
	require.Contains(t, again.Request("GET", "/v1/boards/stars/top", "").Body, `"score":3`)
}

const starsStream = "/v1/boards/stars/live?top=10"

// replace stops a node and the consumer of the queue, and starts another version in their place while the load
// goes on.
func (u *upgrade) replace(node int, program string) {
	before := u.queue
	require.NoError(u.t, u.gifts.queue(u.redis, 200))
	u.queue = launchIngestOf(u.t, program, "--redis", u.redis.URL())
	before.Terminate()
	require.Zero(u.t, before.Ended())
	require.NotRegexp(u.t, complaint, before.Output())
	n, s := u.nodes[node], u.streams[node]
	n.quiet()
	n.witness.WS.CloseNow() // nobody reads it, so the node would wait for it
	n.Terminate()
	s.Next("bye")
	_, err := s.Read()
	require.ErrorIs(u.t, err, io.EOF)
	require.Zero(u.t, n.Ended())
	n.program = program
	n.start()
	u.streams[node] = servertest.OpenStream(u.t, n.Addr, starsStream, "Last-Event-ID: "+s.ID)
	u.load.untilAnswered(200, time.Now(), 20*u.form.senders)
}

// quiet requires that a node has nothing to complain about, and that its views have missed no change.
func (n *faultNode) quiet() {
	n.t.Helper()
	require.NotRegexp(n.t, complaint, n.Output())
	metrics := n.Request("GET", "/metrics", "").Body
	reasons := resyncs.FindAllStringSubmatch(metrics, -1)
	require.NotEmpty(n.t, reasons)
	for _, found := range reasons {
		if reason, count := found[1], found[2]; reason != "replaced" { // by a build
			require.Equal(n.t, "0", count, "boards that the node read again, for the reason %s", reason)
		}
	}
}

var complaint = regexp.MustCompile(`level=(WARN|ERROR)`)

var resyncs = regexp.MustCompile(`(?m)^rankcast_resyncs_total\{reason="(\w+)"\} (\d+)$`)

// check compares, while nothing is written, all accounts of each board on both nodes. Then it changes what is
// no score on one node, and looks on the other.
func (u *upgrade) check(step string, older, newer *faultNode) {
	u.t.Helper()
	u.load.pause()
	defer u.load.resume()
	u.right(u.nodes...)
	u.counted(step, older, newer)
	redistest.Eventually(u.t, step+": each watcher to show what Redis holds", func() error {
		for _, w := range u.fans {
			held, err := u.entries(w.board, -1, false)
			if err != nil {
				return err
			}
			if err := w.shows(held); err != nil {
				return err
			}
		}
		return nil
	})
	u.streamsShow(step)
	u.profile(step, newer)
	u.moderate(step, older)
	u.takeBack(step, older, newer)
	u.knownKeys()
}

// counted waits until the nodes of both versions answer what was acknowledged.
func (u *upgrade) counted(step string, older, newer *faultNode) {
	u.t.Helper()
	redistest.Eventually(u.t, step+": both versions to answer what was acknowledged", func() error {
		for _, n := range u.nodes {
			if err := u.gifts.counted(n); err != nil {
				return fmt.Errorf("on %s: %w", n.Addr, err)
			}
		}
		return sameAnswers(u.t, older, newer)
	})
}

// streamsShow waits until the streams of both nodes show the board stars as Redis holds it.
func (u *upgrade) streamsShow(what string) {
	u.t.Helper()
	held, err := u.entries("stars", -1, false)
	require.NoError(u.t, err)
	for _, s := range u.streams {
		s.Until(what+": the board", func(b *hubtest.Board) bool {
			return slices.EqualFunc(b.Top, held, func(a hubtest.Entry, e client.Entry) bool {
				return a.Rank == e.Rank && a.Member == e.Member && a.Score == e.Score
			})
		})
	}
}

// profile sets a name on one node. The clients of both show it.
func (u *upgrade) profile(name string, on *faultNode) {
	u.t.Helper()
	require.NoError(u.t, on.client.SetProfile(u.t.Context(), "star", "s1", client.Profile{Name: name}))
	for _, s := range u.streams {
		s.Until("the name "+name, func(b *hubtest.Board) bool {
			return slices.ContainsFunc(b.Top, func(e hubtest.Entry) bool { return e.Member == "s1" && e.Name == name })
		})
	}
}

// moderate hides a member on one node, and shows it again. The clients of both see both.
func (u *upgrade) moderate(step string, on *faultNode) {
	u.t.Helper()
	hidden := "http://" + on.Addr + "/v1/boards/stars/hidden/s2"
	require.Equal(u.t, 204, servertest.Request(u.t, "PUT", hidden, "").Status)
	u.streamsShow(step + ", s2 hidden")
	for _, s := range u.streams {
		require.Len(u.t, s.Board.Top, giftStars-1)
	}
	require.Equal(u.t, 204, servertest.Request(u.t, "DELETE", hidden, "").Status)
	u.streamsShow(step + ", s2 shown")
}

// takeBack sends an event to one node, and takes it back on the other.
func (u *upgrade) takeBack(step string, sends, takes *faultNode) {
	u.t.Helper()
	_, err := sends.client.Event(u.t.Context(), "mistake", client.Event{ID: step, Data: jsontext.Value(`{"star":"s3"}`)})
	require.NoError(u.t, err)
	u.streamsShow(step + ", a mistake")
	takes.Answers(200, "POST", "/v1/events/mistake/take-back", fmt.Sprintf(`{"id":%q}`, step))
	u.counted(step+", taken back", sends, takes)
	u.streamsShow(step + ", taken back")
}

// knownKeys requires that each version describes all keys in Redis: the one that runs after a rollback keeps and
// deletes them as it should.
func (u *upgrade) knownKeys() {
	keys, err := u.redis.Admin().Keys(u.t.Context(), "*").Result()
	require.NoError(u.t, err)
	channels, err := u.redis.Admin().PubSubChannels(u.t.Context(), "*").Result()
	require.NoError(u.t, err)
	require.NotEmpty(u.t, channels)
	for _, table := range u.tables {
		for _, name := range slices.Concat(keys, channels) {
			require.True(u.t, table.names(name), "%s does not describe %s", table.file, name)
		}
	}
}

// settled waits until the webhook has got the result of each period, once, and all periods together hold
// what was acknowledged.
func (u *upgrade) settled() {
	keys, err := u.redis.Admin().Keys(u.t.Context(), "rc:{rounds}:*:z").Result()
	require.NoError(u.t, err)
	require.Greater(u.t, len(keys), 3)
	redistest.Eventually(u.t, "the results of all periods", func() error {
		sum, got := make(map[string]int64), make(map[string]bool)
		for _, m := range u.hooks.Messages() {
			if got[m.Period] {
				continue
			}
			got[m.Period] = true
			for _, e := range m.Top {
				sum[e.Member] += e.Score
			}
		}
		for _, key := range keys {
			if period := strings.Split(key, ":")[2]; !got[period] {
				return errors.New("none of period " + period)
			}
		}
		require.Equal(u.t, u.gifts.ledger["senders"], sum, "the results of all periods hold each event once")
		return nil
	})
	_, ids := u.hooks.Tries()
	for period, n := range ids {
		require.Equal(u.t, 1, n, "ids of the result of %s", period)
	}
}
