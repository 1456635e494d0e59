//go:build !race

package process

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/hub/hubtest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// deployment is what an example says of its processes. Its parsers take each value from the example.
type deployment struct {
	redis []string // command of Redis
	data  string   // folder in which Redis keeps the scores
	node  []string // command of a node
	env   []string // of a node
	etc   string   // folder of a node with the boards file and the access file
	live  string   // path of a probe; "" if the example has none
	ready string
	grace time.Duration // between SIGTERM and SIGKILL for a node
}

// stopTime is how long a node takes to stop after its drain time, at most.
const stopTime = 5 * time.Second

// testDrain stands for the drain time of an example, which waits for probes of proxies.
const testDrain = 3 * time.Second

func TestDeployCompose(t *testing.T)    { t.Parallel(); deploy(t, composeExample(t)) }
func TestDeploySystemd(t *testing.T)    { t.Parallel(); deploy(t, systemdExample(t)) }
func TestDeployKubernetes(t *testing.T) { t.Parallel(); deploy(t, kubernetesExample(t)) }

// deployed is an example that runs.
type deployed struct {
	t             *testing.T
	redisCommand  []string
	data          string // folder of Redis
	redis         *exec.Cmd
	nodes         []*e2etest.Process
	authorization []string // header of a key that may do anything
	viewer        []string // header of a viewer's token that may read all boards
}

// start runs the commands of an example as processes: Redis and two nodes, whose probes answer as the example
// wants. Its access file is made as the documentation says.
func start(t *testing.T, d deployment) *deployed {
	etc := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(etc, "boards.yaml"), []byte(e2etest.Run(t, "", "example", "boards").Stdout), 0o600))
	keyFile := filepath.Join(t.TempDir(), "ops.key")
	line := e2etest.Run(t, "", "key", "new", "--name", "ops", "--scope", "admin", "--key-file", keyFile)
	require.Zero(t, line.Code, line.Stderr)
	require.NoError(t, os.WriteFile(filepath.Join(etc, "token.secret"), []byte(strings.Repeat("s", 32)+"\n"), 0o600))
	accessFile := filepath.Join(etc, "access.yaml")
	require.NoError(t, os.WriteFile(accessFile, []byte("tokens: {secret_file: token.secret}\nkeys:\n"+line.Stdout), 0o600))
	token := e2etest.Run(t, "", "token", "--access", accessFile, "--sub", "mochi", "--board", "*", "--for", "1h")
	require.Zero(t, token.Code, token.Stderr)
	key, err := os.ReadFile(keyFile)
	require.NoError(t, err)

	data := localize(t, &d, etc)
	s := &deployed{t: t, redisCommand: d.redis, data: data, authorization: bearer(string(key)), viewer: bearer(token.Stdout)}
	s.startRedis()
	require.Equal(t, "serve", d.node[1])
	for range 2 {
		n := e2etest.LaunchWith(t, d.env, d.node[2:]...) // it says serve itself
		n.Ready()
		for _, probe := range []string{d.live, d.ready} {
			if probe != "" {
				require.Equal(t, 200, n.Request("GET", probe, "").Status, probe)
			}
		}
		s.nodes = append(s.nodes, n)
	}
	return s
}

// bearer is the header with a key or a token.
func bearer(credentials string) []string {
	return []string{"Authorization", "Bearer " + strings.TrimSpace(credentials)}
}

func (s *deployed) startRedis() {
	s.redis = exec.Command("redis-server", s.redisCommand[1:]...)
	s.redis.Dir, s.redis.SysProcAttr = s.data, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(s.t, s.redis.Start())
	s.t.Cleanup(s.stopRedis)
}

func (s *deployed) stopRedis() {
	s.redis.Process.Signal(syscall.SIGTERM)
	s.redis.Wait()
}

// post sends a point for ana, once for each id.
func (s *deployed) post(addr string, id int) (servertest.Answer, error) {
	return servertest.Try(s.t, "POST", "http://"+addr+"/v1/boards/points/scores",
		fmt.Sprintf(`{"id":"%d","member":"ana","score":1}`, id), s.authorization...)
}

// watch opens a socket that watches the board.
func (s *deployed) watch(addr string) *servertest.Socket {
	watcher := servertest.DialPath(s.t, addr, "/v1/live", s.authorization...)
	watcher.Subscribe("points", 10)
	return watcher
}

// showsScore waits until a socket shows that ana has a score.
func showsScore(watcher *servertest.Socket, score int) {
	watcher.Until("points", fmt.Sprint("the score ", score),
		func(b *hubtest.Board) bool { return len(b.Top) == 1 && b.Top[0].Score == int64(score) })
}

// saysBye waits until the node of a socket has said goodbye to it.
func saysBye(t *testing.T, watcher *servertest.Socket) {
	require.Equal(t, "drain", watcher.Next("bye").Reason)
	_, err := watcher.Read()
	require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(err), "%v", err)
}

