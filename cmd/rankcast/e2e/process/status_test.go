package process

import (
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// status shows all nodes and processes of rankcast ingest, by the answer of any node. Its exit code says whether all is well.
// One that stops is gone.
func TestStatus(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p, other := e2etest.Launch(t, "--redis", r.URL()), e2etest.Launch(t, "--redis", r.URL())
	p.Ready()
	other.Ready()
	queue := e2etest.StartProcess(t, exec.Command(e2etest.Binary, "ingest", "--redis", r.URL(), "--admin-addr", "127.0.0.1:0"),
		regexp.MustCompile(`msg=ingesting .*admin=(\S+)`))
	status := func() e2etest.Ran { return e2etest.Run(t, "", "status", "--server", "http://"+p.Addr) }
	var got e2etest.Ran
	until := func(processes int, ingests bool) {
		t.Helper()
		redistest.Eventually(t, "the processes", func() error {
			got = status()
			nodes, _, _ := strings.Cut(got.Stdout, "\nREDIS")
			if strings.Count(nodes, "/") != processes+1 || strings.Contains(nodes, " ingest ") != ingests { // one in UPDATES/S
				return errors.New(got.Stdout + got.Stderr)
			}
			return nil
		})
	}
	until(3, true)
	got.Is(t, 0, got.Stdout, "")
	require.Regexp(t, `^All is well\.\n\nNODE +VERSION +CLIENTS `, got.Stdout)
	require.Regexp(t, `\nREDIS +VERSION .*\n\S+ +(Redis|Valkey) `, got.Stdout)
	other.Terminate()
	other.Ended()
	queue.Terminate()
	queue.Ended()
	until(1, false)

	require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	redistest.Eventually(t, "the problem", func() error {
		got = status()
		return redistest.Differs(1, got.Code)
	})
	require.Regexp(t, `^Not all is well: 1 problem\.\n\n\S+: Redis deletes boards when its memory is full: maxmemory-policy is allkeys-lru`+
		`\n  redis-cli `, got.Stdout)
	require.Equal(t, "rankcast: not all is well: 1 problem\n", got.Stderr)
	e2etest.Run(t, "", "status", "--server", "http://127.0.0.1:1").Fails(t, 1, "http://127.0.0.1:1 does not answer: connection refused")
}
