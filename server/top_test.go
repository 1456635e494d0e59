package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// What is read by scores, and of members among themselves, is by the ties of the board.
func TestReadsByScoreOverHTTP(t *testing.T) {
	t.Parallel()
	const top, at, count, members = "/top?limit=2&", "/at?limit=2&", "/count?", "/members?"
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{},
			definition.Board{Name: "first"}, definition.Board{Name: "shared", Ties: definition.Shared},
			definition.Board{Name: "dense", Ties: definition.Dense}, definition.Board{Name: "member", Ties: definition.ByMember},
			definition.Board{Name: "laps", Order: definition.Asc}, definition.Board{Name: "week", Period: "week"})
		for _, board := range []string{"first", "shared", "dense", "member", "laps"} {
			a := n.Do("POST", "/v1/boards/"+board+"/scores", `{"updates":[{"member":"e","score":30},{"member":"d","score":20,"data":7},
				{"member":"a","score":20},{"member":"c","score":20},{"member":"b","score":10}]}`)
			require.Equal(t, 200, a.Status, a.Body)
		}
		for _, c := range []struct{ board, query, want string }{
			{"first", top + "min_score=20",
				`"total":5,"count":4,"top":[{"rank":1,"member":"e","score":30},{"rank":2,"member":"d","score":20,"data":7}],"cursor":CURSOR}`},
			{"first", top + "max_score=20",
				`"total":5,"count":4,"top":[{"rank":2,"member":"d","score":20,"data":7},{"rank":3,"member":"a","score":20}],"cursor":CURSOR}`},
			{"first", top + "min_score=21&max_score=30", `"total":5,"count":1,"top":[{"rank":1,"member":"e","score":30}],"cursor":null}`},
			{"first", top + "min_score=11&max_score=19", `"total":5,"count":0,"top":[],"cursor":null}`},
			{"first", top + "min_score=20&from_rank=4", `"total":5,"count":4,"top":[{"rank":4,"member":"c","score":20}],"cursor":null}`},
			{"first", top + "min_score=20&from_rank=5", `"total":5,"count":4,"top":[],"cursor":null}`},
			{"laps", top + "min_score=20",
				`"total":5,"count":4,"top":[{"rank":2,"member":"d","score":20,"data":7},{"rank":3,"member":"a","score":20}],"cursor":CURSOR}`},
			{"laps", top + "max_score=15", `"total":5,"count":1,"top":[{"rank":1,"member":"b","score":10}],"cursor":null}`},

			{"first", count, `"total":5,"count":5}`},
			{"first", count + "min_score=20&max_score=20", `"total":5,"count":3}`},
			{"laps", count + "min_score=-9007199254740991&max_score=19", `"total":5,"count":1}`},

			{"first", at + "score=20",
				`"total":5,"score":20,"rank":5,"count":3,"members":[{"rank":2,"member":"d","score":20,"data":7},{"rank":3,"member":"a",` +
					`"score":20}],"cursor":CURSOR}`},
			{"shared", at + "score=20",
				`"total":5,"score":20,"rank":2,"count":3,"members":[{"rank":2,"member":"d","score":20,"data":7},{"rank":2,"member":"a",` +
					`"score":20}],"cursor":CURSOR}`},
			{"dense", at + "score=10", `"total":5,"score":10,"rank":3,"count":1,"members":[{"rank":3,"member":"b","score":10}],"cursor":null}`},
			{"member", at + "score=20",
				`"total":5,"score":20,"rank":2,"count":3,"members":[{"rank":2,"member":"a","score":20},{"rank":3,"member":"c",` +
					`"score":20}],"cursor":CURSOR}`},
			{"laps", at + "score=-5", `"total":5,"score":-5,"rank":1,"count":0,"members":[],"cursor":null}`},
			{"first", at + "score=5", `"total":5,"score":5,"rank":6,"count":0,"members":[],"cursor":null}`},

			{"first", members + "id=b&id=c&id=x&id=d&id=b",
				`"total":5,"members":[{"member":"b","rank":5,"among":3,"score":10},{"member":"c","rank":4,"among":2,"score":20},
				{"member":"x","rank":null,"among":null,"score":null},{"member":"d","rank":2,"among":1,"score":20,"data":7},
				{"member":"b","rank":5,"among":3,"score":10}]}`},
			{"first", members + "sort=rank&id=b&id=x&id=c&id=d",
				`"total":5,"members":[{"member":"d","rank":2,"among":1,"score":20,"data":7},{"member":"c","rank":4,"among":2,"score":20},
				{"member":"b","rank":5,"among":3,"score":10},{"member":"x","rank":null,"among":null,"score":null}]}`},
			{"shared", members + "id=b&id=c&id=d",
				`"total":5,"members":[{"member":"b","rank":5,"among":3,"score":10},{"member":"c","rank":2,"among":1,"score":20},` +
					`{"member":"d","rank":2,"among":1,"score":20,"data":7}]}`},
			{"dense", members + "id=b&id=c&id=d",
				`"total":5,"members":[{"member":"b","rank":3,"among":2,"score":10},{"member":"c","rank":2,"among":1,"score":20},` +
					`{"member":"d","rank":2,"among":1,"score":20,"data":7}]}`},
			{"member", members + "id=d&id=a",
				`"total":5,"members":[{"member":"d","rank":4,"among":2,"score":20,"data":7},{"member":"a","rank":2,"among":1,"score":20}]}`},
			{"laps", members + "id=e&id=b",
				`"total":5,"members":[{"member":"e","rank":5,"among":2,"score":30},{"member":"b","rank":1,"among":1,"score":10}]}`},
		} {
			a := n.Require(200, "GET", "/v1/boards/"+c.board+c.query, "")
			var page struct{ Cursor *string }
			a.Into(&page)
			if strings.Contains(c.want, "CURSOR") {
				require.NotNil(t, page.Cursor, "%s%s: %s", c.board, c.query, a.Body)
				c.want = strings.Replace(c.want, "CURSOR", fmt.Sprintf("%q", *page.Cursor), 1)
			}
			require.JSONEq(t, fmt.Sprintf(`{"board":%q,"period":"","ends":null,"final":false,`, c.board)+c.want, a.Body, "%s%s", c.board, c.query)
		}

		// Pages of those with some scores end with them.
		for path, want := range map[string]string{
			top + "min_score=20": "e d a c", top + "max_score=20": "d a c b", top + "min_score=20&max_score=20": "d a c", at + "score=20": "d a c",
		} {
			require.Equal(t, want, strings.Join(walk(t, n, "/v1/boards/first"+path), " "), path)
		}

		// Of a period, there is told which it is.
		for _, path := range []string{"/top?min_score=1", "/at?score=1", "/count", "/members?id=a"} {
			var head struct {
				Board, Period, Ends string
				Final               bool
			}
			n.Do("GET", "/v1/boards/week@-1"+path, "").Into(&head)
			require.Equal(t, "week@-1", head.Board)
			require.Regexp(t, `^\d{4}-W\d\d$`, head.Period)
			require.Regexp(t, `T00:00:00.000Z$`, head.Ends)
			require.True(t, head.Final)
		}

		var info struct {
			Memory int64
			Tie    *int64 `json:"tie_resolution_us"`
		}
		n.Do("GET", "/v1/boards/first", "").Into(&info)
		require.Greater(t, info.Memory, int64(5*30))
		require.Less(t, info.Memory, int64(5*1000))
		require.Positive(t, *info.Tie)
		n.Do("GET", "/v1/boards/member", "").Into(&info)
		require.Nil(t, info.Tie)
		require.Contains(t, n.Do("GET", "/v1/boards/week@-1", "").Body, `"memory":0,"tie_resolution_us":null,`)
	})
}

