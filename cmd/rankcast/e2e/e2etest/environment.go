package e2etest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
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

// CleanEnvironment is the environment of a new user whose home is empty. It keeps PATH and the
// settings of Go, and nothing of make and rankcast.
func CleanEnvironment(home string) ([]string, error) {
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
