package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

func TestDefinitionsOverHTTP(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, at string) {
		a, b := servertest.Start(t, at, servertest.Config{}), servertest.Start(t, at, servertest.Config{})
		answer := a.Require(201, "PUT", "/v1/boards/stars", `{"period":"week","timezone":"Asia/Shanghai","kind":"star"}`)
		week := `{"board":"stars","mode":"sum","order":"desc","ties":"first","period":"week","timezone":"Asia/Shanghai",` +
			`"week_starts":"monday","day_starts_at":"00:00","keep":8,"kind":"star"}`
		require.JSONEq(t, week, answer.Body)
		a.Require(200, "PUT", "/v1/boards/stars", `{"period":"week","timezone":"Asia/Shanghai","kind":"star"}`)
		// How long request ids count, of a board and of an event.
		require.Contains(t, a.Do("PUT", "/v1/boards/paid", `{"ids":"7d"}`).Body, `"ids":"7d"`)
		require.Equal(t, "invalid_request ids", code(a.Do("PUT", "/v1/boards/paid", `{"ids":"9m"}`)))
		require.Contains(t, a.Do("PUT", "/v1/events/pay",
			`{"ids":"1d","updates":[{"board":"paid","member":"{user}","score":"{coins}"}]}`).Body, `"ids":"1d"`)
		require.Equal(t, "invalid_request ids", code(a.Do("PUT", "/v1/events/pay",
			`{"ids":"8d","updates":[{"board":"paid","member":"{user}","score":"{coins}"}]}`)))
		a.Require(204, "DELETE", "/v1/events/pay", "")
		a.Require(204, "DELETE", "/v1/boards/paid", "")
		family := "/v1/boards/" + url.PathEscape("fans:{star}")
		a.Require(201, "PUT", family, `{"period":"day","max_instances":3}`)

		// Another node knows them at once, and all that works for a board does for an instance.
		for i := range 3 {
			answer = b.Require(200, "POST", fmt.Sprintf("/v1/boards/fans:s%d/scores", i), `{"member":"u","score":3,"data":{"from":"b"}}`)
		}
		require.Equal(t, "conflict board", code(b.Do("POST", "/v1/boards/fans:s3/scores", `{"member":"u","score":3}`)))
		require.Contains(t, a.Do("GET", "/v1/boards/fans:s2/top", "").Body, `"top":[{"rank":1,"member":"u","score":3,"data":{"from":"b"}}]`)
		require.Contains(t, a.Do("GET", "/v1/boards/fans:s2/members/u?around=1", "").Body, `"data":{"from":"b"}`)
		require.Contains(t, a.Do("GET", "/v1/boards/fans:s2/members?id=u", "").Body, `"data":{"from":"b"}`)
		require.Contains(t, a.Do("GET", "/v1/boards/fans:never/top", "").Body, `"total":0`, "an instance that nobody wrote to is an empty board")
		a.Require(200, "DELETE", "/v1/boards/fans:s2/members/u", "")
		answer = a.Do("GET", family, "")
		require.Contains(t, answer.Body,
			`{"board":"fans:{star}","instances":3,"info":{"kind":"member","period":{"every":"day","timezone":"UTC","opens":null,`+
				`"ends":null}},"definition":{"board":"fans:{star}",`)
		answer = a.Do("GET", family+"/instances?limit=2", "")
		var page struct {
			Instances []string
			Cursor    *string
		}
		answer.Into(&page)
		require.Equal(t, []string{"fans:s0", "fans:s1"}, page.Instances)
		require.JSONEq(t, `{"board":"fans:{star}","total":3,"instances":["fans:s2"],"cursor":null}`,
			a.Do("GET", family+"/instances?cursor="+*page.Cursor, "").Body)

		// What is there and what is not.
		answer = a.Do("GET", "/v1/boards", "")
		require.Contains(t, answer.Body, `{"boards":[{"board":"fans:{star}",`)
		answer = a.Do("GET", "/v1/boards/stars", "")
		require.Contains(t, answer.Body, `"definition":`+week)
		require.Contains(t, answer.Body, `{"board":"stars","period":"20`)
		answer = a.Do("GET", "/v1/boards/stars/periods", "")
		require.Contains(t, answer.Body, `"final":false,"total":0}]}`)
		answer = a.Do("GET", "/v1/boards/stars@-1/top", "")
		require.Contains(t, answer.Body, `"final":true,"total":0,"top":[],"cursor":null}`)
		require.Equal(t, "unknown_period board", code(a.Do("GET", "/v1/boards/stars@-9/top", "")))
		require.Equal(t, "unknown_period board", code(a.Do("GET", "/v1/boards/stars@2125-W01/top", "")))
		require.Equal(t, "unknown_board board", code(a.Do("GET", "/v1/boards/stars:x/top", "")))
		require.Equal(t, "unknown_board board", code(a.Do("GET", "/v1/boards/"+url.PathEscape("hot:{genre}"), "")))
		require.Equal(t, "unknown_board board", code(a.Do("GET", "/v1/boards/"+url.PathEscape("hot:{genre}")+"/instances", "")))
		require.Equal(t, "not_open board", code(a.Do("POST", "/v1/boards/stars@-1/scores", `{"member":"u","score":3}`)))
		require.Equal(t, "not_open board", code(a.Do("DELETE", "/v1/boards/stars@-1/members/u", "")))

		// What cannot be.
		for body, want := range map[string]string{
			`{"period":"fortnight"}`:                    "invalid_request period",
			`{"keep":3}`:                                "invalid_request keep",
			`{"mode":"sum","colour":"red"}`:             "invalid_request colour",
			`{"min":5,"max":4}`:                         "invalid_request max",
			`{"display":{"decimals":9}}`:                "invalid_request display.decimals",
			`{"period":"day","timezone":"Mars/Phobos"}`: "invalid_request timezone",
			`[]`:                           "invalid_request body",
			`{`:                            "invalid_request body",
			`{"mode":"sum","mode":"best"}`: "invalid_request mode",
		} {
			require.Equal(t, want, code(a.Do("PUT", "/v1/boards/other", body)), body)
		}
		require.Equal(t, "invalid_request board", code(a.Do("PUT", "/v1/boards/Stars", `{}`)))
		require.Equal(t, "conflict board", code(a.Do("PUT", "/v1/boards/"+url.PathEscape("fans:{idol}"), `{}`)))
		b.Require(200, "POST", "/v1/boards/stars/scores", `{"member":"s","score":3}`)
		require.Equal(t, "conflict period", code(a.Do("PUT", "/v1/boards/stars", `{"period":"day","timezone":"Asia/Shanghai"}`)))
		require.Equal(t, "conflict order", code(a.Do("PUT", "/v1/boards/stars", `{"order":"asc","period":"week","timezone":"Asia/Shanghai"}`)))
		a.Require(200, "PUT", "/v1/boards/stars", `{"mode":"best","period":"week","timezone":"Asia/Shanghai"}`)

		// Gone.
		a.Require(204, "DELETE", "/v1/boards/fans:s1", "")
		a.Require(204, "DELETE", family, "")
		require.Equal(t, "unknown_board board", code(a.Do("GET", "/v1/boards/fans:s0/top", "")))
		require.Equal(t, "unknown_board board", code(a.Do("POST", "/v1/boards/fans:s0/scores", `{"member":"u","score":3}`)))
		require.Equal(t, "unknown_board board", code(a.Do("DELETE", family, "")))
		require.Equal(t, "conflict board", code(a.Do("PUT", family, `{}`)), "its data are still going")
	})
}

