package profiles

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"rankcast/ranking/lru"

	"github.com/stretchr/testify/require"
)

// A read that began before a change was told may have seen what was before.
func TestReadFromBeforeAChangeIsNotKept(t *testing.T) {
	t.Parallel()
	c := NewCache[string](time.Minute)
	old := map[string]string{"a": "old", "b": "b"}
	read := func(meanwhile func()) {
		r := c.Begin("user", []string{"a", "b"})
		meanwhile()
		c.Store(r, []string{"a", "b"}, old)
		c.End(r)
	}
	read(func() { c.Forget(Member{"user", "a"}) })
	_, known := c.Get(Member{"user", "a"})
	require.False(t, known)
	_, known = c.Get(Member{"user", "b"})
	require.True(t, known, "of the others it is")
	read(func() { c.ForgetAll() })
	_, known = c.Get(Member{"user", "b"})
	require.False(t, known)
	read(func() { c.Forget(Member{"star", "a"}) })
	p, known := c.Get(Member{"user", "a"})
	require.True(t, known)
	require.Equal(t, "old", p)
	require.Empty(t, c.reading)
}

func TestProfilesKeptAreBoundedInNumberAndAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := NewCache[string](30 * time.Second)
		c.kept = lru.New[Member, entry[string]](3)
		for i := range 5 {
			m := []string{fmt.Sprint(i)}
			c.Store(c.Begin("user", m), m, nil)
			c.Get(Member{"user", "1"}) // is used all the time
		}
		var kept []int
		for i := range 5 {
			if _, known := c.Get(Member{"user", fmt.Sprint(i)}); known {
				kept = append(kept, i)
			}
		}
		require.Equal(t, []int{1, 3, 4}, kept, "those that were used last")
		time.Sleep(31 * time.Second)
		_, known := c.Get(Member{"user", "1"})
		require.False(t, known)
	})
}
