//go:build !race

package card

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Any text can be drawn, and changes the box of its own row alone.
func FuzzRow(f *testing.F) {
	for _, name := range append(names, "\u202eabc", "क्\u200dष", "\xff", "e\u0301\u0301", "ﷺ", "🎉", "\u1100\u1161\u11a8", "x אב 12 abc ١٢") {
		f.Add(name, "1,234")
		f.Add("Ana", name)
	}
	plain := picture(cardOf(names[:6]...))
	box := boxesOf(6)[1]
	f.Fuzz(func(t *testing.T, name, score string) {
		c := cardOf(names[:6]...)
		c.Rows[1].Name, c.Rows[1].Member, c.Rows[1].Score = name, name, score
		changed := differences(plain, picture(c))
		require.True(t, changed.In(box), "%q %q: %v is not within %v", name, score, changed, box)
	})
}
