package hub

import "sync"

// urgency orders the tasks of a pool.
type urgency int

const (
	idle   urgency = iota // no task
	normal                // new subscriptions, answers, checks
	urgent                // changes that clients wait to see
)

// normalShare is how many urgent tasks run, at most, while a normal one waits.
const normalShare = 8

// pool runs tasks on a limited number of goroutines, which exist only while there is work.
// Its methods may be called concurrently, and do not wait.
type pool struct {
	limit   int // of goroutines
	running *sync.WaitGroup

	mu      sync.Mutex
	queues  [urgent + 1][]func() // by urgency, oldest first
	workers int                  // how many goroutines there are
	inRow   int                  // urgent tasks since the last normal one
	closed  bool
}

// push queues a task. A closed pool drops it.
func (p *pool) push(level urgency, task func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.queues[level] = append(p.queues[level], task)
	if p.workers < p.limit {
		p.workers++
		p.running.Go(p.work)
	}
}

// close drops the tasks that wait. Those under way go on.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.queues = true, [urgent + 1][]func(){}
}

func (p *pool) work() {
	for task := p.next(); task != nil; task = p.next() {
		task()
	}
}

// next takes the next task from its queue. Without one it returns nil, and the goroutine
// ends.
func (p *pool) next() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	level := urgent
	if len(p.queues[urgent]) == 0 || p.inRow >= normalShare && len(p.queues[normal]) > 0 {
		level, p.inRow = normal, 0
	} else {
		p.inRow++
	}
	q := p.queues[level]
	if len(q) == 0 {
		p.workers--
		return nil
	}
	task := q[0]
	q[0] = nil
	if p.queues[level] = q[1:]; len(q) == 1 {
		p.queues[level] = q[:0]
	}
	return task
}