// A period or a family where only a board can be is told to be one, by HTTP and over a
// socket, and nothing goes.
func TestNamesThatAreNoBoard(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "stars", Period: "week"},
		definition.Board{Name: "fans:{star}"})
	s := servertest.Dial(t, n.Addr)
	s.Send(`{"type":"subscribe","id":1,"board":"fans:{star}"}`)
	require.Contains(t, s.Next("error").Message, "board: is a family; name one of its boards, as fans:s17")
	for request, says := range map[string]string{
		"DELETE /v1/boards/stars@-1":                                      "board: has the period \"-1\"; a period cannot be deleted by itself",
		"DELETE /v1/boards/fans:s17@2026-W46":                             "a period cannot be deleted by itself",
		"GET /v1/boards/fans:%7Bstar%7D/top":                              "board: is a family; name one of its boards, as fans:s17",
		"GET /v1/boards/fans:%7Bstar%7D/members/m":                        "is a family",
		"GET /v1/boards/fans:%7Bstar%7D/periods":                          "is a family",
		"DELETE /v1/boards/fans:%7Bstar%7D/members/m":                     "is a family",
		`POST /v1/boards/fans:%7Bstar%7D/scores {"member":"m","score":1}`: "is a family",
	} {
		parts := append(strings.SplitN(request, " ", 3), "")
		a := n.Do(parts[0], parts[1], parts[2])
		servertest.RequireProblem(t, a, 400, "invalid_request", "board")
		require.Contains(t, strings.ReplaceAll(a.Body, `\"`, `"`), says, request)
	}
	n.Require(200, "GET", "/v1/boards/stars", "")
}

