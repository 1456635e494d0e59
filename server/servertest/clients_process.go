package servertest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// StartClients starts this test binary as a process of clients, with a variable ("NAME=value") by which
// its TestMain knows, and waits for the first line of its output. So the clients take no CPU and no memory
// of the process that a benchmark measures. The process ends when its input ends: the caller may close it,
// and the end of the benchmark does.
func StartClients(b *testing.B, env string) (in io.WriteCloser, out *bufio.Scanner) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := cmd.StdinPipe()
	require.NoError(b, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() { stdin.Close(); cmd.Wait() })
	lines := bufio.NewScanner(stdout)
	require.True(b, lines.Scan())
	return stdin, lines
}
