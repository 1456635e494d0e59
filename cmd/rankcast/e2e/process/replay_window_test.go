package process

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// With the flag for times, recorded scores count on a window from their recorded times, and else from when the command sends
// them. This holds for updates and for events.
func TestReplayKeepsTimes(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `
boards:
  plain:        {}
  "hour:{run}": {window: 1h, refresh: live}
events:
  gift:
    - {board: plain, member: "{user}", score: "{n}"}
    - {board: "hour:events", member: "{user}", score: "{n}"}
  dated: [{board: plain, member: "{user}", score: 1, data: {at: "{at}"}}]
`)
	ago := func(d time.Duration) string { return time.Now().Add(-d).Format(time.RFC3339Nano) }
	csv := e2etest.Write(t, "scores.csv", fmt.Sprintf("member,score,at\nann,1,%s\nbob,2,%d\nann,3,%s\n",
		ago(2*time.Hour), time.Now().Add(-30*time.Minute).UnixMilli(), ago(time.Minute)))
	events := e2etest.Write(t, "events.ndjson", fmt.Sprintf(`{"user":"ann","n":1,"at":%q}
{"user":"bob","n":2,"at":%d}
{"user":"ann","n":3,"at":%q}
`, ago(2*time.Hour), time.Now().Add(-30*time.Minute).UnixMilli(), ago(time.Minute)))
	replay := func(args ...string) e2etest.Ran {
		return e2etest.Run(t, "", append([]string{"replay", "--server", "http://" + p.Addr}, args...)...)
	}

	got := replay(csv, "--board", "hour:now")
	require.Zero(t, got.Code, got.Stderr)
	require.Equal(t, map[string]int64{"ann": 4, "bob": 2}, standings(t, p.Addr, "hour:now"))
	got = replay(csv, "--board", "hour:then", "--keep-times")
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Stdout, "sent 2 (0 duplicates), refused 1,")
	require.Regexp(t, "line 2: .*at: is longer ago than the board's window of 1h", got.Stderr)
	require.Equal(t, map[string]int64{"ann": 3, "bob": 2}, standings(t, p.Addr, "hour:then"))
	require.Contains(t, replay(csv, "--board", "hour:then", "--keep-times").Stdout, "(2 duplicates)")

	got = replay(events, "--event", "gift", "--keep-times")
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Stdout, "refused 1,")
	require.Equal(t, map[string]int64{"ann": 3, "bob": 2}, standings(t, p.Addr, "hour:events"))
	require.Equal(t, map[string]int64{"ann": 4, "bob": 2}, standings(t, p.Addr, "plain"), "now, where there is no window")
	got = replay(events, "--event", "gift", "--id-prefix", "now")
	require.Zero(t, got.Code, got.Stderr)
	require.Equal(t, map[string]int64{"ann": 7, "bob": 4}, standings(t, p.Addr, "hour:events"))

	for want, args := range map[string][]string{
		"at: applies only to a board with a window": {csv, "--board", "plain", "--keep-times"},
		"event dated has a field at of its own":     {events, "--event", "dated", "--keep-times"},
		"line 1: at: is missing, and --speed and --keep-times": {e2etest.Write(t, "none.ndjson", `{"member":"ann","score":1}`), "--board",
			"hour:x", "--keep-times"},
		"line 1: at: is \"soon\"; want a time as 2026-11-20T08": {e2etest.Write(t, "soon.ndjson", `{"member":"ann","score":1,"at":"soon"}`),
			"--board", "hour:x", "--keep-times"},
	} {
		got := replay(args...)
		require.NotZero(t, got.Code)
		require.Contains(t, got.Stderr, want)
	}
}
