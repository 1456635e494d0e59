package server_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// recordedStep is a step of an answer.
type recordedStep struct {
	At      time.Time
	GapFrom *time.Time `json:"gap_from"`
	Entries []struct {
		Rank, Score int64
		Member      string
	}
	Rank, Score *int64
}

// recorded is an answer with a history.
type recorded struct {
	Board, Period, Step, Member string
	Until                       time.Time
	Steps                       []recordedStep
	Best                        *struct {
		Rank   int64
		At     time.Time
		Period string
	}
	Profiles map[string]struct{ Name, Avatar string }
	Cursor   *string
}

// forEachClock runs a test on both engines, with a clock that the test moves on by ten seconds at a time.
func forEachClock(t *testing.T, test func(t *testing.T, url string, pass func())) {
	redistest.Both(t, func(t *testing.T) {
		url, set := redistest.Clocked(t)
		now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
		set(now)
		test(t, url, func() { now = now.Add(10 * time.Second); set(now) })
	}, func(t *testing.T) {
		r, shift := redistest.StartShifted(t)
		by := time.Duration(0)
		test(t, r.URL(), func() { by += 10 * time.Second; shift(by) })
	})
}

// A board with a history records it while the node runs, and answers it whole, in pages and of one member; hidden
// members are not in it, by any name.
func TestHistoryOverHTTP(t *testing.T) {
	t.Parallel()
	forEachClock(t, func(t *testing.T, redisURL string, pass func()) {
		n := servertest.Start(t, redisURL, servertest.Config{}, definition.Board{Name: "b", Mode: definition.Last, Kind: "user",
			History: 10 * time.Second}, definition.Board{Name: "plain"})
		get := func(query string) (h recorded) {
			t.Helper()
			a := n.Require(200, "GET", "/v1/boards/b/history"+query, "")
			a.Into(&h)
			return h
		}
		empty := n.Do("GET", "/v1/boards/b/history", "")
		require.Equal(t, `{"board":"b","period":"","ends":null,"final":false,"step":"10s","until":null,"steps":[],"profiles":{},"cursor":null}`,
			empty.Body)
		servertest.RequireProblem(t, n.Do("GET", "/v1/boards/plain/history", ""), 404, "unknown_history", "history")

		n.Require(201, "PUT", "/v1/members/user/ann", `{"name":"Ann","avatar":"/a.png"}`)
		steps := 0
		write := func(body string) {
			t.Helper()
			n.Require(200, "POST", "/v1/boards/b/scores", body)
			pass()
			steps++
			redistest.Until(t, "the next step", func() bool { return len(get("").Steps) >= steps })
		}
		write(`{"updates":[{"member":"ann","score":30},{"member":"bob","score":20}]}`)
		write(`{"member":"cy","score":40}`)
		write(`{"member":"ann","score":50}`)
		all := get("")
		require.Len(t, all.Steps, 3)
		require.Equal(t, "ann 50 cy 40 bob 20", list(all.Steps[2]))
		require.Equal(t, "cy 40 ann 30 bob 20", list(all.Steps[1]))
		require.Equal(t, "ann 30 bob 20", list(all.Steps[0]))
		require.Equal(t, map[string]struct{ Name, Avatar string }{"ann": {"Ann", "/a.png"}}, all.Profiles)
		require.False(t, all.Until.Before(all.Steps[2].At))
		require.Nil(t, all.Cursor)

		first := get("?limit=2")
		require.Equal(t, all.Steps[:2], first.Steps)
		require.NotNil(t, first.Cursor)
		require.Equal(t, all.Steps[2:], get("?limit=2&cursor="+*first.Cursor).Steps)
		at := url.QueryEscape(all.Steps[1].At.Format(time.RFC3339Nano))
		require.Equal(t, all.Steps[1:], get("?from="+at).Steps)
		require.Equal(t, all.Steps[:2], get("?cursor=&to="+at).Steps)
		require.Equal(t, all.Steps[2:], get("?step=1h").Steps, "the last of the hour")
		require.Equal(t, get("?step=3600").Steps, get("?step=60m").Steps)

		ann := get("?member=ann")
		require.Equal(t, "ann", ann.Member)
		require.Len(t, ann.Steps, 3)
		require.Equal(t, [2]int64{2, 30}, [2]int64{*ann.Steps[1].Rank, *ann.Steps[1].Score})
		require.EqualValues(t, 1, ann.Best.Rank)
		require.Equal(t, all.Steps[0].At, ann.Best.At)
		nobody := n.Do("GET", "/v1/boards/b/history?member=zed", "").Body
		require.Contains(t, nobody, `"rank":null,"score":null}],"profiles":{}`)
		require.Contains(t, nobody, `"best":null`)

		n.Require(204, "PUT", "/v1/boards/b/hidden/ann", `{}`)
		hidden := n.Do("GET", "/v1/boards/b/history", "").Body
		require.NotContains(t, hidden, "ann")
		require.NotContains(t, hidden, "Ann")
		require.Equal(t, "cy 40 bob 20", list(get("").Steps[1]))
		require.Equal(t, 1, int(get("").Steps[0].Entries[0].Rank), "the ranks close up")
		zed := get("?member=zed")
		its := get("?member=ann")
		require.Nil(t, its.Best)
		require.Equal(t, zed.Steps, its.Steps, "as of a member that never was there")
		n.Require(204, "DELETE", "/v1/boards/b/hidden/ann", ``)
		require.Equal(t, all.Steps, get("").Steps[:3])
	})
}

