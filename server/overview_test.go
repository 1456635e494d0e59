package server_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/definition/definitiontest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// overview asks until the answer is as wanted: one may be a second old.
func overview(t testing.TB, n *servertest.Node, want string) {
	t.Helper()
	varies := regexp.MustCompile(`"(now|epoch|period|opens|ends)":"[^"]+"|"(name)":"[0-9][^"]+"`)
	redistest.Eventually(t, "an overview", func() error {
		a := n.Require(200, "GET", "/v1/overview", "")
		body := regexp.MustCompile(`"rate":\d+`).ReplaceAllString(a.Body, `"rate":null`) // a slow machine has measured one
		if got := varies.ReplaceAllString(body, `"$1$2":"…"`); got != want {
			return fmt.Errorf("is %s\nwant %s", got, want)
		}
		return nil
	})
}

// One read tells of all boards what a front page shows, and what is built is not built for
// it.
func TestOverview(t *testing.T) {
	setup := servertest.With(servertest.Config{},
		definition.Board{Name: "stars", Title: definition.Label{"en": "Stars", "zh": "明星"}, Icon: "/star.svg", Period: "week",
			Kind: "star", Display: definition.Display{Unit: definition.Label{"": "flowers"}}},
		definition.Board{Name: "fans:{star}", Title: definition.Label{"": "Fans of {star}"}}, definition.Board{Name: "empty"},
		definition.Board{Name: "all", Union: &definition.Union{Of: []string{"stars"}, Refresh: time.Hour}, Kind: "star"})
	setup.OnEngines(t, func(t *testing.T, n *servertest.Node) {
		const (
			all = `{"board":"all","period":"","ends":null,"total":0,"epoch":"","seq":0,"rate":null,"leader":null,"built":true,` +
				`"info":{"kind":"star","period":null}}`
			empty = `{"board":"empty","period":"","ends":null,"total":0,"epoch":"","seq":0,"rate":null,"leader":null,` +
				`"built":false,"info":{"kind":"member","period":null}}`
			stars = `{"board":"stars","period":"…","ends":"…","total":%d,"epoch":%q,"seq":%d,"rate":null,"leader":%s,` +
				`"built":false,"info":{"title":{"en":"Stars","zh":"明星"},"icon":"/star.svg","kind":"star","display":{"unit":"flowers"},` +
				`"period":{"name":"…","every":"week","timezone":"UTC","opens":"…","ends":"…"}}}`
			answer = `{"now":"…","boards":[%s,%s,%s],"families":[{"board":"fans:{star}","instances":%d,%s"info":{"title":"Fans of ` +
				`{star}","kind":"member","period":null}}]}`
			leader = `{"rank":1,"member":"s17","score":9,"name":"Lin Xi","avatar":"/a.png","data":{"x":1}}`
			second = `{"rank":2,"member":"s3","score":3}`
			first  = `"first":[{"board":"fans:s17","parts":[{"kind":"star","member":"s17","name":"Lin Xi","avatar":"/a.png"}]},` +
				`{"board":"fans:s3","parts":[{"kind":"star","member":"s3"}]}],`
			profile = `{"name":"Lin Xi","avatar":"/a.png"}`
		)
		overview(t, n, fmt.Sprintf(answer, all, empty, fmt.Sprintf(stars, 0, "", 0, "null"), 0, ""))

		n.Require(201, "PUT", "/v1/members/star/s17", profile)
		for board, body := range map[string]string{
			"stars":    `{"updates":[{"member":"s3","score":3},{"member":"s17","score":9,"data":{"x":1}}]}`,
			"fans:s17": `{"member":"u4","score":1}`, "fans:s3": `{"member":"u4","score":1}`,
		} {
			n.Require(200, "POST", "/v1/boards/"+board+"/scores", body)
		}
		overview(t, n, fmt.Sprintf(answer, all, empty, fmt.Sprintf(stars, 2, "…", 2, leader+`,"runners_up":[`+second+"]"), 2, first))

		var top struct{ Top []json.RawMessage }
		n.Do("GET", "/v1/boards/stars/top", "").Into(&top)
		require.JSONEq(t, leader, string(top.Top[0]), "an entry as other answers have it")
		require.Equal(t, 200, n.Do("GET", "/v1/boards/all/top", "").Status) // somebody asks for a result
		overview(t, n, fmt.Sprintf(answer, `{"board":"all","period":"","ends":null,"total":2,"epoch":"…","seq":1,"rate":null,`+
			`"leader":{"rank":1,"member":"s17","score":9,"name":"Lin Xi","avatar":"/a.png"},"runners_up":[`+second+
			`],"built":true,"info":{"kind":"star","period":null}}`, empty,
			fmt.Sprintf(stars, 2, "…", 2, leader+`,"runners_up":[`+second+"]"), 2, first))

		n.Require(200, "HEAD", "/v1/overview", "")
		servertest.RequireProblem(t, n.Do("GET", "/v1/overview?board=stars", ""), 400, "invalid_request", "board")
	})
}