func TestPaginationOverHTTP(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		var updates []string
		for i := range 25 {
			updates = append(updates, fmt.Sprintf(`{"member":"m%02d","score":%d}`, i, 100-i))
		}
		n.Require(200, "POST", "/v1/boards/b/scores", `{"updates":[`+strings.Join(updates, ",")+`]}`)
		type page struct {
			Total  int
			Top    []struct{ Rank, Score int }
			Cursor *string
		}
		get := func(query string) (p page) {
			a := n.Require(200, "GET", "/v1/boards/b/top"+query, "")
			a.Into(&p)
			return p
		}
		p := get("")
		require.Len(t, p.Top, 10)
		require.Equal(t, 25, p.Total)
		p = get("?limit=20&cursor=" + *p.Cursor)
		require.Len(t, p.Top, 15)
		require.Equal(t, 11, p.Top[0].Rank)
		require.Nil(t, p.Cursor)
		p = get("?from_rank=24&limit=5")
		require.Equal(t, 24, p.Top[0].Rank)
		require.Len(t, p.Top, 2)
		require.Empty(t, get("?from_rank=26").Top)
		require.Contains(t, n.Do("GET", "/v1/boards/b/top?from_rank=26", "").Body, `"top":[],"cursor":null`)
	})
}

// A loop over pages may begin with an empty cursor, on each resource that has pages.
func TestEmptyCursorMeansNone(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b", Kind: "user"},
		definition.Board{Name: "fans:{star}"})
	for _, path := range []string{"/v1/boards/b", "/v1/boards/fans:s1", "/v1/boards/fans:s2"} {
		n.Require(200, "POST", path+"/scores", `{"updates":[{"member":"x","score":3},{"member":"y","score":3}]}`)
	}
	for _, path := range []string{"/v1/boards/b/hidden/x", "/v1/boards/b/hidden/y", "/v1/hidden/user/x", "/v1/hidden/user/y"} {
		n.Require(204, "PUT", path, `{}`)
	}
	n.Require(200, "POST", "/v1/boards/b/scores", `{"updates":[{"member":"v","score":3},{"member":"w","score":3}]}`)
	for _, path := range []string{
		"/v1/boards/b/top?limit=1",
		"/v1/boards/b/at?score=3&limit=1",
		"/v1/boards/fans:%7Bstar%7D/instances?limit=1",
		"/v1/boards/b/hidden?limit=1",
		"/v1/hidden/user?limit=1",
		"/v1/audit?limit=1",
	} {
		without := n.Require(200, "GET", path, "")
		require.NotContains(t, without.Body, `"cursor":null`, "there are more pages of %s", path)
		empty := n.Require(200, "GET", path+"&cursor=", "")
		require.Equal(t, without.Body, empty.Body)
	}
	n.Require(200, "GET", "/v1/boards/b/top?from_rank=2&cursor=", "")
}
