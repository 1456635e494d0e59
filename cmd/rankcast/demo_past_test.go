package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/embedded"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// monday is when a week begins by the zone of the demo, and a day and a month too.
func monday(t *testing.T) time.Time {
	zone, err := time.LoadLocation(demoZone)
	require.NoError(t, err)
	return time.Date(2026, 6, 1, 0, 0, 0, 0, zone)
}

func TestDemoPastGoesOneWay(t *testing.T) {
	for hours := range 24 * 8 {
		now := monday(t).Add(time.Duration(hours) * time.Hour).Add(time.Duration(hours%60) * time.Minute)
		moments, err := pastMoments(now)
		require.NoError(t, err)
		_, first := moments[0].at.ISOWeek()
		_, this := now.ISOWeek()
		require.Equal(t, this-1, first, "it begins last week")
		recent, before := 0, time.Time{}
		for _, m := range moments {
			require.True(t, m.at.After(before), "%v comes after %v", m.at, before)
			before = m.at
			if now.Sub(m.at) < demoWindow {
				recent++
			}
		}
		require.Equal(t, recentSteps, recent)
		require.True(t, before.Equal(now))
	}
}

// However young the week is, nothing is empty.
func TestDemoPast(t *testing.T) {
	for name, now := range map[string]time.Time{
		"a week that begins":  monday(t),
		"in the middle of it": monday(t).Add(90 * time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			redis, err := embedded.Start()
			require.NoError(t, err)
			t.Cleanup(redis.Close)
			s := serve{Demo: true, Prefix: "rc"}
			require.NoError(t, s.playPast(t.Context(), redis, now, definition.Set{}))
			rdb, err := ranking.Open(redis.URL())
			require.NoError(t, err)
			t.Cleanup(func() { rdb.Close() })
			store := ranking.New(rdb, ranking.Config{})
			t.Cleanup(store.Close)

			total := func(board string) int64 {
				page, err := store.Page(t.Context(), board, 1, 10)
				require.NoError(t, err, board)
				return page.Total
			}
			require.Greater(t, total("stars@-1"), int64(10))
			require.EqualValues(t, len(demoStars), total("stars"))
			for n := range demoStars {
				require.Positive(t, total("fans:"+starID(n)))
				require.Positive(t, total("fans3h:"+starID(n)))
			}
			periods, err := store.Periods(t.Context(), "stars")
			require.NoError(t, err)
			require.Len(t, periods, 2)
			require.True(t, periods[1].Final)
		})
	}
}

// The program has it at once, and goes on from there.
func TestDemoBeginsInTheMiddle(t *testing.T) {
	p := launch(t, "--demo")
	require.Contains(t, p.output(), "page=http://"+p.addr+"/stars ")
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
		a := servertest.Request(t, "GET", "http://"+p.addr+"/v1/boards/"+path, "")
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

// A real Redis has the past that it has, and keeps its profiles.
func TestDemoOnARealRedis(t *testing.T) {
	r := redistest.Start(t)
	rdb, err := ranking.Open(r.URL())
	require.NoError(t, err)
	t.Cleanup(func() { rdb.Close() })
	store := ranking.New(rdb, ranking.Config{})
	t.Cleanup(store.Close)
	_, err = store.SetProfile(t.Context(), kindStar, "s02", ranking.Profile{Avatar: "/mine.png"})
	require.NoError(t, err)

	p := launch(t, "--redis", r.URL(), "--demo")
	p.ready()
	redistest.Eventually(t, "gifts", func() error {
		if page, err := store.Page(t.Context(), "stars", 1, 1); err != nil || page.Total == 0 {
			return cmp.Or(err, errors.New("none"))
		}
		return nil
	})
	periods, err := store.Periods(t.Context(), "stars")
	require.NoError(t, err)
	require.Len(t, periods, 1, "the week that is")
	mine, err := store.Profile(t.Context(), kindStar, "s02")
	require.NoError(t, err)
	require.Equal(t, ranking.Profile{Avatar: "/mine.png"}, mine)
	other, err := store.Profile(t.Context(), kindStar, "s01")
	require.NoError(t, err)
	require.Equal(t, demoStars[0], other.Name)
	viewer, err := store.Profile(t.Context(), kindUser, "mochi")
	require.NoError(t, err)
	require.Equal(t, demoNames["mochi"], viewer.Name)
}

// The lists fit one another.
func TestDemoCast(t *testing.T) {
	require.Contains(t, demoUsers, "mochi")
	for user := range demoNames {
		require.Contains(t, demoUsers, user)
	}
	require.InDelta(t, len(demoUsers)/2, len(demoNames), 3)
}
