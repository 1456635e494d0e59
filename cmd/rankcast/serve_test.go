package main

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// The command that the log shows runs as it is pasted.
func TestFirstScore(t *testing.T) {
	t.Parallel()
	page := (&serve{}).pageURL(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
	boards := []definition.Board{{Name: "b"}}
	for program, want := range map[string]string{
		"bin/rankcast":        "bin/rankcast send b ana 40",
		"/opt/my $app/x;rm y": "rankcast send b ana 40",
	} {
		require.Equal(t, want, firstScore(program, page, boards))
	}
	idols := []definition.Board{{Name: "idols", Kind: "idol"}}
	require.Equal(t, "bin/rankcast send idols idol-1 40", firstScore("bin/rankcast", page, idols))
}

func TestLogNamesAFewBoards(t *testing.T) {
	t.Parallel()
	var boards []definition.Board
	for i := range maxBoardNames {
		boards = append(boards, definition.Board{Name: fmt.Sprint("b", i)})
	}
	require.Equal(t, "b0 b1 b2 b3 b4 b5 b6 b7 b8 b9", boardNames(boards))
	require.Equal(t, "b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 and 2 more", boardNames(append(boards, boards[:2]...)))
}
