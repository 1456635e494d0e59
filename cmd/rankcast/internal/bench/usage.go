package bench

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// reading is what processes have used until one moment.
type reading struct {
	at               time.Time
	node, redis, own time.Duration // CPU time
	known            bool          // node and redis
	machine          machineTimes
}

// machineTimes are CPU times of the whole machine since it started. All are 0 where the system does not tell.
type machineTimes struct {
	total, busy, steal time.Duration
}

// read reads what the processes of a target have used.
func (t *target) read() reading {
	r := reading{at: time.Now(), own: ownCPU(), machine: machineCPU()}
	if t.own != nil {
		node, nodeKnown := processCPU(t.own.node.pid())
		redis, redisKnown := processCPU(t.own.redis.pid())
		r.node, r.redis, r.known = node, redis, nodeKnown && redisKnown
	}
	return r
}

// addUsage adds what was used between two readings, for each of so many units.
func (f *figures) addUsage(from, to reading, units int64) {
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(max(units, 1)) }
	span := to.at.Sub(from.at)
	own := to.own - from.own
	if units > 0 {
		if from.known && to.known {
			if to.node > from.node {
				f.set(nodeCPU, per(to.node-from.node))
			}
			f.set(redisCPU, per(to.redis-from.redis))
		}
		if own > 0 {
			f.set(generatorCPU, per(own))
		}
	}
	if own > 0 && span > 0 {
		f.set(generatorShare, percent(own, span*time.Duration(runtime.NumCPU())))
	}
	if total := to.machine.total - from.machine.total; total > 0 {
		f.set(stealShare, percent(to.machine.steal-from.machine.steal, total))
		idle := total - (to.machine.busy - from.machine.busy)
		f.set(idleShare, percent(idle, total))
		if from.known && to.known {
			others := to.machine.busy - from.machine.busy - own - (to.node - from.node) - (to.redis - from.redis)
			f.set(othersShare, percent(max(others, 0), total))
		}
	}
}

func percent(part, whole time.Duration) float64 { return 100 * float64(part) / float64(whole) }

// lateness measures how late the scheduler of the machine and of this program runs a goroutine that is due.
type lateness struct {
	stop context.CancelFunc
	done sync.WaitGroup
	all  *tally
}

// latenessStep is the time between two measurements of the lateness.
const latenessStep = 5 * time.Millisecond

func startLateness(ctx context.Context) *lateness {
	l := &lateness{all: newTally()}
	ctx, l.stop = context.WithCancel(ctx)
	l.done.Go(func() {
		for ctx.Err() == nil {
			due := time.Now().Add(latenessStep)
			wait(ctx, latenessStep)
			l.all.count(outcome{}, nil, time.Since(due))
		}
	})
	return l
}

// end adds the lateness since the start to figures.
func (l *lateness) end(f *figures) {
	l.stop()
	l.done.Wait()
	f.set(lateP99, float64(l.all.latencies.ValueAtQuantile(99))/1e3)
	f.set(lateMax, float64(l.all.latencies.Max())/1e3)
}
