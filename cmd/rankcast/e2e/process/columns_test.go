package process

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// send and replay send the columns of a board, and watch shows each with its head.
func TestCommandsShowColumns(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--boards", e2etest.Write(t, "boards.yaml", `
boards:
  contest: {columns: [{name: solved, max: 20, title: Solved}, {name: penalty, order: asc, max: 99999, display: {unit: min}}]}
  points: {}
events:
  judged: [{board: contest, member: "{team}", columns: {solved: 1, penalty: "{minutes}"}}]
`))
	send := sender(t, "http://"+p.Addr)
	send("contest", "mit", "--columns", "solved:1,penalty:20").Is(t, 0, "contest: mit has solved 1, penalty 20, rank 1 (new)\n", "")
	send("contest", "mit", "--columns", "penalty:1020").Is(t, 0, "contest: mit has solved 1, penalty 1,040, rank 1\n", "")
	send("--event", "judged", "team=eth", "minutes=9").Is(t, 0, "contest: eth has solved 1, penalty 9, rank 1 (new)\n", "")
	send("contest", "mit", "--columns", "solved:2,penalty:7", "--op", "last", "--json").Is(t, 0,
		`{"board":"contest","period":"","member":"mit","score":199993,"columns":{"solved":2,"penalty":7},"rank":1,`+
			`"previous":{"score":98960,"columns":{"solved":1,"penalty":1040},`+
			`"rank":2},"duplicate":false}`+"\n", "")
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{1, `score: does not apply to a board with columns; want columns, such as {"solved":1,"penalty":0}`, []string{"contest", "mit", "5"}},
		{1, "columns: does not apply to a board without columns; want score", []string{"points", "mit", "--columns", "solved:1"}},
		{1, "columns.solved: is, or results in, a value outside 0 to 20", []string{"contest", "mit", "--columns", "solved:19"}},
		{1, `--columns: is "solved"; want each column once`, []string{"contest", "mit", "--columns", "solved"}},
		{80, "with --columns want BOARD MEMBER", []string{"contest", "mit", "5", "--columns", "solved:1"}},
		{80, "--columns cannot be used with --event", []string{"--event", "judged", "--columns", "solved:1", "team=a", "minutes=1"}},
	} {
		got := send(c.args...)
		require.Equal(t, c.code, got.Code, c.args)
		require.Contains(t, got.Stderr, c.says, c.args)
	}
	recording := e2etest.Write(t, "runs.csv", "member,solved,penalty\ncam,3,60\nbo,1,\n")
	got := e2etest.Run(t, "", "replay", recording, "--board", "contest", "--columns", "solved,penalty", "--server", "http://"+p.Addr)
	require.Contains(t, got.Stdout+got.Stderr, "sent 2 (0 duplicates), refused 0")

	s := startIn(t, nil, "watch", "contest", "--me", "eth", "--server", "http://"+p.Addr)
	s.shows(`rank +member +Solved +penalty`)
	s.shows(`1 +cam +3 +60 min`)
	s.shows(`3 +bo +1 +0 min`)
	s.shows(`▸ +4 +eth +1 +9 min +penalty 9 to next`)
	s.pty.WriteString("q")
	require.Zero(t, s.wait())
}