func list(s recordedStep) (text string) {
	for i, e := range s.Entries {
		if i > 0 {
			text += " "
		}
		text += fmt.Sprint(e.Member, " ", e.Score)
	}
	return text
}

func TestImpossibleReadsOfHistories(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b", History: time.Minute},
		definition.Board{Name: "year", Period: "year", History: 10 * time.Second})
	for query, field := range map[string]string{
		"limit=0": "limit", "limit=1001": "limit", "limit=x": "limit", "step=30s": "step", "step=0": "step", "step=soon": "step",
		"step=1.5m":      "step",
		"from=yesterday": "from", "from=": "from", "to=2026-11-20": "to", "from=2026-11-20T10:00:00Z&to=2026-11-20T09:00:00Z": "to",
		"cursor=x": "cursor", "cursor=AQAAAAAAAAAA": "cursor", "member=": "member", "member=%00": "member", "of=b": "of",
		"from_rank=1": "from_rank", "limit=1&limit=2": "limit",
	} {
		servertest.RequireProblem(t, n.Do("GET", "/v1/boards/b/history?"+query, ""), 400, "invalid_request", field)
	}
	for query, reason := range map[string]string{ // of the right form, but beyond the range
		"step=36601d": "from 1s to 36600d", "step=99999999999": "from 1s to 36600d", "step=0": "from 1s to 36600d",
		"from=2200-01-01T00:00:00Z": "in the years 1970 to 2199", "to=1969-12-31T00:00:00Z": "in the years 1970 to 2199",
		"from=2026-01-01T00:00:00.0001Z": "at most milliseconds", "limit=99999999999999999999": "from 1 to 1000",
	} {
		require.Contains(t, n.Do("GET", "/v1/boards/b/history?"+query, "").Body, reason, query)
	}
	servertest.RequireProblem(t, n.Do("GET", "/v1/boards/none/history", ""), 404, "unknown_board", "board")
	servertest.RequireProblem(t, n.Do("GET", "/v1/boards/year@1999/history", ""), 404, "unknown_period", "board")
	year := n.Do("GET", "/v1/boards/year/history?step=1m", "")
	servertest.RequireProblem(t, year, 400, "invalid_request", "step")
	require.Contains(t, year.Body, "want at least", "a year has a coarser step")
}
