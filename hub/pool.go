package hub

import "sync"

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

// pool runs tasks on a limited number of goroutines, which exist only while there is work.
// Its methods may be called concurrently, and do not wait.
type pool struct {
	limit   int // of goroutines
	running *sync.WaitGroup

	mu      sync.Mutex
	queues  [urgent + 1][]func() // by urgency, oldest first
	workers int                  // how many goroutines there are
	normals int                  // how many of them run a normal task
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
	if p.workers < p.limit && (level == urgent || p.takesNormal()) {
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
	for level := idle; ; {
		var task func()
		if level, task = p.next(level); task == nil {
			return
		}
		task()
	}
}

// next takes the next task from its queue. Without one that may run it returns nil, and the
// goroutine ends. done is the urgency of the task that the goroutine has run; idle for none.
func (p *pool) next(done urgency) (level urgency, task func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done == normal {
		p.normals--
	}
	switch urgents := len(p.queues[urgent]) > 0; {
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
	q := p.queues[level]
	task, q[0] = q[0], nil
	if p.queues[level] = q[1:]; len(q) == 1 {
		p.queues[level] = q[:0]
	}
	return level, task
}

// takesNormal reports whether a normal task waits and may run. The caller holds mu.
func (p *pool) takesNormal() bool {
	return len(p.queues[normal]) > 0 && p.normals < max(1, p.limit/normalLimit)
}
