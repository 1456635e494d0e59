package hub

import (
	"sync"

	"rankcast/ranking/fairqueue"
)

// lines runs tasks one at a time. The tasks of an address are a line: one task of each line runs
// after the other. So a client that asks for much delays a client from elsewhere by no more than a
// task. The methods may be called concurrently, and do not wait.
type lines struct {
	running *sync.WaitGroup

	mu     sync.Mutex
	tasks  fairqueue.Queue[any, func()]
	busy   bool // a goroutine runs tasks
	closed bool
}

// push queues a task. A closed lines drops it.
func (l *lines) push(address any, task func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.tasks.Push(address, task)
	if !l.busy {
		l.busy = true
		l.running.Go(l.work)
	}
}

// close drops the tasks that wait. The one under way goes on.
func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.tasks = true, fairqueue.Queue[any, func()]{}
}

func (l *lines) work() {
	for task := l.next(); task != nil; task = l.next() {
		task()
	}
}

// next takes the next task. Without one it returns nil, and the goroutine ends.
func (l *lines) next() func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	task, ok := l.tasks.Pop()
	if !ok {
		l.busy = false
		return nil
	}
	return task
}