// However many ask, Redis is asked once a second.
func TestOverviewIsSharedByRequests(t *testing.T) {
	t.Parallel()
	const boards, askers = 40, 200
	r := redistest.Start(t)
	var defined []definition.Board
	for i := range boards {
		defined = append(defined, definition.Board{Name: fmt.Sprintf("b%02d", i)})
	}
	n := servertest.Start(t, r.URL(), servertest.Config{}, defined...)
	before, began := scriptCalls(t, r), time.Now()
	var all sync.WaitGroup
	for range askers {
		all.Go(func() {
			a, err := servertest.Try(t, "GET", "http://"+n.Addr+"/v1/overview", "")
			if err != nil || a.Status != 200 {
				t.Error(err, a.Status, a.Body)
			}
		})
	}
	redistest.Wait(t, "the callers of the test", all.Wait)
	for range askers / 10 { // one after another, too
		n.Require(200, "GET", "/v1/overview", "")
	}
	seconds := int(time.Since(began)/time.Second) + 1
	made := scriptCalls(t, r) - before
	require.GreaterOrEqual(t, made, boards)
	require.Less(t, made, (seconds+1)*(boards+20), "with what a node does by itself")
}

// What fails is not kept: whoever asks next may have more luck.
func TestOverviewThatFailedIsReadAgain(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{}, definition.Board{Name: "b"})
	is := func(status int) {
		t.Helper()
		n.Until(fmt.Sprint("an answer ", status), status, "GET", "/v1/overview", "")
	}
	is(200)
	r.Kill()
	is(503)
	servertest.RequireProblem(t, n.Do("GET", "/v1/overview", ""), 503, "unavailable", "")
	r.Start()
	is(200)
}

// A store that hangs is given up long before each board has been asked for in vain.
func TestOverviewOfHangingStore(t *testing.T) {
	t.Parallel()
	p := redistest.StartProxy(t, redistest.Start(t).URL())
	var defined []definition.Board
	for i := range 64 {
		defined = append(defined, definition.Board{Name: fmt.Sprintf("b%02d", i)})
	}
	n := servertest.Start(t, p.URL(), servertest.Config{Ranking: ranking.Config{CallTimeout: 2 * time.Second}}, defined...)
	// A slow machine may need more than the 2 s to read 64 boards.
	n.Until("an overview", 200, "GET", "/v1/overview", "")
	p.Hold("evalsha")
	redistest.Until(t, "an overview to fail", func() bool { // an answer may be a second old
		a := n.Do("GET", "/v1/overview", "")
		if a.Status != 200 {
			servertest.RequireProblem(t, a, 503, "unavailable", "")
		}
		return a.Status != 200
	})
	require.Less(t, p.Held(), 32, "connections over which nothing came, those of the node itself among them")
}

// Of very many boards the first are told, and how many there are beside.
func TestOverviewOfManyBoards(t *testing.T) {
	t.Parallel()
	var defined []definition.Board
	for i := range 503 {
		defined = append(defined, definition.Board{Name: fmt.Sprintf("b%03d", i)})
	}
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, defined...)
	var answer struct {
		Boards []struct{ Board string }
		Left   int `json:"left_off"`
	}
	n.Do("GET", "/v1/overview", "").Into(&answer)
	require.Len(t, answer.Boards, 500)
	require.Equal(t, "b499", answer.Boards[499].Board)
	require.Equal(t, 3, answer.Left)
}

