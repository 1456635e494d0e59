package hub

import (
	"slices"
	"sync/atomic"
)

// A caller is the address of clients, or a client without one. Callers take turns at the work of the hub,
// and the tasks of a board wait in the lines of several of those who watch it: of the first two, and of the
// latest two. So a caller with a long line cannot delay a board of others by watching it.
const (
	firstCallers = 2
	boardCallers = 4
)

// callers are those who watch a board. The mu of the hub guards all but lines.
type callers struct {
	watches map[any]int           // by caller, all of them
	total   int                   // of watches
	lines   atomic.Pointer[[]any] // boardCallers of them at most, in their order; those of the last watch stay
}

// init makes the callers of a new board. first is about to watch it.
func (c *callers) init(first any) {
	c.watches = make(map[any]int)
	c.lines.Store(&[]any{first})
}

// inLines returns the callers in whose lines the board waits. It may be called concurrently.
func (c *callers) inLines() []any { return *c.lines.Load() }

// first is the caller for whom the board counts. It may be called concurrently.
func (c *callers) first() any { return c.inLines()[0] }

// add counts a watch of a caller.
func (c *callers) add(caller any) {
	c.watches[caller]++
	c.total++
	lines := c.inLines()
	if c.watches[caller] > 1 || slices.Contains(lines, caller) {
		return
	}
	lines = slices.Clone(lines)
	if len(lines) == boardCallers {
		lines = slices.Delete(lines, firstCallers, firstCallers+1)
	}
	lines = append(lines, caller)
	c.lines.Store(&lines)
}

// remove ends a watch of a caller. It reports whether anybody still watches the board.
func (c *callers) remove(caller any) (left bool) {
	c.total--
	if c.watches[caller]--; c.watches[caller] > 0 {
		return true
	}
	if delete(c.watches, caller); len(c.watches) == 0 {
		return false
	}
	lines := slices.DeleteFunc(slices.Clone(c.inLines()), func(other any) bool { return other == caller })
	for other := range c.watches {
		if len(lines) > 0 {
			break
		}
		lines = append(lines, other)
	}
	c.lines.Store(&lines)
	return true
}
