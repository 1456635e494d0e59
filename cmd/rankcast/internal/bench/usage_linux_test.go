package bench

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The CPU and the memory of a process are read from /proc.
func TestProcessUsage(t *testing.T) {
	t.Parallel()
	for from := ownCPU(); ownCPU() < from+5*clockTick; { // use some
	}
	used, known := processCPU(os.Getpid())
	require.True(t, known)
	require.GreaterOrEqual(t, used, 3*clockTick)
	require.LessOrEqual(t, used, ownCPU()+2*clockTick)
	memory, known := processMemory(os.Getpid())
	require.True(t, known)
	require.Greater(t, memory, int64(1<<20))
	_, known = processCPU(1 << 30)
	require.False(t, known)
	_, known = processMemory(1 << 30)
	require.False(t, known)
	m := machineCPU()
	require.Positive(t, m.total)
	require.Positive(t, m.busy)
	require.GreaterOrEqual(t, m.total, m.busy+m.steal)
}