// A definition comes back as it was sent, whatever fields it has. Each request and answer is by the contract.
func TestDefinitionsWithEachField(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	for _, of := range []struct{ board, body string }{
		{"laps", `{"title":{"en":"Laps","zh":"圈"},"description":"Best laps","icon":"/laps.png",
			"mode":"best","order":"asc","ties":"first","retain":"30d",
			"member_ttl":"7d","limit":100,"tie_span":"1d","min":1,"max":3600000,"max_change":60000,
			"history":"1m","kind":"driver","display":{"format":"time_ms"}}`},
		{"shift", `{"mode":"sum","order":"desc","ties":"first","period":"8h","base":"2026-11-20T06:00:00.000Z","keep":3,` +
			`"kind":"member","display":{"unit":"boxes","decimals":1}}`},
		{"days", `{"mode":"sum","order":"desc","ties":"first","period":"week","timezone":"Asia/Shanghai","week_starts":"sunday",` +
			`"day_starts_at":"05:00","keep":8,"kind":"member"}`},
		{"spring", `{"mode":"last","order":"desc","ties":"shared","starts":"2026-03-01T00:00:00.000Z",` +
			`"ends":"2026-06-01T00:00:00.000Z","kind":"member"}`},
		{"hot", `{"mode":"sum","order":"desc","ties":"first","window":"3h","refresh":"live","kind":"member"}`},
		{"all", `{"mode":"sum","order":"desc","ties":"first","union":{"of":["shift","days"],"weights":[1,2],"aggregate":"max",` +
			`"last":2,"refresh":"1m"},"kind":"member"}`},
		{"fans:{who}", `{"mode":"sum","order":"desc","ties":"first","max_instances":7,"kind":"member"}`},
	} {
		path := "/v1/boards/" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(of.board)
		defined := n.Require(201, "PUT", path, of.body)
		require.JSONEq(t, `{"board":"`+of.board+`",`+of.body[1:], defined.Body)
		var state struct{ Definition map[string]any }
		n.Do("GET", path, "").Into(&state)
		var sent map[string]any
		defined.Into(&sent)
		require.Equal(t, sent, state.Definition)
	}
	event := `{"sender":"who","fields":{"n":{"min":1,"max":9},"who":{"kind":"driver"}},
		"updates":[{"board":"laps","member":"{who}","score":"{n}","op":"last","if":"absent","data":{"by":"{who}"}},
		{"board":"shift","member":"{who}","score":5}]}`
	require.JSONEq(t, `{"event":"lap",`+event[1:], n.Do("PUT", "/v1/events/lap", event).Body)
}

