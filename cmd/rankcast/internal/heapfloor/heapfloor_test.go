package heapfloor

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPercentFor(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		live, roots uint64
		want        int
	}{
		{live: 8 * mib, want: 700},                   // 8 + 8·7 = 64
		{live: 6 * mib, roots: 2 * mib, want: 725},   // 6 + 8·7.25 = 64
		{live: 31 * mib, want: 106},                  // just below half of the floor
		{live: 32 * mib, want: 100},                  // as by default from here on
		{live: 20 * mib, roots: 40 * mib, want: 100}, // many stacks: the default is past the floor
		{live: 64 * mib, want: 100},
		{live: 1000 * mib, want: 100},
		{live: 1 * mib, want: 1600}, // 4·16 = 64: no heap is collected before that
		{want: 1600},                // before the first collection
	} {
		assert.Equal(t, test.want, percentFor(64*mib, test.live, test.roots), "live %d, roots %d", test.live, test.roots)
	}
}

// kept stays live for the process of TestSet.
var kept []byte

// TestMain runs the process of TestSet when it is asked for: it prints GOGC with a small heap, with
// one as large as the floor, and with a small one again.
func TestMain(m *testing.M) {
	if os.Getenv("HEAPFLOOR_CHILD") == "" {
		os.Exit(m.Run())
	}
	const floor = 16 << 20
	Set(floor)
	small := settled()
	kept = make([]byte, floor)
	large := settled()
	kept = nil
	fmt.Println(small, large, settled())
}

// settled returns GOGC when ten collections in a row have not changed it: its adjustment follows a
// collection a moment later.
func settled() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	var percent uint64
	for same := 0; same < 10; same++ {
		runtime.GC()
		metrics.Read(sample)
		if now := sample[0].Value.Uint64(); now != percent {
			percent, same = now, 0
		}
	}
	return percent
}

func TestSet(t *testing.T) {
	for _, test := range []struct {
		name, environment string
		want              string
	}{
		{name: "by default", want: "400 100 400\n"},
		{name: "GOGC of the operator", environment: "GOGC=200", want: "200 200 200\n"},
		{name: "GOMEMLIMIT of the operator", environment: "GOMEMLIMIT=1GiB", want: "100 100 100\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), "HEAPFLOOR_CHILD=1", "GOGC=", "GOMEMLIMIT=", test.environment)
			out, err := child.CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Equal(t, test.want, string(out))
		})
	}
}
