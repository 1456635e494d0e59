//go:build !race

package docs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/cmd/rankcast/internal/example"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// docPage is a page of documentation while its examples run, from top to bottom, in a clone of
// the repository, with a Redis of its own if they name one.
type docPage struct {
	t     *testing.T
	ctx   context.Context
	dir   string // holds the clone and what the page puts beside it
	clone string
	env   []string
	ports ports

	shells    []*shell     // that have run
	servers   []*docServer // that run
	last      *shell       // whose output the next block may show
	lastBlock block
	socket    *docSocket
	unopened  []block // pages of HTML that are saved and not opened yet
	tabs      []*docTab
}

// Each example of the README and of the documentation does what its page says. The info strings of
// the blocks say how each is run; parseBlocks knows them.
func TestDocs(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(e2etest.ModuleRoot, "web/docs/*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, path := range append(pages, filepath.Join(e2etest.ModuleRoot, "README.md")) {
		name, err := filepath.Rel(e2etest.ModuleRoot, path)
		require.NoError(t, err)
		t.Run(strings.TrimSuffix(filepath.Base(name), ".md"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			blocks, err := parseBlocks(name, string(text))
			require.NoError(t, err)
			runPage(t, blocks)
		})
	}
}

// runPage runs the blocks of a page in order.
func runPage(t *testing.T, blocks []block) {
	if len(blocks) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*servertest.Patience)
	defer cancel()
	p := &docPage{t: t, ctx: ctx, dir: t.TempDir(), ports: newPorts(t)}
	p.clone = cloneFor(t, p.dir, blocks)
	home := filepath.Join(p.dir, "home")
	require.NoError(t, os.Mkdir(home, 0o755))
	// curl fails where the server refuses a request, and still prints the answer.
	require.NoError(t, os.WriteFile(filepath.Join(home, ".curlrc"), []byte("fail-with-body\n"), 0o644))
	env, err := e2etest.CleanEnvironment(home)
	require.NoError(t, err)
	queues, err := filepath.Abs("testdata/queues") // stand-ins of the packages for queues
	require.NoError(t, err)
	p.env = append(env, "RANKCAST_ADDR="+p.ports.addr(serverPort), "RANKCAST_SERVER=http://"+p.ports.addr(serverPort),
		"PYTHONPATH="+queues, "PYTHONDONTWRITEBYTECODE=1")
	if anyCommand(blocks, func(commands string) bool { return strings.Contains(commands, "127.0.0.1:"+redisPort) }) {
		redistest.Start(t, "--bind", "127.0.0.1", "--port", p.ports[redisPort])
	}
	t.Cleanup(func() { // a node that is killed leaves its redis-server behind
		locks, err := filepath.Glob(filepath.Join(p.clone, "*", "redis.lock"))
		require.NoError(t, err)
		for _, lock := range locks {
			redistest.KillLocal(t, filepath.Dir(lock))
		}
	})
	defer p.stop()
	for i, b := range blocks {
		began := time.Now()
		p.step(b, blocks[i+1:])
		t.Logf("%s: %s %s took %v", b, b.lang, b.word, time.Since(began).Round(time.Millisecond))
	}
	p.open()
	p.closeTabs()
}

// stop ends what the page has started.
func (p *docPage) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), servertest.Patience)
	defer cancel()
	if p.socket != nil {
		p.socket.close()
	}
	for _, server := range p.servers {
		server.stop(ctx)
	}
	for _, s := range p.shells {
		s.stop(ctx)
	}
}

// step does what a block says. later are the blocks that follow.
func (p *docPage) step(b block, later []block) {
	if b.file != "" {
		p.save(b, later)
	}
	// A reader saves a page, starts the servers that it needs, and opens it.
	if b.lang != "html" && !(b.lang == "sh" && b.word == "server") {
		p.open()
	}
	switch b.lang {
	case "sh":
		switch b.word {
		case "server":
			p.serve(b)
		case "docker":
			p.checkDocker(b)
		default:
			var next block
			if len(later) > 0 {
				next = later[0]
			}
			p.run(b, next)
		}
	case "json", "text":
		switch b.word {
		case "output":
			p.compare(b)
		case "send":
			p.send(b)
		case "receive":
			p.receive(b)
		case "page":
			p.comparePage(b)
		}
	case "yaml":
		switch b.word {
		case "access":
			_, err := access.NewGuard(access.GuardConfig{Text: b.text})
			require.NoError(p.t, err, "%s", b)
		case "prometheus":
			p.checkPrometheus(b, later)
		default:
			p.check(b)
		}
	case "nginx":
		p.checkNginx(b)
	case "caddyfile":
		p.checkCaddyfile(b)
	case "html":
		p.unopened = append(p.unopened, b)
	case "js":
		p.runScript(b)
	case "ts":
		tested, err := os.ReadFile(filepath.Join(e2etest.ModuleRoot, "web/testdata/bundler", b.file))
		require.NoError(p.t, err, "%s", b)
		require.Equal(p.t, string(tested), b.text, "%s", b)
	}
}

