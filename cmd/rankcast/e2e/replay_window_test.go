package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What was recorded counts on a window from when it was, if that is wanted, and from when
// it is sent otherwise; as updates and as events.
func TestReplayKeepsTimes(t *testing.T) {
	t.Parallel()
	p := launch(t, "--boards", write(t, "boards.yaml", `
boards:
  plain:        {}
  "hour:{run}": {window: 1h, refresh: live}
events:
  gift:
    - {board: plain, member: "{user}", score: "{n}"}
    - {board: "hour:events", member: "{user}", score: "{n}"}
  dated: [{board: plain, member: "{user}", score: 1, data: {at: "{at}"}}]
`))
	ago := func(d time.Duration) string { return time.Now().Add(-d).Format(time.RFC3339Nano) }
	csv := write(t, "scores.csv", fmt.Sprintf("member,score,at\nann,1,%s\nbob,2,%d\nann,3,%s\n",
		ago(2*time.Hour), time.Now().Add(-30*time.Minute).UnixMilli(), ago(time.Minute)))
	events := write(t, "events.ndjson", fmt.Sprintf(`{"user":"ann","n":1,"at":%q}
{"user":"bob","n":2,"at":%d}
{"user":"ann","n":3,"at":%q}
`, ago(2*time.Hour), time.Now().Add(-30*time.Minute).UnixMilli(), ago(time.Minute)))
	replay := func(args ...string) ran {
		return run(t, "", append([]string{"replay", "--server", "http://" + p.addr}, args...)...)
	}

	got := replay(csv, "--board", "hour:now")
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, map[string]int64{"ann": 4, "bob": 2}, standings(t, p.addr, "hour:now"))
	got = replay(csv, "--board", "hour:then", "--keep-times")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stdout, "sent 2 (0 duplicates), refused 1,")
	require.Regexp(t, "line 2: .*at: is longer ago than the board's window of 1h", got.stderr)
	require.Equal(t, map[string]int64{"ann": 3, "bob": 2}, standings(t, p.addr, "hour:then"))
	require.Contains(t, replay(csv, "--board", "hour:then", "--keep-times").stdout, "(2 duplicates)")

	got = replay(events, "--event", "gift", "--keep-times")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stdout, "refused 1,")
	require.Equal(t, map[string]int64{"ann": 3, "bob": 2}, standings(t, p.addr, "hour:events"))
	require.Equal(t, map[string]int64{"ann": 4, "bob": 2}, standings(t, p.addr, "plain"), "now, where there is no window")
	got = replay(events, "--event", "gift", "--id-prefix", "now")
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, map[string]int64{"ann": 7, "bob": 4}, standings(t, p.addr, "hour:events"))

	for want, args := range map[string][]string{
		"at: applies only to a board with a window": {csv, "--board", "plain", "--keep-times"},
		"event dated has a field at of its own":     {events, "--event", "dated", "--keep-times"},
		"line 1: at: is missing, and --speed and --keep-times": {write(t, "none.ndjson", `{"member":"ann","score":1}`), "--board",
			"hour:x", "--keep-times"},
		"line 1: at: is \"soon\"; want a time as 2026-11-20T08": {write(t, "soon.ndjson", `{"member":"ann","score":1,"at":"soon"}`),
			"--board", "hour:x", "--keep-times"},
	} {
		got := replay(args...)
		require.NotZero(t, got.code)
		require.Contains(t, got.stderr, want)
	}
}