// One board that cannot be read hides none of the others.
func TestOverviewWithUnavailableBoard(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{}, definition.Board{Name: "bad"}, definition.Board{Name: "good"},
		definition.Board{Name: "many:{x}"})
	require.NoError(t, r.Admin().Set(t.Context(), "rc:{"+definitiontest.NameOf("bad", "m")+"}::m", "no hash", 0).Err())
	n.Require(200, "POST", "/v1/boards/good/scores", `{"member":"m","score":1}`)
	overview(t, n, `{"now":"…","boards":[{"board":"bad","period":"","ends":null,"total":0,"epoch":"","seq":0,"rate":null,`+
		`"leader":null,"built":false,"unavailable":true},`+
		`{"board":"good","period":"","ends":null,"total":1,"epoch":"…","seq":1,"rate":null,"leader":{"rank":1,"member":"m",`+
		`"score":1},"built":false,"info":{"kind":"member","period":null}}],"families":[{"board":"many:{x}","instances":0,`+
		`"info":{"kind":"member","period":null}}]}`)
}

// One request returns what the cards of a page of a family's boards show: the members of their names, leaders and totals.
func TestFamilyOverview(t *testing.T) {
	setup := servertest.With(servertest.Config{},
		definition.Board{Name: "fans:{star}", Title: definition.Label{"": "Fans of {star}"}, Kind: "user"}, definition.Board{Name: "plain"})
	setup.OnEngines(t, func(t *testing.T, n *servertest.Node) {
		for path, name := range map[string]string{"star/s1": "Lin Xi", "star/s2": "Nova", "user/u4": "Ana"} {
			n.Require(201, "PUT", "/v1/members/"+path, `{"name":"`+name+`","avatar":"/a.png"}`)
		}
		n.Require(204, "PUT", "/v1/hidden/star/s2", "{}")
		for _, board := range []string{"fans:s1", "fans:s2", "fans:s3", "plain"} {
			n.Require(200, "POST", "/v1/boards/"+board+"/scores",
				`{"updates":[{"member":"u4","score":9},{"member":"u5","score":3}]}`)
		}
		type part struct{ Kind, Member, Name, Avatar string }
		type entry struct {
			Rank, Score  int64
			Member, Name string
		}
		var page struct {
			Board, Cursor string
			Total         int
			Boards        []struct {
				Board     string
				Total     int
				Parts     []part
				Leader    entry
				RunnersUp []entry `json:"runners_up"`
				Info      struct{ Title string }
			}
		}
		const path = "/v1/boards/fans:%7Bstar%7D/overview"
		n.Do("GET", path+"?limit=2", "").Into(&page)
		require.Equal(t, []any{"fans:{star}", 3, 2}, []any{page.Board, page.Total, len(page.Boards)})
		first := page.Boards[0]
		require.Equal(t, []any{"fans:s1", 2, "Fans of Lin Xi"}, []any{first.Board, first.Total, first.Info.Title})
		require.Equal(t, []part{{"star", "s1", "Lin Xi", "/a.png"}}, first.Parts)
		require.Equal(t, entry{1, 9, "u4", "Ana"}, first.Leader)
		require.Equal(t, []entry{{2, 3, "u5", ""}}, first.RunnersUp)
		require.Equal(t, []part{{Kind: "star", Member: "s2"}}, page.Boards[1].Parts, "a hidden member has neither name nor avatar")

		cursor := page.Cursor
		page.Boards, page.Cursor = nil, ""
		n.Do("GET", path+"?limit=2&cursor="+cursor, "").Into(&page)
		require.Len(t, page.Boards, 1)
		require.Equal(t, []any{"fans:s3", ""}, []any{page.Boards[0].Board, page.Cursor})

		page.Boards = nil
		n.Do("GET", path+"?prefix=fans:s2", "").Into(&page)
		require.Equal(t, []any{1, 1, "fans:s2"}, []any{page.Total, len(page.Boards), page.Boards[0].Board})
		names := n.Require(200, "GET", "/v1/boards/fans:%7Bstar%7D/instances?prefix=fans:s3", "")
		require.JSONEq(t, `{"board":"fans:{star}","total":1,"instances":["fans:s3"],"cursor":null}`, names.Body)
		for _, prefix := range []string{"", "%FF", "%00"} {
			servertest.RequireProblem(t, n.Do("GET", path+"?prefix="+prefix, ""), 400, "invalid_request", "prefix")
		}

		page.Boards = nil
		n.Do("GET", "/v1/boards/plain/overview", "").Into(&page)
		require.Equal(t, "plain", page.Boards[0].Board, "a board is its own only instance")
		require.Empty(t, page.Boards[0].Parts)

		servertest.RequireProblem(t, n.Do("GET", path+"?limit=101", ""), 400, "invalid_request", "limit")
		servertest.RequireProblem(t, n.Do("GET", "/v1/boards/none:%7Bx%7D/overview", ""), 404, "unknown_board", "board")
	})
}
