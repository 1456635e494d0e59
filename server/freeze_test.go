package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/server/servertest"
)

// frozenOf is the freeze in an answer, as JSON; "" for none.
func frozenOf(t *testing.T, a servertest.Answer) string {
	t.Helper()
	_, rest, there := strings.Cut(a.Body, `"frozen":`)
	if !there {
		return ""
	}
	frozen, _, _ := strings.Cut(rest, "}")
	require.Regexp(t, `^\{"since":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","reveals":"(auto|host)"$`, frozen)
	return frozen + "}"
}

// What a host does over HTTP: freeze a board, look at what comes next, reveal it step by step, and the rest at once. Each answer says
// that the board is frozen, and each act leaves a line.
func TestFreezeAndRevealOverHTTP(t *testing.T) {
	setup := servertest.With(servertest.Config{}, definition.Board{Name: "finale", Kind: "user", History: time.Minute})
	setup.OnEngines(t, func(t *testing.T, n *servertest.Node) {
		do := func(status int, method, path, body, want string) servertest.Answer {
			t.Helper()
			a := n.Do(method, path, body)
			require.Equal(t, status, a.Status, a.Body)
			if want != "" {
				require.JSONEq(t, want, a.Body)
			}
			return a
		}
		do(201, "PUT", "/v1/members/user/c", `{"name":"Cem","avatar":"/c.png"}`, "")
		do(200, "POST", "/v1/boards/finale/scores",
			`{"updates":[{"member":"a","score":30},{"member":"b","score":20},{"member":"c","score":10}]}`, "")

		a := do(200, "POST", "/v1/boards/finale/freeze", `{"reason":"the last ten minutes","by":"kim"}`, "")
		frozen := frozenOf(t, a)
		require.Contains(t, frozen, `"host"`)
		require.JSONEq(t, `{"board":"finale","period":"","frozen":`+frozen+`}`, a.Body)
		do(200, "POST", "/v1/boards/finale/freeze", `{"reason":"again"}`, a.Body)
		for _, path := range []string{"", "/top", "/at?score=1", "/count", "/search?q=a", "/members?id=a", "/members/a", "/history",
			"/periods", "/pending"} {
			require.Equal(t, frozen, frozenOf(t, do(200, "GET", "/v1/boards/finale"+path, "", "")), path)
		}
		for _, path := range []string{"/v1/overview", "/v1/overview?limit=5", "/v1/members/user/a/boards"} {
			require.Equal(t, frozen, frozenOf(t, do(200, "GET", path, "", "")), path)
		}

		do(200, "POST", "/v1/boards/finale/scores", `{"member":"c","score":25,"id":"1"}`, `{"board":"finale","member":"c","frozen":true}`)
		do(200, "POST", "/v1/boards/finale/scores?rank=true", `{"updates":[{"member":"c","score":25,"id":"1"},{"member":"d","score":5}]}`,
			`{"results":[{"board":"finale","member":"c","frozen":true,"duplicate":true},{"board":"finale","member":"d","frozen":true}]}`)
		do(200, "PUT", "/v1/boards/finale/members/e/score", `{"score":7,"reason":"lost"}`, `{"board":"finale","member":"e","frozen":true}`)
		do(200, "DELETE", "/v1/boards/finale/members/b", "", `{"board":"finale","member":"b","frozen":true}`)
		do(404, "GET", "/v1/boards/finale/members/d", "", "")

		head := `"board":"finale","period":"","ends":null,"final":false,"frozen":` + frozen
		d := `{"member":"d","public":null,"pending":{"rank":4,"score":5}}`
		e := `{"member":"e","public":null,"pending":{"rank":3,"score":7}}`
		c := `{"member":"c","name":"Cem","avatar":"/c.png","public":{"rank":3,"score":10},"pending":{"rank":1,"score":35}}`
		b := `{"member":"b","public":{"rank":2,"score":20},"pending":null}`
		var page struct{ Cursor string }
		a = do(200, "GET", "/v1/boards/finale/pending?limit=2", "", "")
		a.Into(&page)
		require.JSONEq(t, `{`+head+`,"total":4,"entries":[`+e+`,`+d+`],"cursor":"`+page.Cursor+`"}`, strings.Replace(a.Body, d+","+e, e+","+d, 1))
		do(200, "GET", "/v1/boards/finale/pending?limit=2&cursor="+page.Cursor, "", `{`+head+`,"total":4,"entries":[`+c+`,`+b+`],"cursor":null}`)
		do(200, "GET", "/v1/boards/finale/pending?order=rank&limit=3", "", "")
		require.Contains(t, n.Do("GET", "/v1/boards/finale/pending?order=rank", "").Body, `"entries":[`+c+`,`+e+`,`+d+`,`+b+`]`)

		require.Equal(t, "{\"member\":\"a\",\"score\":30}\n{\"member\":\"b\",\"score\":20}\n{\"member\":\"c\",\"score\":10}",
			do(200, "GET", "/v1/boards/finale/export", "", "").Body)
		require.Equal(t, "member,score,data\nc,35,\na,30,\ne,7,\nd,5,",
			do(200, "GET", "/v1/boards/finale/export?format=csv&pending=true", "", "").Body)

		do(200, "POST", "/v1/boards/finale/reveal", `{"members":["d","b"],"reason":"places 4 and 5"}`, `{"board":"finale","period":"",`+
			`"frozen":`+frozen+`,"revealed":[{"rank":4,"member":"d","score":5,"previous":null},`+
			`{"rank":null,"member":"b","score":null,"previous":{"rank":2,"score":20}}],"left":2}`)
		do(200, "POST", "/v1/boards/finale/reveal", `{"members":["b","a","nobody"]}`,
			`{"board":"finale","period":"","frozen":`+frozen+`,"revealed":[],"left":2}`)
		do(200, "POST", "/v1/boards/finale/reveal", `{"members":["c"]}`, `{"board":"finale","period":"","frozen":`+frozen+`,"revealed":[`+
			`{"rank":1,"member":"c","score":35,"name":"Cem","avatar":"/c.png","previous":{"rank":2,"score":10}}],"left":1}`)
		do(200, "POST", "/v1/boards/finale/reveal", `{"all":true,"by":"kim"}`,
			`{"board":"finale","period":"","revealed":[{"rank":3,"member":"e","score":7,"previous":null}],"count":1,"left":0}`)
		do(200, "GET", "/v1/boards/finale/pending", "",
			`{"board":"finale","period":"","ends":null,"final":false,"total":0,"entries":[],"cursor":null}`)
		do(200, "POST", "/v1/boards/finale/scores", `{"member":"c","score":25,"id":"1"}`,
			`{"board":"finale","period":"","member":"c","score":35,"rank":1,"previous":{"score":10,"rank":null},"duplicate":true}`)

		do(200, "POST", "/v1/boards/finale/freeze", `{"reason":"by mistake"}`, "")
		do(200, "POST", "/v1/boards/finale/scores", `{"member":"a","score":1}`, "")
		do(200, "POST", "/v1/boards/finale/unfreeze", `{"reason":"it was the wrong board"}`, `{"board":"finale","period":"","revealed":1}`)
		do(200, "POST", "/v1/boards/finale/scores", `{"member":"a","score":1}`,
			`{"board":"finale","period":"","member":"a","score":32,"rank":2,"previous":{"score":31,"rank":2},"duplicate":false}`)

		lines := n.Do("GET", "/v1/audit?board=finale", "").Body
		for _, action := range []string{`"action":"freeze","board":"finale","reason":"the last ten minutes","by":"kim"`, `"action":"unfreeze"`,
			`"action":"reveal"`} {
			require.Contains(t, lines, action)
		}
		require.Equal(t, 2, strings.Count(lines, `"action":"freeze"`), "one that was frozen already has no line")
		require.Equal(t, 3, strings.Count(lines, `"action":"reveal"`))
	})
}

