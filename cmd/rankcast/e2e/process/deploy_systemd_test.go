//go:build !race

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-systemd/v22/unit"
	"github.com/mattn/go-shellwords"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// maxExposure is the exposure that systemd-analyze security accepts, in tenths of ten.
const maxExposure = 15

// service is the section Service of a unit: the values of each option, in order.
type service map[string][]string

func readService(t *testing.T, path string) service {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	options, err := unit.DeserializeOptions(file)
	require.NoError(t, err)
	s := make(service)
	for _, o := range options {
		if o.Section == "Service" {
			s[o.Name] = append(s[o.Name], o.Value)
		}
	}
	return s
}

// systemdExample reads the units, after systemd has found nothing wrong with them.
func systemdExample(t *testing.T) deployment {
	dir := t.TempDir()
	written := e2etest.Run(t, "", "example", "systemd", dir)
	require.Zero(t, written.Code, written.Stderr)
	nodeUnit, redisUnit := filepath.Join(dir, "rankcast@.service"), filepath.Join(dir, "rankcast-redis.service")
	require.Equal(t, redisUnit+"\n"+nodeUnit+"\n", written.Stdout)
	require.Equal(t, 1, e2etest.Run(t, "", "example", "systemd", dir).Code, "it replaces no file")
	node, redis := readService(t, nodeUnit), readService(t, redisUnit)

	// systemd also checks that the programs exist, and this machine may have them elsewhere.
	redisServer, err := exec.LookPath("redis-server")
	require.NoError(t, err)
	here := strings.NewReplacer("/usr/local/bin/rankcast", e2etest.Binary, "/usr/bin/redis-server", redisServer)
	for _, path := range []string{nodeUnit, redisUnit} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(here.Replace(string(text))), 0o600))
	}
	for _, args := range [][]string{
		{"verify", "--man=no", "--recursive-errors=no", nodeUnit, redisUnit},
		{"security", "--offline=true", fmt.Sprint("--threshold=", maxExposure), nodeUnit},
		{"security", "--offline=true", fmt.Sprint("--threshold=", maxExposure), redisUnit},
	} {
		out, err := exec.Command("systemd-analyze", args...).CombinedOutput()
		require.NoError(t, err, "systemd-analyze %v:\n%s", args, out)
		if args[0] == "verify" {
			require.Empty(t, string(out))
		}
	}

	command, err := shellwords.Parse(node["ExecStart"][0])
	require.NoError(t, err)
	require.Equal(t, []string{"/usr/local/bin/rankcast", "serve", "--addr", "127.0.0.1:%i"}, command)
	redisCommand, err := shellwords.Parse(redis["ExecStart"][0])
	require.NoError(t, err)
	grace, err := time.ParseDuration(node["TimeoutStopSec"][0] + "s")
	require.NoError(t, err)
	d := deployment{redis: redisCommand, data: "/var/lib/" + redis["StateDirectory"][0], node: replaced(command, "%i", "0"),
		etc: "/etc/rankcast", grace: grace}
	require.Equal(t, []string{"access.yaml:" + d.etc + "/access.yaml", "token.secret:" + d.etc + "/token.secret"}, node["LoadCredential"])
	for _, variable := range node["Environment"] {
		d.env = append(d.env, strings.ReplaceAll(variable, "%d", d.etc))
	}
	return d
}
