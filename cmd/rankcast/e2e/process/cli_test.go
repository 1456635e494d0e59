//go:build !race

package process

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/cmd/rankcast/internal/example"
	"rankcast/ranking/redistest"
)

func TestExampleBoards(t *testing.T) {
	t.Parallel()
	got := e2etest.Run(t, "", "example", "boards")
	require.Zero(t, got.Code, got.Stderr)
	require.Equal(t, string(example.Boards), got.Stdout)
	require.Equal(t, 80, e2etest.Run(t, "", "example").Code)
}

// A port that is taken is said with the flag that chooses another one.
func TestPortThatIsTaken(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	got := e2etest.Run(t, "", "serve", "--addr", fmt.Sprintf("127.0.0.1:%d", port))
	got.Fails(t, 1, "address already in use\n")
	require.Regexp(t, `another listener uses this port; to choose another one: --addr 127\.0\.0\.1:\d+\n$`, got.Stderr)
	require.NotContains(t, got.Stderr, fmt.Sprintf("--addr 127.0.0.1:%d,", port))
}

// The log says what a start does, and last how to go on.
func TestStartSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	says := func(p *e2etest.Process, lines ...string) {
		log := p.Output()
		for _, line := range lines {
			_, after, found := strings.Cut(log, line)
			require.True(t, found, "%s, in order, in\n%s", line, p.Output())
			log = after
		}
		_, after, _ := strings.Cut(log, "\n")
		for line := range strings.Lines(after) { // a slow start lets housekeeping settle what has closed meanwhile
			require.Contains(t, line, "settled closed periods", "it is the last line of\n%s", p.Output())
		}
	}
	p := e2etest.Launch(t, "--demo")
	says(p, "building two weeks of made-up history", "the history is ready", "msg=serving page=http://"+p.Addr+"/stars boards=",
		`first_score="`+e2etest.Binary+" send points ana 40 --server http://"+p.Addr+`"`)
	p = e2etest.LaunchBoards(t, `boards: {"a:{x}": {}, b: {}, all: {union: {of: [b]}}}`)
	says(p, `first_score="`+e2etest.Binary+" send b ana 40 --server http://"+p.Addr+`"`)
	p = e2etest.LaunchBoards(t, `boards: {"a:{x}": {}, b: {max: 10}, c: {min: 100}, d: {max_change: 5},
		e: {ends: 2020-01-01T00:00:00Z}, f: {starts: 2030-01-01T00:00:00Z, period: day}}`)
	says(p, `first_score="`+e2etest.Binary+` send --help"`)
	// A Redis that keeps scores is no place for a made-up one.
	p = e2etest.LaunchBoards(t, `boards: {b: {}}`, "--redis", redistest.Start(t).URL())
	says(p, "msg=serving page=http://"+p.Addr+"/ boards=b")
	require.NotContains(t, p.Output(), "first_score")
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	bad := e2etest.Write(t, "bad.yaml", "boards: {laps: {mode: most}}")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 0, "rankcast send points ana 40"},
		{[]string{"--help"}, 0, "Examples:"},
		{[]string{"serve", "--help"}, 0, "--boards"},
		{[]string{"version"}, 0, "rankcast "},
		{[]string{"--version"}, 0, "rankcast "},
		{[]string{"serv"}, 80, "unexpected argument serv"},
		{[]string{"example", "nosuch"}, 80, "unexpected argument nosuch; want one of boards, alerts, grafana, compose, systemd, kubernetes\n"},
		{[]string{"example"}, 80, "a command is missing; want one of boards, alerts, grafana, compose, systemd, kubernetes\n"},
		{[]string{"nosuch"}, 80, "want one of serve, ingest, watch,"},
		{[]string{"serve", "--interval", "5"}, 80, `--interval: is "5"; want a number with its unit, such as 100ms, 5s, 90m, 36h or 7d`},
		{[]string{"token", "--sub", "u4", "--for", "7 days"}, 80, `--for: is "7 days"; want a number with its unit`},
		{[]string{"serve", "--boards", bad}, 1, "boards.laps.mode"},
		{[]string{"serve", "--boards", "/nowhere.yaml"}, 80, "nowhere"},
		{[]string{"serve", "--addr", "127.0.0.1:0", "--redis", "mongodb://x"}, 1, `scheme "mongodb"`},
		{[]string{"serve", "--addr", "nonsense"}, 80, `--addr: is "nonsense"; want HOST:PORT, such as 127.0.0.1:8080`},
		{[]string{"serve", "--addr", "8081"}, 80, `--addr: is "8081"; want HOST:PORT, such as 127.0.0.1:8081`},
		{[]string{"serve", "--addr", "http://127.0.0.1:8080"}, 80, `--addr: is "http://127.0.0.1:8080"; want HOST:PORT`},
		{[]string{"serve", "--addr", "127.0.0.1:99999"}, 80, `--addr: is "127.0.0.1:99999"; want HOST:PORT`},
		{[]string{"serve", "--addr", "nowhere.invalid:8080"}, 1, "listen"},
		{[]string{"serve", "--addr", "127.0.0.1:0", "--redis", "localhost:6379"}, 1, "redis URL: has no scheme; want redis://localhost:6379"},
		{[]string{"watch", "b", "--json", "--server", "127.0.0.1:8080"}, 1, "server URL: has no scheme; want http://127.0.0.1:8080"},
		{[]string{"replay", "f.csv", "--board", "b", "--server", "localhost:8080"}, 1, "want http://localhost:8080"},
		{[]string{"put", "b", "--server", "localhost:8080"}, 1, "want http://localhost:8080"},
		{[]string{"send", "b", "m", "1", "--server", "localhost:8080"}, 1, "want http://localhost:8080"},
		{[]string{"send", "points", "Ana \xff", "1"}, 1, `"Ana \xff" is not UTF-8`},
		{[]string{"send", "--event", "gift", "star=Ana \xed\xa0\xbd", "user=u", "flowers=1"}, 1, `"star=Ana \xed\xa0\xbd" is not UTF-8`},
		{[]string{"put", "points", "{title: \"T\xff\"}"}, 1, "is not UTF-8"},
		{[]string{"serve", "--interval", "-1s"}, 80, "--interval"},
		{[]string{"serve", "--interval", "0s"}, 80, "--interval must be 1ms or more"},
		{[]string{"serve", "--drain-time=-1s"}, 80, "--drain-time must be 0s or more"},
		{[]string{"serve", "--max-top", "1001"}, 80, "--max-top"},
		{[]string{"serve", "--prefix", "a{b}"}, 80, "--prefix"},
		{[]string{"serve", "--origins", "https://example.com,example.org"}, 80,
			`--origins: "example.org": has no scheme; want https://example.org`},
		{[]string{"serve", "--frame-origins", "https://example.com/games"}, 80,
			`--frame-origins: "https://example.com/games": want a scheme, a host and an optional port, and nothing after them`},
		{[]string{"serve", "--avatar-origins", "http://cdn.example.com"}, 80,
			`--avatar-origins: "http://cdn.example.com": want https://; http:// only for localhost and loopback addresses`},
		{[]string{"serve", "--card-rate=-1"}, 80, "--card-rate must be 0 or more"},
		{[]string{"serve", "--hosts", "scores.example.com,https://example.org"}, 80,
			`--hosts: "https://example.org": want a host without a scheme, such as scores.example.com`},
		{[]string{"serve", "--webhook", "receiver.example", "--webhook-secret", "x"}, 80, "--webhook: want http://"},
		{[]string{"serve", "--webhook", "https://receiver.example"}, 80, "RANKCAST_WEBHOOK_SECRET): is empty"},
		{[]string{"serve", "--webhook", "https://receiver.example", "--webhook-secret", "whsec_?"}, 80, "want base64"},
		{[]string{"serve", "--webhook-top", "101"}, 80, "--webhook-top"},
		{[]string{"serve", "--webhook-boards", "stars"}, 80, "needs --webhook"},
		{[]string{"serve", "--webhook", "https://receiver.example", "--webhook-secret", "x", "--webhook-boards", "stars,fans:s17"},
			80, `"fans:s17"`},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, e2etest.Binary, c.args...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = io.Writer(&out), &out
		cmd.Run()
		cancel()
		require.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%v: %s", c.args, out.String())
		require.Contains(t, out.String(), c.says, "%v", c.args)
	}
}

