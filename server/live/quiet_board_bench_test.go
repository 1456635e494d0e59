package live_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// countingConn counts the frames that it takes.
type countingConn struct{ n *atomic.Int64 }

func (c countingConn) Free() bool { return true }

func (c countingConn) Send(*hub.Frame, time.Time) bool {
	c.n.Add(1)
	return true
}

// BenchmarkQuietBoard measures the memory of a watched board that is quiet: heap and stacks after a
// collection, with its subscription and what the feed holds. "empty" boards were never written to;
// "top10" boards have 100 members, of whom ten are shown.
func BenchmarkQuietBoard(b *testing.B) {
	for _, kind := range []string{"empty", "top10"} {
		b.Run(kind, func(b *testing.B) {
			const boards = 10_000
			var perBoard []int64
			for b.Loop() {
				perBoard = append(perBoard, quietBoards(b, kind, boards)/boards)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(perBoard), "bytes/board")
		})
	}
}

func quietBoards(b *testing.B, kind string, boards int) (used int64) {
	r := redistest.Start(b, redistest.InMemory...)
	n := servertest.Start(b, r.URL(), servertest.Config{}, definition.Board{Name: "fam:{f}"})
	ctx := context.Background()
	if kind != "empty" {
		var updates []definition.Update
		for i := range 100 {
			updates = append(updates, definition.Update{Member: fmt.Sprint("member-", i), Score: int64(i)})
		}
		for i := range boards {
			_, err := n.Store.Apply(ctx, fmt.Sprint("fam:", i), updates)
			require.NoError(b, err)
		}
	}
	named := make([]ranking.Board, boards)
	for i := range named {
		var err error
		named[i], err = n.Store.Board(ctx, fmt.Sprint("fam:", i))
		require.NoError(b, err)
	}
	before := memoryInUse()
	var frames atomic.Int64
	for i := range boards / 100 {
		c := n.Hub.Join(countingConn{&frames}, nil)
		for _, board := range named[i*100 : (i+1)*100] {
			_, err := n.Hub.Subscribe(c, board, hub.Watch{Top: 10}, nil, func() {})
			require.NoError(b, err)
		}
	}
	redistest.Eventually(b, "all boards to be read", func() error {
		if got := frames.Load(); got < int64(boards) {
			return fmt.Errorf("%d frames", got)
		}
		return nil
	})
	used = memoryInUse() - before
	runtime.KeepAlive(named)
	n.Stop()
	return used
}

// memoryInUse is the heap and the stacks after a collection.
func memoryInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
