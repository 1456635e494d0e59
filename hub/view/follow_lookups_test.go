package view

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/sortkey"
)

// pendingView follows "m", which has key 500 and rank 100 of a thousand, and "gone", which
// is not on the board. It is at seq 5 of epoch "e", and both lookups are pending.
func pendingView() (v *View, answer ranking.Places) {
	v = New(0)
	v.Follow("m", 0)
	v.Follow("gone", 0)
	page := ranking.Page{State: ranking.State{Epoch: "e", Seq: 5}, Total: 1000}
	for i := range v.PageSize() {
		page.Entries = append(page.Entries, ranking.Entry{Key: sortkey.Key(i), Member: fmt.Sprint("top", i)})
	}
	v.BeginPage()
	v.ApplyPage(page)
	answer = ranking.Places{State: v.State(), Total: 1000}
	for _, l := range v.BeginLookups() {
		found := ranking.Place{Entry: ranking.Entry{Member: l.Member}}
		if l.Member == "m" {
			found.Entry.Key, found.Entry.Rank, found.Position = 500, 100, 100
		}
		answer.List = append(answer.List, found)
	}
	return v, answer
}

// An answer to lookups invalidates the view where it is of an earlier seq or of another
// epoch, or contradicts the changes that arrived since.
func TestContradictingLookupInvalidates(t *testing.T) {
	t.Parallel()
	for what, alter := range map[string]func(*View, *ranking.Places){
		"gone back":    func(_ *View, p *ranking.Places) { p.Seq-- },
		"another life": func(_ *View, p *ranking.Places) { p.Epoch = "f" },
		"at odds": func(v *View, _ *ranking.Places) {
			require.True(t, v.Apply(change(6, "m", 501, 400, 90)))
		},
		"a rank twice": func(_ *View, p *ranking.Places) {
			for i := range p.List {
				p.List[i].Entry.Rank, p.List[i].Position, p.List[i].Entry.Key = 100, 100, sortkey.Key(500+i)
			}
		},
	} {
		v, answer := pendingView()
		alter(v, &answer)
		v.ApplyLookups(answer)
		require.True(t, v.NeedsPage(), what)
		require.Nil(t, v.BeginLookups(), what)
	}
}

// When the buffer overflows, pending lookups are repeated.
func TestLookupIsRepeatedWhenTheBufferOverflows(t *testing.T) {
	t.Parallel()
	v, answer := pendingView()
	key := int64(5000)
	for i := range int64(MaxBuffered + 1) {
		require.True(t, v.Apply(change(6+i, "far", key, key+1, 990)))
		key++
	}
	require.LessOrEqual(t, v.bufferedLen, MaxBuffered+1)
	require.True(t, v.ApplyLookups(answer))
	require.Len(t, v.BeginLookups(), 2)
}
