package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// With an access file, the listener for operators still shows the metrics without a key. A profile that is being taken
// does not hold up a node that stops.
func TestAdminListener(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--admin-addr", "127.0.0.1:0", "--access",
		e2etest.Write(t, "access.yaml", "anonymous: {scopes: [read], boards: ['*']}\n"))
	p.Answers(401, "GET", "/metrics", "")
	at := regexp.MustCompile(` admin=(\S+) `).FindStringSubmatch(p.Output())
	require.NotNil(t, at, p.Output())
	admin := "http://" + at[1]
	a := servertest.Request(t, "GET", admin+"/metrics", "")
	for _, metric := range []string{"rankcast_redis_up ", `rankcast_build_info{goversion="go1.`, "go_goroutines ",
		"process_open_fds ", "rankcast_update_seconds_bucket", "rankcast_settled_total 0"} {
		require.Contains(t, a.Body, metric)
	}

	res, err := http.Get(admin + "/debug/pprof/trace?seconds=3600") // its first bytes come at once
	require.NoError(t, err)
	defer res.Body.Close()
	_, err = res.Body.Read(make([]byte, 1))
	require.NoError(t, err)
	p.Terminate()
	require.Zero(t, p.Ended())
	require.Contains(t, p.Output(), "msg=stopped")
}

// get returns an error unless a URL answers 200.
func get(url string) error {
	res, err := http.Get(url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != 200 {
		return errors.New(res.Status)
	}
	return nil
}

// Each line of --log-format json is a JSON object. With --log-level error there is no line about a start and a stop.
func TestLogFormats(t *testing.T) {
	t.Parallel()
	serve := func(t *testing.T, args ...string) (lines []string) {
		cmd := exec.Command(e2etest.Binary, append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, args...)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		stderr, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		scanner := bufio.NewScanner(stderr)
		for scanner.Scan() {
			lines = append(lines, scanner.Text())
			if strings.Contains(scanner.Text(), "serving") {
				require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			}
		}
		require.NoError(t, cmd.Wait())
		return lines
	}
	lines := serve(t, "--log-format", "json")
	require.GreaterOrEqual(t, len(lines), 3)
	for _, line := range lines {
		var fields struct{ Time, Level, Msg string }
		require.NoError(t, json.Unmarshal([]byte(line), &fields), line)
		require.NotEmpty(t, fields.Msg, line)
	}
	require.NotContains(t, strings.Join(serve(t, "--log-level", "info"), "\n"), "level=DEBUG")

	addr := fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(t))
	var out strings.Builder
	quiet := exec.Command(e2etest.Binary, "serve", "--addr", addr, "--log-level", "error")
	quiet.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	quiet.Stderr = &out
	require.NoError(t, quiet.Start())
	redistest.Eventually(t, "the node to answer", func() error { return get("http://" + addr + "/healthz") })
	require.NoError(t, quiet.Process.Signal(syscall.SIGTERM))
	require.NoError(t, quiet.Wait())
	require.Empty(t, out.String(), "neither the warning of the embedded store, nor start and stop")

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for format, want := range map[string]string{
		"text": `rankcast: --admin-addr: listen tcp \S+: bind: address already in use\n.*; to choose another one: --admin-addr ` +
			`127\.0\.0\.1:\d+\n$`,
		"json": `"level":"ERROR","msg":"the process has ended","error":"--admin-addr: listen tcp \S+: bind: address already in ` +
			`use\\n[^"]*; to choose another one: --admin-addr 127\.0\.0\.1:\d+"}\n$`,
	} {
		failed, err := exec.Command(e2etest.Binary, "serve", "--addr", "127.0.0.1:0", "--log-format", format, "--admin-addr",
			taken.Addr().String()).CombinedOutput()
		require.Error(t, err)
		require.Regexp(t, want, string(failed))
	}

	debug := e2etest.Launch(t, "--log-level", "debug")
	debug.Request("GET", "/v1/boards/none/top", "", "X-Request-Id", "r1")
	redistest.Eventually(t, "the line of the request", func() error {
		if !regexp.MustCompile(`level=DEBUG msg="request refused" method=GET path=/v1/boards/none/top request=r1 status=404 ` +
			`code=unknown_board`).MatchString(debug.Output()) {
			return errors.New(debug.Output())
		}
		return nil
	})
}
