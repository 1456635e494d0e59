//go:build caddy

package process

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/hub/hubtest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// TestDeployBehindCaddy runs the compose file with its Caddy, the program at CADDY. Frames pass it at once, on
// sockets and in streams. While a node stops, no update that comes by Caddy fails.
func TestDeployBehindCaddy(t *testing.T) {
	s := start(t, composeExample(t))
	_, port := ofImage(t)
	addr := fmt.Sprint("localhost:", redistest.FreePort(t))
	config := strings.NewReplacer("http://localhost {", "http://"+addr+" {", "node-1:"+port, s.nodes[0].Addr, "node-2:"+port, s.nodes[1].Addr).
		Replace(composeProject(t).Configs["caddyfile"].Content)
	caddy := exec.Command(os.Getenv("CADDY"), "run", "--adapter", "caddyfile",
		"--config", e2etest.Write(t, "Caddyfile", "{\n\tadmin off\n}\n"+config))
	caddy.Env = append(os.Environ(), "XDG_DATA_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	caddy.SysProcAttr, caddy.Stderr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}, t.Output()
	require.NoError(t, caddy.Start())
	t.Cleanup(func() { caddy.Process.Kill(); redistest.Wait(t, "the end of caddy", func() { caddy.Wait() }) })
	redistest.Eventually(t, "Caddy to answer", func() error {
		answer, err := servertest.Try(t, "GET", "http://"+addr+"/readyz", "")
		if err == nil && answer.Status != 200 {
			err = fmt.Errorf("%d %s", answer.Status, answer.Body)
		}
		return err
	})
	sent := 0
	post := func() {
		answer, err := s.post(addr, sent)
		require.NoError(t, err)
		require.Equal(t, 200, answer.Status, answer.Body)
		sent++
	}
	post()
	showsScore(s.watch(addr), sent)
	stream := servertest.OpenStream(t, addr, "/v1/boards/points/live?top=1", strings.Join(s.authorization, ": "))
	post()
	stream.Until("the update", func(b *hubtest.Board) bool { return len(b.Top) == 1 && b.Top[0].Score == int64(sent) })

	stops := s.nodes[0]
	stops.Terminate()
	gone := make(chan struct{})
	go func() {
		stops.Ended()
		close(gone)
	}()
	for running := true; running; {
		post()
		select {
		case <-gone:
			running = false
		default:
		}
	}
	showsScore(s.watch(addr), sent)
}
