package process

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// keyLine is the line of an access file for a key.
func keyLine(name, key, rights string) string {
	return fmt.Sprintf("  - {name: %s, hash: %q, %s}\n", name, access.HashKey(key), rights)
}

// Commands take their key from a file, or from a variable. Without it, and with a key that may not do that, they say
// what to do.
func TestCommandsWithAKey(t *testing.T) {
	t.Parallel()
	admin, game, gone := access.NewKey(), access.NewKey(), access.NewKey()
	p := e2etest.Launch(t, "--access", e2etest.Write(t, "access.yaml", "keys:\n"+keyLine("ops", admin, "scopes: [admin]")+keyLine("game", game,
		"scopes: [write, read], boards: [points]")))
	server := []string{"--server", "http://" + p.Addr}
	command := func(args ...string) []string { return append(args, server...) }
	withKey := func(key string, args ...string) e2etest.Ran {
		return e2etest.Run(t, "", append(args, "--key-file", e2etest.Write(t, "key", key+"\n"))...)
	}
	laps := e2etest.Write(t, "laps.csv", "member,score\nana,1\nben,2\n")
	send, put := command("send", "points", "ana", "40"), command("put", "points")
	watch, replay := command("watch", "points", "--json"), command("replay", laps, "--board", "points")

	got := withKey(admin, put...)
	got.Is(t, 0, "points: created\n", "")
	withKey(game, send...).Is(t, 0, "points: ana has 40, rank 1 (new)\n", "")
	got = e2etest.RunWith(t, []string{"RANKCAST_KEY=" + game}, "", send...)
	require.Zero(t, got.Code, got.Stderr)
	got = e2etest.RunWith(t, []string{"RANKCAST_KEY=" + gone, "RANKCAST_KEY_FILE=" + e2etest.Write(t, "key", game)}, "", replay...)
	require.Zero(t, got.Code, got.Stderr)

	for _, args := range [][]string{put, send, watch, replay} {
		got = e2etest.Run(t, "", args...)
		got.Fails(t, 1, "needs credentials", "give a key: --key-file FILE, or the variable RANKCAST_KEY")
		require.NotContains(t, got.Stderr, "trying again")
		got = withKey(gone, args...)
		require.Equal(t, 1, got.Code, args)
		require.Regexp(t, `there is no such key.*; the server does not accept the key of .*/key`, got.Stderr, args)
		require.NotContains(t, got.Stderr, gone)
		got = e2etest.Run(t, "", append(args, "--key-file", e2etest.Write(t, "key", "\n"))...)
		require.Regexp(t, `^rankcast: --key-file .*/key: is empty; want a key\n$`, got.Stderr, args)
	}
	for _, args := range [][]string{put, command("send", "other", "ana", "40"), command("watch", "other", "--json"),
		command("replay", laps, "--board", "other")} {
		got = withKey(game, args...)
		require.Equal(t, 1, got.Code, args)
		require.Regexp(t, `the key "game" (lacks the scope|has no grant).*; the access file of the server decides what the key of .*/key may do`,
			got.Stderr, args)
	}
	require.NotContains(t, p.Output(), admin)
	require.NotContains(t, p.Output(), game)
}

// A replay and a watch go on while their key is replaced: the access file takes both keys, then the key file the new
// one, then the access file the new one alone. Nothing is lost. The watch shows also what comes after the server has
// taken the old key from its socket.
func TestKeyRotationUnderLoad(t *testing.T) {
	t.Parallel()
	const rights = "scopes: [read, write], boards: [points]"
	admin, a, b := access.NewKey(), access.NewKey(), access.NewKey()
	ops := "keys:\n" + keyLine("ops", admin, "scopes: [admin]")
	file, key := e2etest.Write(t, "access.yaml", ops+keyLine("a", a, rights)), e2etest.Write(t, "key", a)
	p := e2etest.Launch(t, "--access", file)
	require.Zero(t, e2etest.Run(t, "", "put", "points", "--server", "http://"+p.Addr, "--key-file", e2etest.Write(t, "key", admin)).Code)
	// inForce waits until the server answers requests with a key in this way.
	inForce := func(key string, status int) {
		redistest.Eventually(t, "the access file to be in force", func() error {
			if a := p.Request("GET", "/v1/boards/points/top", "", "Authorization", "Bearer "+key); a.Status != status {
				return fmt.Errorf("%d %s", a.Status, a.Body)
			}
			return nil
		})
	}
	rewrite := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }

	// The rotation happens between two requests of the replay, and while one that has the old key is on its way.
	target, err := url.Parse("http://" + p.Addr)
	require.NoError(t, err)
	var requests, refused, sockets atomic.Int64
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ModifyResponse = func(r *http.Response) error {
		if r.StatusCode == http.StatusUnauthorized {
			refused.Add(1)
		}
		return nil
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int64(0) // of a socket
		if r.URL.Path == "/v1/live" {
			sockets.Add(1)
		} else {
			n = requests.Add(1)
		}
		switch n {
		case 10:
			rewrite(file, ops+keyLine("a", a, rights)+keyLine("b", b, rights))
			require.NoError(t, p.Cmd.Process.Signal(syscall.SIGHUP))
			inForce(b, 200)
		case 20:
			rewrite(key, b)
			rewrite(file, ops+keyLine("b", b, rights))
			require.NoError(t, p.Cmd.Process.Signal(syscall.SIGHUP))
			inForce(a, 401)
		}
		r.Host = target.Host
		forward.ServeHTTP(w, r)
	}))
	defer proxy.Close()

	watch := exec.CommandContext(t.Context(), e2etest.Binary, "watch", "points", "--top", "1", "--json",
		"--server", proxy.URL, "--key-file", key)
	lines, err := watch.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, watch.Start())
	var reading sync.WaitGroup
	var latest atomic.Pointer[string] // line of the watch
	ended := make(chan struct{})
	reading.Go(func() {
		defer close(ended)
		for out := bufio.NewScanner(lines); out.Scan(); {
			latest.Store(new(out.Text()))
		}
	})
	untilWatch := func(what string, check func() error) {
		redistest.Eventually(t, "the watch "+what, func() error {
			select {
			case <-ended:
				require.Fail(t, "the watch has ended")
			default:
			}
			return check()
		})
	}
	defer func() {
		watch.Process.Signal(syscall.SIGTERM)
		redistest.Wait(t, "the end of reading", reading.Wait)
		redistest.Wait(t, "the end of watch", func() { watch.Wait() })
	}()

	connected := func(times int64) func() error {
		return func() error {
			if n := sockets.Load(); n < times {
				return fmt.Errorf("%d sockets", n)
			}
			return nil
		}
	}
	untilWatch("to connect with the old key", connected(1))

	var rows strings.Builder
	rows.WriteString("member,score\n")
	for i := range 300 {
		fmt.Fprintf(&rows, "m%d,1\n", i)
	}
	got := e2etest.Run(t, "", "replay", e2etest.Write(t, "rows.csv", rows.String()),
		"--board", "points", "--batch", "10", "--server", proxy.URL,
		"--key-file", key)
	got.Succeeds(t, "sent 300 (0 duplicates), refused 0")
	require.EqualValues(t, 1, refused.Load(), "the request on its way was refused once")
	top := servertest.Request(t, "GET", target.String()+"/v1/boards/points/top?limit=300", "", "Authorization", "Bearer "+b)
	require.Contains(t, top.Body, `"total":300,`)
	require.NotContains(t, top.Body, `"score":2`)

	// The server takes the old key from the socket of the watch within two seconds. The watch connects again.
	untilWatch("to connect with the new key", connected(2))
	got = e2etest.Run(t, "", "send", "points", "late", "1", "--server", "http://"+p.Addr, "--key-file", key)
	require.Zero(t, got.Code, got.Stderr)
	untilWatch("to show the new row", func() error {
		if line := latest.Load(); line == nil || !strings.Contains(*line, `"total":301,`) {
			return errors.New("not yet")
		}
		return nil
	})
}

