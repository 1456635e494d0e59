// Package readable encodes lists. Each caller gets the items that it may read.
package readable

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"rankcast/server/access"
)

// List is a list of an answer, encoded by item, so that an answer may leave items out. The zero value is an empty one. After
// Close, it may be used concurrently.
type List struct {
	items []item
	whole []byte // all items, as a JSON list
}

// item is an encoded item about a resource.
type item struct {
	resource access.Resource
	json     []byte
	also     []access.Resource // that json tells of too
	bare     []byte            // in place of json for callers that may not read all of those
}

// Add encodes one item more.
func (l *List) Add(r access.Resource, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	l.items = append(l.items, item{resource: r, json: b})
	return nil
}

// AddWith adds an item that also shows other resources. Callers that may not read all of these get bare in its place.
func (l *List) AddWith(r access.Resource, v any, also []access.Resource, bare any) error {
	b, err := json.Marshal(bare)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	if err := l.Add(r, v); err != nil {
		return err
	}
	last := &l.items[len(l.items)-1]
	last.also, last.bare = also, b
	return nil
}

// Close encodes the whole list. No item follows.
func (l *List) Close() { l.whole = l.join(func(access.Resource) bool { return true }) }

// join encodes the items that shows picks.
func (l *List) join(shows func(access.Resource) bool) []byte {
	b := []byte{'['}
	for _, i := range l.items {
		if !shows(i.resource) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		if slices.ContainsFunc(i.also, func(r access.Resource) bool { return !shows(r) }) {
			b = append(b, i.bare...)
		} else {
			b = append(b, i.json...)
		}
	}
	return append(b, ']')
}

// Whole is the list with all its items.
func (l *List) Whole() []byte { return l.whole }

// For encodes the items that a caller may read.
func (l *List) For(c *access.Caller) []byte {
	if c.MayAll() {
		return l.whole
	}
	return l.join(func(r access.Resource) bool { return c.May(access.ScopeRead, r) })
}
