package process

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// finale starts a server with a board that is frozen: ana passes bob, and cem is new.
func finale(t *testing.T) (p *e2etest.Process, server string) {
	p = e2etest.LaunchBoards(t, `boards: {finale: {kind: act, reveal: host}}`)
	p.Answers(201, "PUT", "/v1/members/act/cem", `{"name":"Cem"}`)
	p.Update("finale", e2etest.Scores("ana", 1000, "bob", 2000))
	p.Answers(200, "POST", "/v1/boards/finale/freeze", `{"reason":"the finish"}`)
	sender(t, "http://"+p.Addr)("finale", "ana", "3000").Is(t, 0, "finale: the board is frozen, and shows the score of ana later\n", "")
	p.Submit("/v1/boards/finale/scores", `{"member":"cem","score":500}`)
	return p, "http://" + p.Addr
}

// A host sees who comes next, and reveals that member by a key: Enter, or the space bar of a presenter's remote. What is not revealed
// stays pending, and all sees each step.
func TestRevealInATerminal(t *testing.T) {
	t.Parallel()
	p, server := finale(t)
	watch := startIn(t, nil, "watch", "finale", "--server", server)
	watch.shows(`(?s)2 members · frozen since \d\d:\d\d.*1  bob .* 2,000.*2  ana .* 1,000`)
	s := startIn(t, nil, "reveal", "finale", "--server", server)
	s.shows(`(?s)q quits.*Next, of 2: Cem gets 500, rank 3 in the end \(not on the board now\)`)
	s.pty.WriteString("x ")
	s.shows(`(?s)  rank 3: Cem with 500 \(new\).*Next, of 1: ana gets 4,000, rank 1 in the end \(now rank 2 with 1,000\)`)
	watch.shows(`(?s)3 members · frozen since.*3  Cem .* 500`)
	s.pty.WriteString("q")
	require.Zero(t, s.wait())
	s.hasMode()

	s = startIn(t, nil, "reveal", "finale", "--server", server)
	s.shows(`Next, of 1: ana`)
	s.pty.WriteString("\r")
	require.Zero(t, s.wait())
	require.Regexp(t, `(?s)rank 1: ana with 4,000 \(was 2\)\s+All is public\.`, s.screen())
	watch.shows(`(?s)3 members · live.*1  ana .* 4,000`)
	p.Update("finale", `{"member":"bob","score":1}`)
}

// Where the input is no terminal, each line of it is a step.
func TestRevealByLines(t *testing.T) {
	t.Parallel()
	_, server := finale(t)
	reveal := func(input string, args ...string) e2etest.Ran {
		return e2etest.Run(t, input, append([]string{"reveal", "--server", server}, args...)...)
	}
	const next = "Next, of 1: ana gets 4,000, rank 1 in the end (now rank 2 with 1,000)\n"
	reveal("\n", "finale").Is(t, 0,
		"Next, of 2: Cem gets 500, rank 3 in the end (not on the board now)\n  rank 3: Cem with 500 (new)\n"+next, "")
	reveal("", "finale").Is(t, 0, next, "")
	reveal("", "finale", "--all").Is(t, 0, "All is public: 1 member.\n", "")
	reveal("\n", "finale").Is(t, 0, "finale is not frozen.\n", "")
	reveal("", "finale", "--all").Fails(t, 1, `rankcast: `, `"finale" is not frozen`)
	reveal("", "none").Fails(t, 1, "unknown_board")
	reveal("", "fin ale").Fails(t, 1, "rankcast: ")
}