// Each code that the contract names for one request is what that request gets.
func TestRefusalsOfTheContract(t *testing.T) {
	t.Parallel()
	began := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"},
		definition.Board{Name: "days", Period: "day"},
		definition.Board{Name: "past", Starts: began, Ends: began.Add(time.Hour)},
		definition.Board{Name: "all", Union: &definition.Union{Of: []string{"b"}}})
	event := `{"updates":[{"board":"b","member":"{u}","score":"{n}"}]}`
	n.Require(201, "PUT", "/v1/events/gift", event)
	n.Require(200, "POST", "/v1/events/gift", `{"id":"e1","u":"x","n":1}`)
	n.Require(200, "PUT", "/v1/events/gift", strings.Replace(event, "{u}", "of {u}", 1))
	const old, set = "/v1/boards/days@1999-01-01", `{"score":1,"reason":"r"}`
	for _, c := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"GET", old, "", 404, "unknown_period"},
		{"GET", old + "/count", "", 404, "unknown_period"},
		{"GET", old + "/at?score=1", "", 404, "unknown_period"},
		{"GET", old + "/search?q=x", "", 404, "unknown_period"},
		{"GET", old + "/export", "", 404, "unknown_period"},
		{"GET", old + "/live", "", 404, "unknown_period"},
		{"GET", old + "/members?id=x", "", 404, "unknown_period"},
		{"GET", old + "/members/x", "", 404, "unknown_period"},
		{"GET", "/v1/boards/none/members?id=x", "", 404, "unknown_board"},
		{"GET", "/v1/boards/none/members/x", "", 404, "unknown_board"},
		{"GET", "/v1/boards/none/periods", "", 404, "unknown_board"},
		{"GET", "/v1/boards/none/hidden", "", 404, "unknown_board"},
		{"DELETE", "/v1/boards/none/members/x", "", 404, "unknown_board"},
		{"DELETE", "/v1/boards/all/members/x", "", 409, "conflict"},
		{"DELETE", "/v1/boards/past/members/x", "", 409, "not_open"},
		{"PUT", "/v1/boards/none/members/x/score", set, 404, "unknown_board"},
		{"PUT", "/v1/boards/all/members/x/score", set, 409, "conflict"},
		{"PUT", "/v1/boards/past/members/x/score", set, 409, "not_open"},
		{"POST", "/v1/events/gift/take-back", `{"id":"e1"}`, 409, "conflict"},
	} {
		a := n.Do(c.method, c.path, c.body)
		require.Equal(t, c.status, a.Status, "%s %s: %s", c.method, c.path, a.Body)
		require.Contains(t, a.Body, `"code":"`+c.code+`"`, c.path)
	}
}

// The acts of a moderator name who has done them, also in the list of acts.
func TestActsNameTheirAuthors(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b", Kind: "user"})
	n.Require(201, "PUT", "/v1/events/gift", `{"updates":[{"board":"b","member":"{user}","score":"{n}"}]}`)
	n.Require(200, "POST", "/v1/events/gift", `{"id":"g1","user":"u4","n":3}`)
	n.Require(200, "POST", "/v1/events/gift/take-back", `{"id":"g1","by":"kim"}`)
	n.Require(200, "PUT", "/v1/boards/b/members/u4/score", `{"score":5,"reason":"lost result","by":"lee"}`)
	for _, path := range []string{"/v1/boards/b/hidden/u5", "/v1/hidden/user/u5"} {
		for _, method := range []string{"PUT", "DELETE"} {
			n.Require(204, method, path+"?reason=bot&by=ann", "")
		}
	}
	n.Require(202, "DELETE", "/v1/members/user/u5?reason=asked&by=joe", "")
	audit := n.Do("GET", "/v1/audit", "").Body
	require.Equal(t, 4, strings.Count(audit, `"reason":"bot","by":"ann"`))
	require.Contains(t, audit, `"reason":"asked","by":"joe"`)
	require.Contains(t, audit, `"by":"kim"`)
	require.Contains(t, audit, `"reason":"lost result","by":"lee"`)

	n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"u4","score":1,"if":"exists"}`)
	n.Require(201, "PUT", "/v1/members/user/u4", `{"avatar":"/u4.png"}`)
	require.Contains(t, n.Do("GET", "/v1/members/user/u4/boards", "").Body, `"member":"u4","avatar":"/u4.png","boards":[{"board":"b"`)
}

// A history over HTTP says where no node has looked.
func TestHistoryTellsItsGaps(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	set(now)
	n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b", History: 10 * time.Second})
	for i, pass := range []time.Duration{10 * time.Second, time.Hour} {
		n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"ann","score":1}`)
		now = now.Add(pass)
		set(now)
		redistest.Until(t, "the next step", func() bool {
			var h recorded
			n.Do("GET", "/v1/boards/b/history", "").Into(&h)
			return len(h.Steps) > i
		})
	}
	for _, query := range []string{"", "?member=ann"} {
		require.Contains(t, n.Do("GET", "/v1/boards/b/history"+query, "").Body, `"gap_from":"`)
	}
}

