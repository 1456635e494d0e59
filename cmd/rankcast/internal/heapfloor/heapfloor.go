// Package heapfloor spares a process with a small heap most of its garbage collections.
//
// By default the Go runtime collects when the heap has doubled, so a node that holds 8 MiB and
// allocates 400 MiB a second collects fifty times a second. With a floor it collects when the heap
// reaches the floor, or has doubled, whichever is later: a heap of half the floor and more is
// collected as before. A collection costs about as much as before.
package heapfloor

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Node is the floor of a node, in bytes. Twice as much raised neither rates nor CPU by more than a
// thirtieth, and took 18 MB more with 5,000 sockets.
const Node = 32 << 20

const (
	doubling = 100     // GOGC by default, in percent: a heap is collected when it has doubled
	smallest = 4 << 20 // the runtime collects no heap before it has smallest·GOGC/100 bytes
)

// Set keeps the floor for the rest of the process, in bytes. It leaves a process alone whose
// environment sets GOGC or GOMEMLIMIT: its operator has decided. Set may be called once.
func Set(floor uint64) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	keeper := keeper{floor: floor, percent: doubling}
	keeper.adjust()
	keeper.watch()
}

// keeper adjusts the percentage after each collection. Only one of its methods runs at a time.
type keeper struct {
	floor   uint64 // in bytes
	percent int    // that is in force
}

// sentinel is never reachable, so each collection frees it and the runtime calls its cleanup. It
// holds a pointer because the runtime puts small objects without pointers into one block, which is
// freed only when none of them is reachable.
type sentinel struct{ _ *sentinel }

// watch adjusts the percentage after the next collection, and so on.
func (k *keeper) watch() {
	runtime.AddCleanup(new(sentinel), func(k *keeper) {
		k.adjust()
		k.watch()
	}, k)
}

// adjust sets the percentage that the heap of the last collection needs. A change of less than a
// tenth is not worth the moment for which the runtime stops all goroutines.
func (k *keeper) adjust() {
	live, roots := heap()
	percent := percentFor(k.floor, live, roots)
	change := max(percent-k.percent, k.percent-percent)
	if change*10 >= k.percent || percent == doubling && change > 0 {
		debug.SetGCPercent(percent)
		k.percent = percent
	}
}

// percentFor returns the GOGC by which the next collection begins when the heap reaches floor. live
// is what the last collection left, and roots the stacks and globals that it scanned, in bytes: the
// runtime aims at live + (live + roots)·GOGC/100 (go.dev/doc/gc-guide, "GOGC").
func percentFor(floor, live, roots uint64) int {
	if live >= floor {
		return doubling
	}
	percent := int((floor - live) * 100 / max(live+roots, 1))
	return max(doubling, min(percent, int(floor*100/smallest)))
}

// heap returns what the last collection left and what it scanned besides, in bytes.
func heap() (live, roots uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64() + samples[2].Value.Uint64()
}
