//go:build !race

package docs

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// clone copies the sources into dir, as a clone of the repository has them.
func clone(dir string) error {
	return filepath.WalkDir(e2etest.ModuleRoot, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(e2etest.ModuleRoot, path)
		if err != nil {
			return err
		}
		target := filepath.Join(dir, relative)
		if entry.IsDir() {
			switch relative {
			case ".git", "bin", "dist", "node_modules":
				return filepath.SkipDir
			}
			return os.MkdirAll(target, 0o755)
		}
		if !entry.Type().IsRegular() { // .git of a worktree is a file, and needs no copy either
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
}

// The examples use ports of a range that neither Linux nor the other tests give out. So no other
// program takes a port before the example uses it.
const firstPort, lastPort = 61_000, 64_999

var (
	nextPort     = firstPort + rand.IntN((lastPort-firstPort)/2)
	nextPortLock sync.Mutex
)

// freePorts finds n free ports in a row, and gives each out once.
func freePorts(t *testing.T, n int) int {
	nextPortLock.Lock()
	defer nextPortLock.Unlock()
	for first, port := nextPort, nextPort; port <= lastPort; port++ {
		listener, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err != nil {
			first = port + 1
			continue
		}
		listener.Close()
		if port-first+1 == n {
			nextPort = port + 1
			return first
		}
	}
	t.Fatalf("no %d free ports in a row up to %d", n, lastPort)
	return 0
}

// The ports that the examples name.
const serverPort, secondPort, sitePort, redisPort = "8080", "8081", "8000", "6379"

// clusterPorts are those of the masters of a cluster.
var clusterPorts = []string{"7001", "7002", "7003"}

// ports maps the ports that the examples name to those that one page uses.
type ports map[string]string

// newPorts finds ports for a page. The second server's port follows that of the first, as it does
// in the examples.
func newPorts(t *testing.T) ports {
	first := freePorts(t, 4)
	p := make(ports)
	for i, port := range []string{serverPort, secondPort, sitePort, redisPort} {
		p[port] = fmt.Sprint(first + i)
	}
	var taken []int
	for _, port := range clusterPorts { // a master takes a second port too
		free := redistest.FreePort(t)
		for slices.Contains(taken, free) {
			free = redistest.FreePort(t)
		}
		taken = append(taken, free)
		p[port] = fmt.Sprint(free)
	}
	return p
}

func (p ports) addr(port string) string { return "127.0.0.1:" + p[port] }

// portInText finds ports after a host, that of Python's server, and that of a Redis.
var portInText = regexp.MustCompile(`((?:127\.0\.0\.1|localhost):|http\.server +|--port +)(8080|8081|8000|6379|700[123])\b`)

// in writes the ports of the page for those that a text names.
func (p ports) in(text string) string {
	return portInText.ReplaceAllStringFunc(text, func(found string) string {
		at := len(found) - len(serverPort)
		return found[:at] + p[found[at:]]
	})
}

func TestDocsPorts(t *testing.T) {
	t.Parallel()
	p := ports{"8080": "61000", "8081": "61001", "8000": "61002", "6379": "61003", "7002": "11005"}
	for text, want := range map[string]string{
		"curl http://127.0.0.1:8080/v1":        "curl http://127.0.0.1:61000/v1",
		"http://localhost:8081/":               "http://localhost:61001/",
		"python3 -m http.server 8000":          "python3 -m http.server 61002",
		"redis://127.0.0.1:6379":               "redis://127.0.0.1:61003",
		"redis-server --port 7002 --dir 7002":  "redis-server --port 11005 --dir 7002",
		`{"score":8000,"member":"8080"}`:       `{"score":8000,"member":"8080"}`,
		"http://127.0.0.1:80801/ example:8080": "http://127.0.0.1:80801/ example:8080",
	} {
		require.Equal(t, want, p.in(text))
	}
	require.NotEqual(t, freePorts(t, 2), freePorts(t, 2))
}

// needsSources finds the commands that need more of the clone than bin/rankcast.
var needsSources = regexp.MustCompile(`\b(?:make|go|docker)\b`)

// cloneFor makes the clone of a page, with a binary in it: dir/rankcast. It has the sources if a block
// needs them.
func cloneFor(t *testing.T, dir string, blocks []block) string {
	repository := filepath.Join(dir, "rankcast")
	if anyCommand(blocks, needsSources.MatchString) {
		require.NoError(t, clone(repository))
	} else {
		require.NoError(t, os.Mkdir(repository, 0o755))
	}
	require.NoError(t, os.Mkdir(filepath.Join(repository, "bin"), 0o755))
	// A link, because Linux does not run a file that a process has open for writing: a command that another
	// test starts during a copy would inherit that (golang.org/issue/22315).
	require.NoError(t, os.Link(e2etest.Binary, filepath.Join(repository, "bin", "rankcast")))
	return repository
}

// anyCommand reports whether the commands of a block are as is says.
func anyCommand(blocks []block, is func(commands string) bool) bool {
	return slices.ContainsFunc(blocks, func(b block) bool { return b.lang == "sh" && is(b.text) })
}
