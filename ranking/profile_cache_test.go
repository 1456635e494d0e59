package ranking

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A read that began before a change was told may have seen what was before.
func TestReadFromBeforeAChangeIsNotKept(t *testing.T) {
	t.Parallel()
	c := newProfileCache(time.Minute)
	old := map[string]Profile{"a": {Name: "old"}, "b": {Name: "b"}}
	read := func(meanwhile func()) {
		r := c.begin("user", []string{"a", "b"})
		meanwhile()
		c.store(r, []string{"a", "b"}, old)
		c.end(r)
	}
	read(func() { c.forget(profileKey{"user", "a"}) })
	_, known := c.get(profileKey{"user", "a"})
	require.False(t, known)
	_, known = c.get(profileKey{"user", "b"})
	require.True(t, known, "of the others it is")
	read(func() { c.forgetAll() })
	_, known = c.get(profileKey{"user", "b"})
	require.False(t, known)
	read(func() { c.forget(profileKey{"star", "a"}) })
	p, known := c.get(profileKey{"user", "a"})
	require.True(t, known)
	require.Equal(t, "old", p.Name)
	require.Empty(t, c.reading)
}

func TestProfilesKeptAreBoundedInNumberAndAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newProfileCache(30 * time.Second)
		c.room = 3
		for i := range 5 {
			m := []string{fmt.Sprint(i)}
			c.store(c.begin("user", m), m, nil)
			c.get(profileKey{"user", "1"}) // is used all the time
		}
		var kept []int
		for i := range 5 {
			if _, known := c.get(profileKey{"user", fmt.Sprint(i)}); known {
				kept = append(kept, i)
			}
		}
		require.Equal(t, []int{1, 3, 4}, kept, "those that were used last")
		require.Len(t, c.kept, c.order.Len())
		time.Sleep(31 * time.Second)
		_, known := c.get(profileKey{"user", "1"})
		require.False(t, known)
		require.Len(t, c.kept, 2)
	})
}
