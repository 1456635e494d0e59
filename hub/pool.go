package hub

import (
	"sync"

	"rankcast/ranking/fair"
)

// urgency orders the tasks of a pool.
type urgency int

const (
	idle   urgency = iota // no task
	normal                // new subscriptions, answers, checks
	urgent                // changes that clients wait to see
)

const (
	// normalShare is how many urgent tasks run, at most, while a normal one waits.
	normalShare = 8
	// normalLimit is the share of a pool's goroutines that normal tasks take, at most: one in
	// four, but one at least. An urgent task finds a goroutine that is free.
	normalLimit = 4
)

// pool runs tasks on a limited number of goroutines, which exist only while there is work. Among
// tasks of one urgency callers take turns: one who watches thousands of boards does not delay the
// others. Its methods may be called concurrently, and do not wait.
type pool struct {
	limit   int // of goroutines
	running *sync.WaitGroup

	mu      sync.Mutex
	queues  [urgent + 1]fair.Queue[any, *task] // by urgency; by caller
	waiting [urgent + 1]int                    // tasks by urgency
	workers int                                // how many goroutines there are
	normals int                                // how many of them run a normal task
	inRow   int                                // urgent tasks since the last normal one
	closed  bool
}

// task stands in the lines of all callers who wait for it. The mu of the pool guards it.
type task struct{ run func() } // nil: it was taken in another line

// push queues a task that at least one caller waits for. It comes with the first turn of any of them. A closed
// pool drops it.
func (p *pool) push(level urgency, callers []any, run func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	t := &task{run: run}
	for _, c := range callers {
		p.queues[level].Push(c, t)
	}
	p.waiting[level]++
	if p.workers < p.limit && (level == urgent || p.takesNormal()) {
		p.workers++
		p.running.Go(p.work)
	}
}

// close drops the tasks that wait. Those under way go on.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.queues, p.waiting = true, [urgent + 1]fair.Queue[any, *task]{}, [urgent + 1]int{}
}

func (p *pool) work() {
	for level := idle; ; {
		var run func()
		if level, run = p.next(level); run == nil {
			return
		}
		run()
	}
}

// next takes the next task from its queue. Without one that may run it returns nil, and the
// goroutine ends. done is the urgency of the task that the goroutine has run; idle for none.
func (p *pool) next(done urgency) (level urgency, run func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done == normal {
		p.normals--
	}
	switch urgents := p.waiting[urgent] > 0; {
	case p.takesNormal() && (!urgents || p.inRow >= normalShare):
		level, p.inRow = normal, 0
		p.normals++
	case urgents:
		level = urgent
		p.inRow++
	default:
		p.workers--
		return idle, nil
	}
	p.waiting[level]--
	t, _ := p.queues[level].PopUnless(func(t *task) bool { return t.run == nil })
	run, t.run = t.run, nil
	return level, run
}

// takesNormal reports whether a normal task waits and may run. The caller holds mu.
func (p *pool) takesNormal() bool {
	return p.waiting[normal] > 0 && p.normals < max(1, p.limit/normalLimit)
}