// Definitions have the fields of a freeze, and an event that updates a frozen board can be taken back unseen.
func TestFreezeIsDefined(t *testing.T) {
	servertest.With(servertest.Config{}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		board := `{"board":"finale","mode":"sum","order":"desc","ties":"first","ends":"2199-01-01T00:00:00Z","freeze":"10m","reveal":"host",` +
			`"reveal_within":"2h","freeze_others":"open","kind":"member"}`
		n.Require(201, "PUT", "/v1/boards/finale", board)
		var info struct{ Definition map[string]any }
		n.Require(200, "GET", "/v1/boards/finale", "").Into(&info)
		for field, want := range map[string]string{"freeze": "10m", "reveal": "host", "reveal_within": "2h", "freeze_others": "open"} {
			require.Equal(t, want, info.Definition[field])
		}
		event := `{"event":"vote","freeze_feed":"on","updates":[{"board":"finale","member":"{act}","score":1}]}`
		require.JSONEq(t, event, n.Require(201, "PUT", "/v1/events/vote", event).Body)

		n.Require(200, "POST", "/v1/boards/finale/freeze", `{"reason":"the finish"}`)
		n.Require(200, "POST", "/v1/events/vote", `{"id":"1","act":"a"}`)
		require.JSONEq(t, `{"duplicate":false,"results":[{"board":"finale","member":"a","frozen":true,"taken_back":true}]}`,
			n.Require(200, "POST", "/v1/events/vote/take-back", `{"id":"1"}`).Body)
		require.Contains(t, n.Require(200, "GET", "/v1/boards/finale/pending", "").Body, `"total":0`)
	})
}

