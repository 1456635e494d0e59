// Package lru keeps the values that were used last, within a bound.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps values by key. Each has a weight, such as its bytes; when all together exceed the bound, the Cache drops
// those that were not used for the longest time. New makes one. All methods may be called concurrently.
type Cache[K comparable, V any] struct {
	most int

	mu     sync.Mutex
	weight int // of all
	kept   map[K]*list.Element
	order  list.List // of *item[K, V], the one used last first
}

type item[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

// New makes a Cache of values that weigh most together. One value alone may weigh more.
func New[K comparable, V any](most int) *Cache[K, V] {
	return &Cache[K, V]{most: most, kept: make(map[K]*list.Element)}
}

// Get returns the value of a key, which counts as a use of it.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.kept[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*item[K, V]).value, true
}

// Put keeps a value in place of that of its key.
func (c *Cache[K, V]) Put(key K, value V, weight int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
	c.kept[key] = c.order.PushFront(&item[K, V]{key, value, weight})
	c.weight += weight
	for c.weight > c.most && c.order.Len() > 1 {
		c.drop(c.order.Back().Value.(*item[K, V]).key)
	}
}

// Drop drops the value of a key.
func (c *Cache[K, V]) Drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
}

// Clear drops all values.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.kept)
	c.order.Init()
	c.weight = 0
}

// Len is the number of values.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.Len()
}

// drop is Drop for a caller that holds c.mu.
func (c *Cache[K, V]) drop(key K) {
	if e, ok := c.kept[key]; ok {
		c.order.Remove(e)
		delete(c.kept, key)
		c.weight -= e.Value.(*item[K, V]).weight
	}
}
