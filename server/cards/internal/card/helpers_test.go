package card

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"rankcast/ranking/redistest"
)

// A card is drawn in full while others are.
func TestDrawConcurrently(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for i := range names {
		want, err := Draw(cardOf(names[i]))
		require.NoError(t, err)
		for range 4 {
			wg.Go(func() {
				b, err := Draw(cardOf(names[i]))
				if err != nil || !bytes.Equal(b, want) {
					t.Errorf("the card of %s is another one", names[i])
				}
			})
		}
	}
	redistest.Wait(t, "the callers of the test", wg.Wait)
}

// names are of many scripts, and each is drawn by shipped fonts.
var names = []string{
	"林希", "محمد علي", "रवि शंकर क्षत्रिय", "Ana Ruiz de la Peña", "Nguyễn Thị Hồng", "สมชาย ใจดี", "שלום (abc 12) עולם", "김민준",
	"さくらもも ★", "Ελένη",
}

func cardOf(names ...string) Card {
	c := Card{Title: "Stars of the week", Subtitle: "2026-W46", Left: "4,812,077 members", Right: "2026-11-12 14:03 UTC",
		Empty: "No scores yet"}
	for i, name := range names {
		c.Rows = append(c.Rows, Row{Rank: fmt.Sprint(i + 1), Medal: i + 1, Name: name, Member: fmt.Sprint("s", i),
			Score: fmt.Sprintf("%d,000", 20-i)})
	}
	return c
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
