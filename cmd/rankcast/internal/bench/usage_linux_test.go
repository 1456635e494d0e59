package bench

import (
	"os"
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
	require.Positive(t, m.total)
	require.Positive(t, m.busy)
	require.GreaterOrEqual(t, m.total, m.busy+m.steal)
}
