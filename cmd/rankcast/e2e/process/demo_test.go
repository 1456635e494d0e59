package process

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// The program has it at once, and goes on from there.
func TestDemoBeginsInTheMiddle(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--demo")
	require.Contains(t, p.Output(), "page=http://"+p.Addr+"/stars ")
	type board struct {
		Final   bool
		Total   int
		Changed time.Time `json:"last_change"`
		Top     []struct {
			Member, Name string
			Score        int64
		}
		Periods []struct {
			Period string
			Final  bool
			Total  int
		}
	}
	flowers := func(b board) (sum int64) {
		for _, e := range b.Top {
			sum += e.Score
		}
		return sum
	}
	get := func(path string) (b board) {
		a := p.Request("GET", "/v1/boards/"+path, "")
		require.Equal(t, 200, a.Status, a.Body)
		require.NoError(t, json.Unmarshal([]byte(a.Body), &b))
		return b
	}
	last := get("stars@-1/top")
	require.True(t, last.Final)
	require.NotEmpty(t, last.Top)
	stars := get("stars/top?limit=100")
	require.False(t, stars.Final)
	require.NotEmpty(t, stars.Top)
	require.NotEmpty(t, stars.Top[0].Name)
	first := stars.Top[0].Member
	require.NotEmpty(t, get("fans:"+first+"/top").Top)
	require.NotEmpty(t, get("fans3h:"+first+"/top").Top)
	redistest.Eventually(t, "points of players with a name", func() error {
		if points := get("points/top"); len(points.Top) == 0 || points.Top[0].Name == "" {
			return fmt.Errorf("the top is %v", points.Top)
		}
		return nil
	})
	periods := get("stars/periods").Periods
	require.Len(t, periods, 2)
	require.False(t, periods[0].Final)
	require.True(t, periods[1].Final)
	require.Equal(t, last.Total, periods[1].Total)

	// The clock goes on, too: what comes now has come after all that was read.
	since := time.Now()
	redistest.Eventually(t, "gifts", func() error {
		if now := get("stars"); !now.Changed.After(since) {
			return fmt.Errorf("the last was at %v", now.Changed)
		}
		return nil
	})
	require.Greater(t, flowers(get("stars/top?limit=100")), flowers(stars))
	require.Equal(t, last, get("stars@-1/top"), "what is over stays as it was")
}

// The demo adds no history to a real Redis, and leaves its profiles as they are.
func TestDemoOnARealRedis(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	store := e2etest.OpenStore(t, r.URL())
	_, err := store.SetProfile(t.Context(), "star", "s02", ranking.Profile{Avatar: "/mine.png"})
	require.NoError(t, err)

	p := e2etest.Launch(t, "--redis", r.URL(), "--demo")
	p.Ready()
	redistest.Eventually(t, "gifts", func() error {
		if page, err := store.Page(t.Context(), "stars", 1, 1); err != nil || page.Total == 0 {
			return cmp.Or(err, errors.New("none"))
		}
		return nil
	})
	periods, err := store.Periods(t.Context(), "stars")
	require.NoError(t, err)
	require.Len(t, periods, 1, "the week that is")
	mine, err := store.Profile(t.Context(), "star", "s02")
	require.NoError(t, err)
	require.Equal(t, ranking.Profile{Avatar: "/mine.png"}, mine)
	other, err := store.Profile(t.Context(), "star", "s01")
	require.NoError(t, err)
	require.Equal(t, "林小夏", other.Name)
	viewer, err := store.Profile(t.Context(), "user", "mochi")
	require.NoError(t, err)
	require.Equal(t, "麻薯 Mochi", viewer.Name)
}

func TestDemoStartsWithNothingAndStopsGracefully(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--demo")
	require.Contains(t, p.Output(), "gone when this process stops")
	page := p.Request("GET", "/", "")
	require.Equal(t, 200, page.Status)
	require.Contains(t, page.Header.Get("Content-Security-Policy"), "default-src 'none'")
	page = p.Request("GET", "/docs/start", "") // one without scores, which move
	require.Equal(t, 200, page.Status)
	again := p.Request("GET", "/docs/start", "", "If-None-Match", page.Header.Get("ETag"))
	require.Equal(t, 304, again.Status)
	s := servertest.Dial(t, p.Addr)
	s.Subscribe("stars", 10)
	for range 3 {
		s.Next("delta", "snapshot")
	}
	p.Terminate()
	require.Equal(t, "drain", s.Next("bye").Reason)
	_, err := s.Read()
	require.Error(t, err)
	require.Zero(t, p.Ended())
	require.Contains(t, p.Output(), "msg=stopped")
}

// What a file or a Redis has stays as it is, and the demo sends what fits.
func TestDemoBesideOtherBoards(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	file := e2etest.Write(t, "boards.yaml", `
boards:
  stars:         {mode: last}
  "fans:{who}":  {max: 0}
  givers-week:   {order: asc, keep: 2, period: hour}
events:
  other: [{board: stars, member: "{m}", score: 1}]
`)
	p := e2etest.Launch(t, "--redis", r.URL(), "--boards", file, "--demo")
	get := func(path string) string {
		a := p.Request("GET", "/v1/"+path, "")
		require.Equal(t, 200, a.Status, a.Body)
		return a.Body
	}
	boards := get("boards")
	for _, want := range []string{`"board":"stars","mode":"last","order":"desc","ties":"first","kind"`, `"board":"fans:{who}"`,
		`"order":"asc","ties":"first","period":"hour"`, `"board":"givers-month"`, `"board":"laps"`, `"board":"points"`} {
		require.Contains(t, boards, want)
	}
	require.NotContains(t, boards, "fans:{star}")
	for _, board := range []string{"stars", "givers-week", "givers-month", "laps", "points"} {
		redistest.Eventually(t, "scores on "+board, func() error {
			if _, total := servertest.Top(t, p.Addr, board, 1); total == 0 {
				return errors.New("none")
			}
			return nil
		})
	}
	require.Contains(t, get("events"), `"event":"gift"`)
	require.Contains(t, get("boards/fans:%7Bwho%7D/instances"), `"total":0`, "whose scores would all be too high")
	p.Kill()

	// A gift of somebody else's.
	r = redistest.Start(t)
	file = e2etest.Write(t, "boards.yaml", "boards: {b: {}}\nevents: {gift: [{board: b, member: \"{m}\", score: 1}]}")
	p = e2etest.Launch(t, "--redis", r.URL(), "--boards", file, "--demo")
	require.Contains(t, get("events"), `"member":"{m}"`)
	redistest.Eventually(t, "laps", func() error {
		if _, total := servertest.Top(t, p.Addr, "laps", 1); total == 0 {
			return errors.New("none")
		}
		return nil
	})
	_, total := servertest.Top(t, p.Addr, "stars", 1)
	require.Zero(t, total)
	require.NotContains(t, p.Output(), "ERROR")
}