// An address that other machines reach takes an access file, or --insecure.
func TestPublicAddressNeedsAccess(t *testing.T) {
	t.Parallel()
	file := e2etest.Write(t, "access.yaml", "anonymous: {scopes: [read], boards: ['*']}\n")
	got := e2etest.Run(t, "", "serve", "--addr", ":0")
	got.Fails(t, 1, "rankcast: --addr :0: other machines reach this address", "\n          --access FILE: ",
		"rankcast key new", "\n          --insecure: ")
	require.NotContains(t, got.Stderr, "serving")
	require.NotContains(t, e2etest.Launch(t).Output(), "--insecure")
	p := e2etest.Launch(t, "--addr", "0.0.0.0:0", "--insecure")
	require.Contains(t, p.Output(), "level=WARN msg=\"--insecure: anybody who reaches this server may do anything\"")
	require.Equal(t, 421, hostStatus(t, p.Addr, "evil.example"))
	p = e2etest.Launch(t, "--addr", "0.0.0.0:0", "--access", file)
	require.Contains(t, p.Output(), "keys and tokens travel unencrypted")
	require.Equal(t, 200, hostStatus(t, p.Addr, "scores.example"))
	require.NotContains(t, e2etest.Launch(t, "--addr", "0.0.0.0:0", "--access", file, "--trusted-proxies", "10.0.0.1").Output(), "unencrypted")

	e2etest.Run(t, "", "serve", "--access", file, "--insecure").Fails(t, 80, "--insecure has no effect with an access file")
	got = e2etest.RunWith(t, []string{"RANKCAST_ACCESS_TEXT=keys: []"}, "", "serve", "--access", file)
	got.Fails(t, 80, "--access and RANKCAST_ACCESS_TEXT cannot be used together")
	got = e2etest.Run(t, "", "serve", "--access", e2etest.Write(t, "access.yaml", "key: []\n"))
	require.Equal(t, 1, got.Code)
	require.Regexp(t, `^rankcast: --access .*/access.yaml: key: `, got.Stderr)
	got = e2etest.Run(t, "", "serve", "--access", filepath.Join(t.TempDir(), "none.yaml"))
	require.Regexp(t, `^rankcast: --access .*none.yaml: no such file`, got.Stderr)
	got = e2etest.RunWith(t, []string{"RANKCAST_ACCESS_TEXT=key: []"}, "", "serve")
	require.Regexp(t, `^rankcast: RANKCAST_ACCESS_TEXT: key: `, got.Stderr)
}

// hostStatus is the status of a request in the name of a host.
func hostStatus(t *testing.T, addr, host string) int {
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+addr+"/healthz", nil)
	require.NoError(t, err)
	req.Host = host
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	res.Body.Close()
	return res.StatusCode
}

// SIGHUP makes a server read its access file again. A server without one ends, as others that run in a terminal
// that is closed.
func TestHangUp(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--access", e2etest.Write(t, "access.yaml", "anonymous: {scopes: [read], boards: ['*']}\n"))
	require.NoError(t, p.Cmd.Process.Signal(syscall.SIGHUP))
	p.Logs("reading the access file again")
	p.Answers(200, "GET", "/healthz", "")

	p = e2etest.Launch(t)
	require.NoError(t, p.Cmd.Process.Signal(syscall.SIGHUP))
	require.Equal(t, -1, p.Ended())
}