// What cannot be is refused, names the field, and changes nothing.
func TestFreezeRefusals(t *testing.T) {
	setup := servertest.With(servertest.Config{}, definition.Board{Name: "b"}, definition.Board{Name: "w", Window: time.Minute},
		definition.Board{Name: "day", Period: "day"})
	setup.OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"a","score":1}`)
		many := `["m"` + strings.Repeat(`,"m"`, 128) + `]`
		for _, r := range []struct{ request, body, want string }{
			{"POST b/freeze", `{}`, "invalid_request reason"},
			{"POST b/freeze", `{"reason":""}`, "invalid_request reason"},
			{"POST b/freeze", `{"reason":"x","until":"now"}`, "invalid_request until"},
			{"POST b/freeze?reason=x", ``, "invalid_request reason"},
			{"POST none/freeze", `{"reason":"x"}`, "unknown_board board"},
			{"POST w/freeze", `{"reason":"x"}`, "conflict board"},
			{"POST day@-1/freeze", `{"reason":"x"}`, "not_open board"},
			{"POST none/unfreeze", `{"reason":"x"}`, "unknown_board board"},
			{"POST w/unfreeze", `{"reason":"x"}`, "conflict board"},
			{"POST day@-1/unfreeze", `{"reason":"x"}`, "not_open board"},
			{"POST day@-1/reveal", `{"all":true}`, "not_open board"},
			{"GET day@-1/pending", ``, "not_open board"},
			{"POST b/unfreeze", `{}`, "invalid_request reason"},
			{"POST b/unfreeze", `{"reason":"x"}`, "conflict board"},
			{"POST b/reveal", `{}`, "invalid_request members"},
			{"POST b/reveal", `{"all":false}`, "invalid_request members"},
			{"POST b/reveal", `{"all":1}`, "invalid_request all"},
			{"POST b/reveal", `{"all":true,"members":["a"]}`, "invalid_request all"},
			{"POST b/reveal", `{"members":[]}`, "invalid_request members"},
			{"POST b/reveal", `{"members":"a"}`, "invalid_request members"},
			{"POST b/reveal", `{"members":["a",7]}`, "invalid_request members[1]"},
			{"POST b/reveal", `{"members":["a",""]}`, "invalid_request members[1]"},
			{"POST b/reveal", `{"members":` + many + `}`, "too_large members"},
			{"POST b/reveal", `{"members":["a"]}`, "conflict board"},
			{"POST b/reveal", `{"all":true}`, "conflict board"},
			{"POST w/reveal", `{"all":true}`, "conflict board"},
			{"POST none/reveal", `{"all":true}`, "unknown_board board"},
			{"GET none/pending", ``, "unknown_board board"},
			{"GET w/pending", ``, "conflict board"},
			{"GET b/export?pending=yes", ``, "invalid_request pending"},
			{"GET w/export?pending=true", ``, "conflict board"},
			{"GET b/pending?order=score", ``, "invalid_request order"},
			{"GET b/pending?limit=1001", ``, "invalid_request limit"},
			{"GET b/pending?cursor=x", ``, "invalid_request cursor"},
			{"GET b/pending?around=1", ``, "invalid_request around"},
		} {
			method, path, _ := strings.Cut(r.request, " ")
			require.Equal(t, r.want, code(n.Do(method, "/v1/boards/"+path, r.body)), fmt.Sprint(r))
		}
		require.Equal(t, "", frozenOf(t, n.Do("GET", "/v1/boards/b", "")))
		require.NotContains(t, n.Do("GET", "/v1/audit", "").Body, "freeze")
	})
}

// The answers about a reveal and about pending scores have the columns.
func TestRevealOfColumns(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "contest", Reveal: definition.RevealHost, Columns: definition.Columns{
		{Name: "solved", Max: 3}, {Name: "penalty", Order: definition.Asc, Max: 99}}}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(200, "POST", "/v1/boards/contest/scores", `{"member":"a","columns":{"solved":1,"penalty":10}}`)
		n.Require(200, "POST", "/v1/boards/contest/freeze", `{"reason":"the last hour"}`)
		a := n.Require(200, "POST", "/v1/boards/contest/scores", `{"member":"a","columns":{"solved":1,"penalty":5}}`)
		require.JSONEq(t, `{"board":"contest","member":"a","frozen":true}`, a.Body)
		public := `{"rank":1,"score":90,"columns":{"solved":1,"penalty":10}}`
		pending := `{"rank":1,"score":185,"columns":{"solved":2,"penalty":15}}`
		a = n.Require(200, "GET", "/v1/boards/contest/pending", "")
		require.Contains(t, a.Body, `"entries":[{"member":"a","public":`+public+`,"pending":`+pending+`}]`)
		a = n.Require(200, "POST", "/v1/boards/contest/reveal", `{"members":["a"]}`)
		require.JSONEq(t, `{"board":"contest","period":"","revealed":[{"rank":1,"member":"a","score":185,"columns":{"solved":2,"penalty":15},
			"previous":`+public+`}],"left":0}`, a.Body)
	})
}
