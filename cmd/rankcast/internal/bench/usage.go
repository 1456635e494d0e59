package bench

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/procfs"

	"rankcast/ranking/fair"
)

// reading is what processes have used until one moment. Where the system has no /proc, all but the time is 0.
type reading struct {
	at               time.Time
	node, redis, own time.Duration  // CPU time
	known            bool           // node and redis
	machine          procfs.CPUStat // of the whole machine since it started, in seconds
}

// read reads what the processes of a target have used.
func (t *target) read() reading {
	r := reading{at: time.Now(), machine: machineCPU()}
	r.own, _, _ = processUsage(os.Getpid())
	if t.own != nil {
		var nodeKnown, redisKnown bool
		r.node, _, nodeKnown = processUsage(t.own.node.pid())
		r.redis, _, redisKnown = processUsage(t.own.redis.pid())
		r.known = nodeKnown && redisKnown
	}
	return r
}

// processUsage is the CPU time that a process has used, all its threads together, and its resident memory in bytes.
func processUsage(pid int) (cpu time.Duration, memory int64, known bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0, false
	}
	stat, err := p.Stat()
	return seconds(stat.CPUTime()), int64(stat.ResidentMemory()), err == nil
}

func machineCPU() procfs.CPUStat {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return procfs.CPUStat{}
	}
	stat, _ := proc.Stat() // the zero value with an error
	return stat.CPUTotal
}

// busy is the time in which processors of this machine worked. User has the guests already.
func busy(c procfs.CPUStat) float64 { return c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ }

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// addUsage adds what was used between two readings, for each of so many units.
func (f *figures) addUsage(from, to reading, units int64) {
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(max(units, 1)) }
	span := to.at.Sub(from.at)
	own := to.own - from.own
	if units > 0 && from.known && to.known {
		f.set(nodeCPU, per(to.node-from.node))
		f.set(redisCPU, per(to.redis-from.redis))
	}
	if to.own > 0 {
		f.set(generatorCPU, per(own))
		f.set(generatorShare, percent(own, span*time.Duration(runtime.NumCPU())))
	}
	worked, steal := seconds(busy(to.machine)-busy(from.machine)), seconds(to.machine.Steal-from.machine.Steal)
	idle := steal + seconds(to.machine.Idle-from.machine.Idle+to.machine.Iowait-from.machine.Iowait)
	if total := worked + idle; total > 0 {
		f.set(stealShare, percent(steal, total))
		f.set(idleShare, percent(idle, total))
		if from.known && to.known {
			f.set(othersShare, percent(max(worked-own-(to.node-from.node)-(to.redis-from.redis), 0), total))
		}
	}
}

func percent(part, whole time.Duration) float64 { return 100 * float64(part) / float64(whole) }

// latenessStep is the time between two measurements of the lateness.
const latenessStep = 5 * time.Millisecond

// measureLateness measures how late the scheduler of the machine and of this program runs a goroutine that is due. end ends
// that, and adds the lateness to figures.
func measureLateness(ctx context.Context) (end func(*figures)) {
	ctx, stop := context.WithCancel(ctx)
	all := newTally()
	var measuring sync.WaitGroup
	measuring.Go(func() {
		for due := time.Now().Add(latenessStep); fair.Pause(ctx, latenessStep) == nil; due = time.Now().Add(latenessStep) {
			all.count(outcome{}, nil, time.Since(due))
		}
	})
	return func(f *figures) {
		stop()
		measuring.Wait()
		f.addLateness(lateP99, lateMax, all)
	}
}
