//go:build !race

package e2e

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

// deploy runs the commands of an example as processes: Redis and two nodes. A score that one node takes shows
// on the other. A node that stops loses nothing that it has acknowledged, and neither does a Redis that crashes.
func deploy(t *testing.T, d deployment) {
	etc := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(etc, "boards.yaml"), []byte(run(t, "", "example", "boards").stdout), 0o600))
	keyFile := filepath.Join(t.TempDir(), "ops.key")
	line := run(t, "", "key", "new", "--name", "ops", "--scope", "admin", "--key-file", keyFile)
	require.Zero(t, line.code, line.stderr)
	require.NoError(t, os.WriteFile(filepath.Join(etc, "access.yaml"), []byte("keys:\n"+line.stdout), 0o600))
	key, err := os.ReadFile(keyFile)
	require.NoError(t, err)
	authorization := []string{"Authorization", "Bearer " + strings.TrimSpace(string(key))}

	require.Equal(t, "serve", d.node[1])
	data := localize(t, &d, etc)
	startRedis := func() *exec.Cmd {
		cmd := exec.Command("redis-server", d.redis[1:]...)
		cmd.Dir, cmd.SysProcAttr = data, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd
	}
	redis := startRedis()
	var nodes []*process
	for range 2 {
		n := launchWith(t, d.env, d.node[2:]...) // it says serve itself
		n.ready()
		for _, probe := range []string{d.live, d.ready} {
			if probe != "" {
				require.Equal(t, 200, servertest.Request(t, "GET", "http://"+n.addr+probe, "").Status, probe)
			}
		}
		nodes = append(nodes, n)
	}
	post := func(n *process, id int) (servertest.Answer, error) {
		return servertest.Try(t, "POST", "http://"+n.addr+"/v1/boards/points/scores", fmt.Sprintf(`{"id":"%d","member":"ana","score":1}`, id), authorization...)
	}
	shows := func(score int64) func(*hubtest.Board) bool {
		return func(b *hubtest.Board) bool { return len(b.Top) == 1 && b.Top[0].Score == score }
	}
	require.Equal(t, 401, servertest.Request(t, "POST", "http://"+nodes[0].addr+"/v1/boards/points/scores", `{"member":"eve","score":1}`).Status)

	watcher := servertest.DialPath(t, nodes[1].addr, "/v1/live", authorization...)
	watcher.Subscribe("points", 10)
	answer, err := post(nodes[0], 0)
	require.NoError(t, err)
	require.Equal(t, 200, answer.Status, answer.Body)
	watcher.Until("points", "a score that the other node has taken", shows(1))

	nodes[1].terminate()
	redistest.Eventually(t, "the node to say that it is not ready", func() error {
		return nodes[1].notReady("")
	})
	sent := 1
	for ; ; sent++ { // until the node is gone; the other one then takes the update whose answer is missing
		if answer, err := post(nodes[1], sent); err != nil || answer.Status != 200 {
			break
		}
	}
	require.Greater(t, sent, 1, "the node took no update while it drained")
	require.Equal(t, "drain", watcher.Next("bye").Reason)
	_, err = watcher.Read()
	require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(err), "%v", err)
	require.Zero(t, nodes[1].ended())

	answer, err = post(nodes[0], sent)
	require.NoError(t, err)
	require.Contains(t, answer.Body, fmt.Sprintf(`"score":%d,`, sent+1))
	redis.Process.Kill()
	redis.Wait()
	nodes[0].refuses("")
	startRedis()
	nodes[0].ready()
	rows := servertest.Request(t, "GET", "http://"+nodes[0].addr+"/v1/boards/points/top", "", authorization...)
	require.Contains(t, rows.Body, fmt.Sprintf(`"score":%d`, sent+1))
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
				port := fmt.Sprint(freePorts(t, 1))
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
