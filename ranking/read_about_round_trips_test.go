package ranking

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// The titles of a page of boards cost a round trip for each family, however many instances are among them.
func TestAboutEachReadsAFamilyInOneRoundTrip(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	define(t, s, definition.Board{Name: "fans:{star}", Title: definition.Label{"": "Fans of {star}"}},
		definition.Board{Name: "hot:{star}", Title: definition.Label{"": "{star}, hot"}},
		definition.Board{Name: "bare:{star}"}, definition.Board{Name: "plain", Title: definition.Label{"": "Plain"}})
	must(s.SetProfile(t.Context(), "star", "s1", Profile{Name: "Lin Xi"}))(t)
	boards := []string{"plain", "bare:s100"}
	for i := range 50 {
		boards = append(boards, fmt.Sprintf("fans:s%d", i), fmt.Sprintf("hot:s%d", 50+i))
	}
	holdDefinitions(s)
	reads := new(profileReads)
	s.rdb.AddHook(redistest.Hook(reads.pass))
	abouts := s.AboutEach(t.Context(), boards)
	require.EqualValues(t, 2, reads.sent.Load())
	require.Len(t, abouts, len(boards))
	require.Equal(t, []string{"Fans of Lin Xi", "Fans of s2", "s51, hot", "Plain", ""},
		[]string{abouts["fans:s1"].Title.In("en"), abouts["fans:s2"].Title.In("en"), abouts["hot:s51"].Title.In("en"),
			abouts["plain"].Title.In("en"), abouts["bare:s100"].Title.In("en")})
}