// deploy runs an example. A score that one node takes shows on the other. A node that stops loses nothing that it
// has acknowledged, and neither does a Redis that starts again.
func deploy(t *testing.T, d deployment) {
	s := start(t, d)
	stays, stops := s.nodes[0], s.nodes[1]
	require.Equal(t, 401, stays.Post("points", `{"member":"eve","score":1}`).Status)
	stays.Answers(200, "GET", "/v1/boards/points/top", "", s.viewer...)
	watcher := s.watch(stops.Addr)
	answer, err := s.post(stays.Addr, 0)
	require.NoError(t, err)
	require.Equal(t, 200, answer.Status, answer.Body)
	showsScore(watcher, 1)

	stops.Terminate()
	stops.Refuses("")
	sent := 1
	for ; ; sent++ { // until the node is gone; the other one then takes the update whose answer is missing
		if answer, err := s.post(stops.Addr, sent); err != nil || answer.Status != 200 {
			break
		}
	}
	require.Greater(t, sent, 1, "the node took no update while it drained")
	saysBye(t, watcher)
	require.Zero(t, stops.Ended())
	answer, err = s.post(stays.Addr, sent)
	require.NoError(t, err)
	require.Contains(t, answer.Body, fmt.Sprintf(`"score":%d,`, sent+1))

	s.stopRedis()
	stays.Refuses("")
	s.startRedis()
	stays.Ready()
	showsScore(s.watch(stays.Addr), sent+1)
}

// localize replaces the folders, the address of Redis and the drain time of an example by those of the test. It
// returns the folder for the data of Redis. It checks that a node has the time that its stop takes.
func localize(t *testing.T, d *deployment, etc string) (data string) {
	data = t.TempDir()
	drains := false
	for i, variable := range d.env {
		name, value, _ := strings.Cut(variable, "=")
		switch name {
		case "RANKCAST_REDIS":
			u, err := url.Parse(value)
			require.NoError(t, err)
			if u.Scheme == "unix" {
				d.redis = replaced(d.redis, u.Path, filepath.Join(data, "redis.sock"))
				value = "unix://" + filepath.Join(data, "redis.sock")
			} else {
				port := fmt.Sprint(redistest.FreePort(t))
				d.redis = append(d.redis, "--bind", "127.0.0.1", "--port", port)
				value = "redis://127.0.0.1:" + port
			}
		case "RANKCAST_DRAIN_TIME":
			drain, err := time.ParseDuration(value)
			require.NoError(t, err)
			require.Greater(t, d.grace, drain+stopTime, "the node is killed before it has stopped")
			value, drains = testDrain.String(), true
		}
		d.env[i] = name + "=" + strings.ReplaceAll(value, d.etc, etc)
	}
	require.True(t, drains, "the example has no drain time")
	d.redis = replaced(d.redis, d.data, data)
	return data
}

// replaced is a command with another text in place of one that it holds.
func replaced(command []string, old, with string) []string {
	var all []string
	for _, word := range command {
		all = append(all, strings.ReplaceAll(word, old, with))
	}
	return all
}

// What the page Deploy says of back-ups: a Redis that starts with the restored file and with the flags of the unit holds the scores,
// and keeps them and later ones.
func TestRestoreFromABackUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	redis := redistest.Start(t)
	socket := strings.TrimPrefix(redis.URL(), "unix://")
	data := filepath.Dir(socket)
	require.NoError(t, redis.Admin().Set(t.Context(), "score", "40", 0).Err())
	out, err := exec.Command("redis-cli", "-s", socket, "--rdb", filepath.Join(dir, "rankcast.rdb")).CombinedOutput()
	require.NoError(t, err, string(out))
	redis.Kill()
	require.NoError(t, os.RemoveAll(filepath.Join(data, "appendonlydir")))
	page, err := os.ReadFile("../../../../web/docs/deploy.md")
	require.NoError(t, err)
	var restore []string
	for line := range strings.Lines(string(page)) {
		if line = strings.ReplaceAll(line, "sudo ", ""); strings.Contains(line, "/var/lib/rankcast-redis/appendonlydir") {
			restore = append(restore, strings.ReplaceAll(line, "/var/lib/rankcast-redis", data))
		}
	}
	require.Len(t, restore, 3)
	run := exec.Command("bash", "-ec", strings.Join(restore, ""))
	run.Dir = dir
	out, err = run.CombinedOutput()
	require.NoError(t, err, string(out))
	redis.Start()
	require.NoError(t, redis.Admin().Set(t.Context(), "later", "2", 0).Err())
	redis.Kill()
	redis.Start()
	require.Equal(t, []any{"40", "2"}, redis.Admin().MGet(t.Context(), "score", "later").Val())
}