// make build gives the program its version, and links nothing to it that a machine may lack.
func TestBuildIsStaticAndKnowsItsVersion(t *testing.T) {
	t.Parallel()
	require.Equal(t, "rankcast "+e2etest.BuiltVersion+" "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH+"\n",
		e2etest.Run(t, "", "version").Stdout)
	file, err := elf.Open(e2etest.Binary)
	require.NoError(t, err)
	defer file.Close()
	for _, p := range file.Progs {
		require.NotEqual(t, elf.PT_INTERP, p.Type)
	}
}

// All places that show the version show the same one.
func TestVersionIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	version := strings.Fields(e2etest.Run(t, "", "version").Stdout)[1]
	require.Equal(t, e2etest.Run(t, "", "version").Stdout, e2etest.Run(t, "", "--version").Stdout)
	p := e2etest.Launch(t)
	require.Contains(t, p.Output(), " version="+version+"\n")
	metrics := p.Request("GET", "/metrics", "").Body
	require.Contains(t, metrics, `rankcast_build_info{goversion="`+runtime.Version()+`",version="`+version+`"} 1`)
}

// The version of make build is the tag, or else tells the commits since, and changes that are in no commit.
func TestVersionIsThatOfTheTagOrCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makefile, err := os.ReadFile(filepath.Join(e2etest.ModuleRoot, "Makefile"))
	require.NoError(t, err)
	file := filepath.Join(dir, "Makefile")
	require.NoError(t, os.WriteFile(file, makefile, 0o600))
	env, err := e2etest.CleanEnvironment(dir)
	require.NoError(t, err)
	do := func(args ...string) string {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
		return string(out)
	}
	commit := func() {
		do("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--all", "--allow-empty", "-m", "m")
	}
	says := func(pattern string) {
		require.Regexp(t, `-X main\.version=`+pattern+`"`, do("make", "--dry-run", "build"))
	}

	says("devel")
	do("git", "init", "--quiet")
	do("git", "add", "Makefile")
	commit()
	says("[0-9a-f]{7,}")
	do("git", "tag", "v1.2.3")
	says(`v1\.2\.3`)
	commit()
	says(`v1\.2\.3-1-g[0-9a-f]{7,}`)
	require.NoError(t, os.WriteFile(file, append(makefile, '\n'), 0o600))
	says(`v1\.2\.3-1-g[0-9a-f]{7,}-dirty`)
}
