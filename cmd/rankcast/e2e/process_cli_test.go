package e2e

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/internal/example"
)

func TestExampleBoards(t *testing.T) {
	t.Parallel()
	got := run(t, "", "example", "boards")
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, string(example.Boards), got.stdout)
	require.Equal(t, 80, run(t, "", "example").code)
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("boards: {laps: {mode: most}}"), 0o600))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 0, "rankcast serve --redis"},
		{[]string{"--help"}, 0, "Examples:"},
		{[]string{"serve", "--help"}, 0, "--boards"},
		{[]string{"version"}, 0, "rankcast "},
		{[]string{"--version"}, 0, "rankcast "},
		{[]string{"serv"}, 80, "unexpected argument serv"},
		{[]string{"serve", "--boards", bad}, 1, "boards.laps.mode"},
		{[]string{"serve", "--boards", "/nowhere.yaml"}, 80, "nowhere"},
		{[]string{"serve", "--addr", "127.0.0.1:0", "--redis", "mongodb://x"}, 1, `scheme "mongodb"`},
		{[]string{"serve", "--addr", "nonsense"}, 1, "listen"},
		{[]string{"serve", "--interval", "-1s"}, 80, "--interval"},
		{[]string{"serve", "--max-top", "1001"}, 80, "--max-top"},
		{[]string{"serve", "--prefix", "a{b}"}, 80, "--prefix"},
		{[]string{"serve", "--origins", "https://example.com,example.org"}, 80, `--origins: "example.org": want http://`},
		{[]string{"serve", "--webhook", "receiver.example", "--webhook-secret", "x"}, 80, "--webhook: want http://"},
		{[]string{"serve", "--webhook", "https://receiver.example"}, 80, "RANKCAST_WEBHOOK_SECRET): is empty"},
		{[]string{"serve", "--webhook", "https://receiver.example", "--webhook-secret", "whsec_?"}, 80, "want base64"},
		{[]string{"serve", "--webhook-top", "101"}, 80, "--webhook-top"},
		{[]string{"serve", "--webhook-boards", "stars"}, 80, "needs --webhook"},
		{[]string{"serve", "--webhook", "https://receiver.example", "--webhook-secret", "x", "--webhook-boards", "stars,fans:s17"}, 80, `"fans:s17"`},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, binary, c.args...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = io.Writer(&out), &out
		cmd.Run()
		cancel()
		require.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%v: %s", c.args, out.String())
		require.Contains(t, out.String(), c.says, "%v", c.args)
	}
}
