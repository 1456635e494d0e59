package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMessageSlots(t *testing.T) {
	t.Parallel()
	m := newMessage(`{"id":"` + slot(4) + `","user":"u` + slot(3) + slot(0) + `","n":` + slot(1) + `}`)
	require.Len(t, m.slots, 3)
	require.Equal(t, `{"id":"0000","user":"u000","n":0}`, string(m.text))
	m.set(0, 42)
	m.set(1, 7)
	m.set(2, 9)
	require.Equal(t, `{"id":"0042","user":"u007","n":9}`, string(m.text))
	m.set(1, 123)
	require.Equal(t, `{"id":"0042","user":"u123","n":9}`, string(m.text))
}
