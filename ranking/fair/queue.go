package fair

// Queue holds values by key. Pop takes one value of each key in turn, and the values of a key in their
// order. So a value waits for one value of each other key at most, beside those of its own key. Push and Pop
// take constant time. The zero Queue is empty and ready to use. One goroutine at a time may use it.
type Queue[K comparable, V any] struct {
	lines map[K][]V
	turns []K // the keys of lines, in the order of their turns
}

// Push adds a value at the end of its key's line.
func (q *Queue[K, V]) Push(key K, v V) {
	if q.lines == nil {
		q.lines = make(map[K][]V)
	}
	line, waits := q.lines[key]
	if !waits {
		q.turns = append(q.turns, key)
	}
	q.lines[key] = append(line, v)
}

// Pop removes the next value. It reports false if there is none.
func (q *Queue[K, V]) Pop() (v V, ok bool) {
	return q.PopUnless(func(V) bool { return false })
}

// PopUnless removes values until one is not gone, and returns that one. Those that are gone cost their key no
// turn. It takes constant time for each value that it removes.
func (q *Queue[K, V]) PopUnless(gone func(V) bool) (v V, ok bool) {
	var none V
	for len(q.turns) > 0 && !ok {
		key := q.turns[0]
		q.turns = q.turns[1:]
		line := q.lines[key]
		for len(line) > 0 && !ok {
			v, line[0] = line[0], none
			line = line[1:]
			ok = !gone(v)
		}
		if len(line) == 0 {
			delete(q.lines, key)
		} else {
			q.lines[key] = line
			q.turns = append(q.turns, key)
		}
	}
	if !ok {
		v = none
	}
	return v, ok
}
