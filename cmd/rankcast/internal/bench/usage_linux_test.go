package bench

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The CPU and the memory of a process are read from /proc.
func TestProcessUsage(t *testing.T) {
	t.Parallel()
	own := func() time.Duration {
		used, memory, known := processUsage(os.Getpid())
		require.True(t, known)
		require.Greater(t, memory, int64(1<<20))
		return used
	}
	const step = 10 * time.Millisecond // of the clock of /proc
	from := own()
	for own() < from+5*step { // use some
	}
	var of syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &of))
	require.InDelta(t, time.Duration(of.Utime.Nano()+of.Stime.Nano()), own(), float64(4*step))
	_, _, known := processUsage(1 << 30)
	require.False(t, known)
	m := machineCPU()
	require.Positive(t, busy(m))
	require.Positive(t, m.Idle)
}

// The memory of sockets is a figure of a node that is there before and after. A node that has ended is an error.
func TestMemoryOfANodeThatHasEnded(t *testing.T) {
	t.Parallel()
	atOnce, cancel := context.WithCancel(t.Context())
	cancel()
	node, err := startChild(filepath.Join(t.TempDir(), "log"), "sleep", "60")
	require.NoError(t, err)
	defer node.end()
	f, at := newFigures(), &target{name: "this", own: &ownServer{node: node}}
	measure := at.measureMemory(atOnce, f)
	require.NoError(t, measure(1))
	require.Contains(t, f.Values, socketMemory.name)
	node.end()
	delete(f.Values, socketMemory.name)
	require.ErrorContains(t, measure(1), "this: the memory of the node cannot be read any more")
	require.NoError(t, (&target{}).measureMemory(atOnce, f)(1), "a server at a URL")
	require.Empty(t, f.Values)
}