// fail ends the page: what follows builds on the example that failed.
func (p *docPage) fail(b block, format string, args ...any) {
	p.t.Helper()
	text := fmt.Sprintf("%s: %s", b, fmt.Sprintf(format, args...))
	for _, server := range p.servers {
		text += fmt.Sprintf("\nThe server of line %d said:\n%s", server.block.line, server.output())
	}
	p.t.Fatal(text)
}

// eventually calls check until it returns nil. what completes the sentence "waiting for …".
func (p *docPage) eventually(b block, what string, check func() error) {
	p.t.Helper()
	if err := redistest.Poll(p.ctx, check); err != nil {
		p.fail(b, "gave up waiting for %s: %v", what, err)
	}
}

// save writes the file of a block, which is in the clone or beside it. Later commands use a program or a
// recording: they name the file, or the folder that it has for itself.
func (p *docPage) save(b block, later []block) {
	folder := filepath.Dir(b.file)
	uses := func(commands string) bool {
		return strings.Contains(commands, b.file) || folder != "." && strings.Contains(commands, folder)
	}
	if slices.Contains([]string{"go", "python", "csv"}, b.lang) && !anyCommand(later, uses) {
		p.fail(b, "no later command uses %s", b.file)
	}
	path := filepath.Join(p.clone, b.file)
	if inside, err := filepath.Rel(p.dir, path); err != nil || strings.HasPrefix(inside, "..") {
		p.fail(b, "%s is neither in the clone nor beside it", b.file)
	}
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(p.t, os.WriteFile(path, []byte(p.ports.in(b.text)), 0o644))
}

// checkPrometheus checks that the job is the one of the alerts, and that a later command writes the rules.
func (p *docPage) checkPrometheus(b block, later []block) {
	var config struct {
		Jobs  []map[string]any `yaml:"scrape_configs"`
		Rules []string         `yaml:"rule_files"`
	}
	require.NoError(p.t, yaml.Unmarshal([]byte(b.text), &config), "%s", b)
	require.Len(p.t, config.Jobs, 1, "%s", b)
	require.Contains(p.t, string(example.Alerts), fmt.Sprintf("job=%q", config.Jobs[0]["job_name"]), "%s", b)
	require.NotEmpty(p.t, config.Rules, "%s", b)
	for _, file := range config.Rules {
		require.True(p.t, anyCommand(later, func(commands string) bool { return strings.Contains(commands, "> "+file) }),
			"%s: no command writes %s", b, file)
	}
}

// check checks a boards file, or a part of one, as a user does.
func (p *docPage) check(b block) {
	path := filepath.Join(p.clone, b.file)
	if b.file == "" {
		path = filepath.Join(p.dir, fmt.Sprintf("boards-%d.yaml", b.line))
		require.NoError(p.t, os.WriteFile(path, []byte(b.text), 0o644))
	}
	if code, out := p.rankcast("check", path); code != 0 {
		p.fail(b, "rankcast check refuses this:\n%s", out)
	}
	shown, err := definition.ParseFile([]byte(b.text))
	require.NoError(p.t, err, "%s", b)
	file, err := definition.ParseFile(example.Boards)
	require.NoError(p.t, err)
	for _, board := range shown.Boards {
		for _, other := range file.Boards {
			if board.Name == other.Name {
				if board.Title == nil { // an example need not name it
					other.Title, other.Description = nil, nil
				}
				require.Equal(p.t, other, board, "%s: %s has another definition than in the boards file of the examples", b, board.Name)
			}
		}
	}
	for _, event := range shown.Events {
		for _, other := range file.Events {
			if event.Name == other.Name {
				require.Equal(p.t, other.Updates, event.Updates, "%s: %s has other updates than in the boards file of the examples", b, event.Name)
			}
		}
	}
}
