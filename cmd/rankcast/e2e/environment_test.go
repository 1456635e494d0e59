package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// goSettings are the settings of Go, which it would look for in the home folder: where its
// caches are, and where modules come from.
var goSettings = sync.OnceValues(func() ([]string, error) {
	out, err := exec.Command("go", "env", "-json", "GOPATH", "GOMODCACHE", "GOCACHE", "GOFLAGS", "GOPROXY", "GOSUMDB", "GONOSUMDB",
		"GOPRIVATE", "GOTOOLCHAIN").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var settings map[string]string
	if err := json.Unmarshal(out, &settings); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var env []string
	for name, value := range settings {
		env = append(env, name+"="+value)
	}
	return env, nil
})

// cleanEnvironment is the environment of a new user whose home is empty. It keeps PATH and the
// settings of Go, and nothing of make and rankcast.
func cleanEnvironment(home string) ([]string, error) {
	env, err := goSettings()
	if err != nil {
		return nil, err
	}
	env = append([]string{"HOME=" + home, "TZ=UTC", "LC_ALL=C.UTF-8"}, env...)
	for _, variable := range os.Environ() {
		switch name, _, _ := strings.Cut(variable, "="); {
		case strings.HasPrefix(name, "RANKCAST_"), strings.HasPrefix(name, "MAKE"), strings.HasPrefix(name, "GO"),
			strings.HasPrefix(name, "XDG_"),
			strings.HasPrefix(name, "LC_"), name == "MFLAGS", name == "VERSION", name == "HOME", name == "TZ":
		default:
			env = append(env, variable)
		}
	}
	return env, nil
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