// A family whose instances cannot be read hides nothing else.
func TestOverviewWithUnavailableFamily(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{}, definition.Board{Name: "bad"}, definition.Board{Name: "many:{x}"})
	n.Require(200, "POST", "/v1/boards/many:1/scores", `{"member":"m","score":1}`)
	require.NoError(t, r.Admin().Set(t.Context(), "rc:{/}:instances:many/1", "no set", 0).Err())
	require.Contains(t, n.Do("GET", "/v1/overview", "").Body,
		`"families":[{"board":"many:{x}","instances":0,"info":{"kind":"member","period":null},"unavailable":true}]`)
}

// A period that closes comes over the feed "periods" as the contract says.
func TestClosedPeriodComesOverTheFeed(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "rounds", Period: "1s",
		Base: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	s := servertest.Dial(t, n.Addr)
	s.Send(`{"type":"subscribe","id":1,"feed":"periods"}`)
	s.Next("feed") // the feed has begun
	n.Require(200, "POST", "/v1/boards/rounds/scores", `{"member":"ann","score":1}`)
	require.Contains(t, string(s.Next("feed").Items[0].Data), `"board":"rounds"`)
}

// The boards that an event updates, and the kinds, are listed without all others, and each caller gets those that it may read.
func TestBoardsOfAnEvent(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+
		keyLine("some", `scopes: [read], boards: ["fans:*"], events: [gift], kinds: [star]`))
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}},
		definition.Board{Name: "stars", Kind: "star"}, definition.Board{Name: "fans:{star}", Kind: "fan"}, definition.Board{Name: "goals"},
		definition.Board{Name: "other"})
	for event, boards := range map[string]string{"gift": `"stars","fans:{to}"`, "goal": `"goals"`} {
		updates := strings.ReplaceAll(boards, `",`, `","member":"m","score":1},{"board":`)
		n.Require(201, "PUT", "/v1/events/"+event, `{"updates":[{"board":`+updates+`,"member":"m","score":1}]}`, bearer(g.Key("ops"))...)
	}
	names := func(key, event string) (names []string) {
		t.Helper()
		var list struct{ Boards []struct{ Board string } }
		n.Require(200, "GET", "/v1/boards?event="+event, "", bearer(g.Key(key))...).Into(&list)
		for _, b := range list.Boards {
			names = append(names, b.Board)
		}
		return names
	}
	require.Equal(t, []string{"fans:{star}", "stars"}, names("ops", "gift"))
	require.Equal(t, []string{"fans:{star}", "goals", "stars"}, names("ops", "*"))
	require.Equal(t, []string{"fans:{star}"}, names("some", "*"))
	require.JSONEq(t, `{"kinds":["fan","member","star"]}`, n.Require(200, "GET", "/v1/kinds", "", bearer(g.Key("ops"))...).Body)
	require.JSONEq(t, `{"kinds":["fan","star"]}`, n.Require(200, "GET", "/v1/kinds", "", bearer(g.Key("some"))...).Body)
	servertest.RequireProblem(t, n.Do("GET", "/v1/boards?event=goal", "", bearer(g.Key("some"))...), 403, "forbidden", "")
	servertest.RequireProblem(t, n.Do("GET", "/v1/boards?event=no", "", bearer(g.Key("ops"))...), 404, "unknown_event", "event")
	servertest.RequireProblem(t, n.Do("GET", "/v1/boards?events=gift", "", bearer(g.Key("ops"))...), 400, "invalid_request", "events")
}
