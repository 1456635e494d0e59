//go:build contract && !race

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// Linters that others maintain find nothing wrong with the contract. Clients whose types generators have made of it
// compile; they write, read and watch a board, and get errors as the contract says. `make check-contract` brings the tools.
func TestClientsFromTheContract(t *testing.T) {
	t.Parallel()
	tools, err := filepath.Abs(os.Getenv("CONTRACT_TOOLS"))
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(tools, "package.json"), "CONTRACT_TOOLS is a copy of testdata/contract with its packages")
	contract, err := filepath.Abs("../../../../web/contract")
	require.NoError(t, err)
	run := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = tools
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s %v\n%s", program, args, output)
		return string(output)
	}
	overHTTP, live := filepath.Join(contract, "openapi.yaml"), filepath.Join(contract, "asyncapi.yaml")
	run("npx", "redocly", "lint", "--config", "redocly.yaml", overHTTP, live)
	run("node", "models.mjs", live, "messages", "messages")

	p := e2etest.Launch(t)
	p.Ready()
	t.Run("TypeScript", func(t *testing.T) {
		run("npx", "openapi-typescript", overHTTP, "-o", "openapi.ts")
		run("npx", "tsc", "--strict", "--noUncheckedIndexedAccess", "--target", "es2023", "--module", "esnext", "--moduleResolution",
			"bundler", "--skipLibCheck", "client.ts")
		require.Equal(t, strings.ReplaceAll(clientOutput, "BOARD", "typescript"), run("node", "client.js", "http://"+p.Addr))
	})
	t.Run("Go", func(t *testing.T) {
		require.NoError(t, os.Rename(filepath.Join(tools, "go.mod.txt"), filepath.Join(tools, "go.mod")))
		require.NoError(t, os.MkdirAll(filepath.Join(tools, "rankcast"), 0o755))
		run("go", "run", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2", "-generate", "types,client", "-package",
			"rankcast", "-o", "rankcast/rankcast.go", overHTTP)
		run("go", "mod", "tidy")
		require.Equal(t, strings.ReplaceAll(clientOutput, "BOARD", "go")+"streamed mia 50\n", run("go", "run", ".", "http://"+p.Addr))
	})
}

// clientOutput is what a client prints.
const clientOutput = `defined BOARD
wrote ana 40
wrote eli 30
read 1 ana 40
refused unknown_board
watched mia 50, ana 40
`
