package server_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A DELETE refuses a body that it would ignore, and unknown fields and parameters. An empty reason is refused
// alike in the body and as a parameter. What was refused has changed nothing.
func TestDeletesRefuseWhatTheyWouldIgnore(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b", Kind: "user"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(201, "PUT", "/v1/events/e", `{"updates":[{"board":"b","member":"m","score":1}]}`)
		n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"m","score":1}`)
		n.Require(201, "PUT", "/v1/members/user/m", `{"name":"Mia"}`)
		refuses := func(method, path, body, field string) {
			t.Helper()
			servertest.RequireProblem(t, n.Do(method, path, body), 400, "invalid_request", field)
		}
		for _, path := range []string{"/v1/boards/b", "/v1/boards/b/members/m", "/v1/members/user/m/profile", "/v1/events/e"} {
			for _, body := range []string{`{"foo":"x"}`, `{"reason":"cheat"}`, `{}`, ` `, `no JSON`} {
				refuses("DELETE", path, body, "body")
			}
			refuses("DELETE", path+"?reason=cheat", "", "reason")
		}
		for _, r := range [][2]string{
			{"DELETE", "/v1/boards/b/hidden/m"}, {"PUT", "/v1/boards/b/hidden/m"}, {"DELETE", "/v1/hidden/user/m"},
			{"PUT", "/v1/hidden/user/m"}, {"DELETE", "/v1/members/user/m"},
		} {
			method, path := r[0], r[1]
			refuses(method, path, `{"reason":"x","foo":"x"}`, "foo")
			refuses(method, path, `no JSON`, "body")
			refuses(method, path+"?reason=x&foo=x", "", "foo")
			refuses(method, path+"?reason=x", `{"by":"kim"}`, "body")
			for _, name := range []string{"reason", "by"} {
				refuses(method, path, `{"`+name+`":""}`, name)
				refuses(method, path+"?"+name+"=", "", name)
			}
		}
		require.Contains(t, n.Do("GET", "/v1/boards/b/members/m", "").Body, `"name":"Mia"`)
		n.Require(200, "GET", "/v1/events/e", "")
		n.Require(404, "GET", "/v1/members/user/m/erasure", "")
		require.NotContains(t, n.Do("GET", "/v1/audit", "").Body, `"member":"m"`)
	})
}

// What moderators do over HTTP: hide and show, set a score, take back an event, erase; and
// each leaves a line that can be read.
func TestModerationOverHTTP(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b", Kind: "user"},
		definition.Board{Name: "c", Kind: "user", Mode: "best"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		do := func(status int, method, path, body, want string) {
			t.Helper()
			a := n.Do(method, path, body)
			require.Equal(t, status, a.Status, a.Body)
			if want != "" {
				require.JSONEq(t, want, a.Body)
			}
		}
		do(201, "PUT", "/v1/events/gift",
			`{"updates":[{"board":"b","member":"{user}","score":"{n}"},{"board":"c","member":"{user}","score":"{n}"}]}`, "")
		do(200, "POST", "/v1/boards/b/scores", `{"updates":[{"member":"a/b","score":5},{"member":"v","score":3}]}`, "")

		do(204, "PUT", "/v1/boards/b/hidden/a%2Fb?reason=plays+by+machine&by=m1", "", "")
		do(200, "GET", "/v1/boards/b/hidden", "",
			`{"board":"b","total":1,"hidden":[{"member":"a/b","score":5,"everywhere":false}],"cursor":null}`)
		do(200, "POST", "/v1/boards/b/scores", `{"member":"a/b","score":1}`,
			`{"board":"b","period":"","member":"a/b","score":6,"rank":null,"previous":{"score":5,"rank":null},"duplicate":false}`)
		do(404, "GET", "/v1/boards/b/members/a%2Fb", "", "")
		do(200, "GET", "/v1/boards/b/count", "", `{"board":"b","period":"","ends":null,"final":false,"total":1,"count":1}`)
		do(204, "DELETE", "/v1/boards/b/hidden/a%2Fb", "", "")
		do(200, "GET", "/v1/boards/b/hidden", "", `{"board":"b","total":0,"hidden":[],"cursor":null}`)

		do(204, "PUT", "/v1/hidden/user/v", `{"reason":"cheats","by":"m2"}`, "")
		do(204, "PUT", "/v1/hidden/user/w", "", "")
		do(200, "GET", "/v1/hidden/user?limit=1", "", `{"kind":"user","total":2,"hidden":[{"member":"v"}],"cursor":"dg"}`)
		do(200, "GET", "/v1/hidden/user?cursor=dg", "", `{"kind":"user","total":2,"hidden":[{"member":"w"}],"cursor":null}`)
		do(204, "DELETE", "/v1/hidden/user/w", "", "")
		do(200, "POST", "/v1/boards/c/scores", `{"member":"v","score":1}`,
			`{"board":"c","period":"","member":"v","score":1,"rank":null,"previous":null,"duplicate":false}`)
		do(204, "DELETE", "/v1/hidden/user/v", "", "")
		n.Until("housekeeping to show v on b again", 200, "GET", "/v1/boards/b/members/v", "")

		do(200, "PUT", "/v1/boards/b/members/v/score", `{"score":90,"reason":"lost in the outage"}`,
			`{"board":"b","period":"","member":"v","score":90,"rank":1,"previous":{"score":3,"rank":2},"duplicate":false}`)

		do(200, "POST", "/v1/events/gift", `{"id":"g1","user":"w","n":7}`, "")
		took := func(duplicate string, results ...string) string {
			return `{"duplicate":` + duplicate + `,"results":[` + results[0] + `,` + results[1] + `]}`
		}
		result := func(board, rest string) string {
			return `{"board":"` + board + `","period":"","member":"w",` + rest + `}`
		}
		gone := `"score":null,"rank":null,"previous":{"score":7,"rank":%d},"duplicate":false,"taken_back":true`
		do(200, "POST", "/v1/events/gift/take-back", `{"id":"g1","reason":"charged back"}`,
			took("false", result("b", fmt.Sprintf(gone, 2)), result("c", fmt.Sprintf(gone, 1))))
		still := `"score":null,"rank":null,"previous":null,"duplicate":true,"taken_back":true`
		do(200, "POST", "/v1/events/gift/take-back", `{"id":"g1"}`,
			took("true", result("b", still), result("c", still)))

		do(202, "DELETE", "/v1/members/user/v?reason=asked", "", "")
		redistest.Eventually(t, "the erasure", func() error {
			a := n.Do("GET", "/v1/members/user/v/erasure", "")
			var e struct {
				Boards, Removed int
				Left            *int
				Ended           *string
			}
			if err := json.Unmarshal([]byte(a.Body), &e); err != nil || e.Ended == nil {
				return fmt.Errorf("%s", a.Body)
			}
			require.Equal(t, [2]int{2, 2}, [2]int{e.Boards, e.Removed})
			require.Equal(t, new(0), e.Left)
			return nil
		})

		var page struct {
			Audit  []map[string]any
			Cursor *string
		}
		n.Do("GET", "/v1/audit?limit=3", "").Into(&page)
		var actions []string
		for _, a := range page.Audit {
			require.NotEmpty(t, a["at"])
			actions = append(actions, a["action"].(string))
		}
		require.Equal(t, []string{"erase", "take_back", "set"}, actions)
		require.Equal(t, []any{"b", "v", 90.0, 3.0, "lost in the outage"}, []any{page.Audit[2]["board"], page.Audit[2]["member"],
			page.Audit[2]["score"], page.Audit[2]["was"], page.Audit[2]["reason"]})
		n.Do("GET", "/v1/audit?cursor="+*page.Cursor, "").Into(&page)
		require.Len(t, page.Audit, 7, "six acts of moderation, and the definition of the event")
		require.Equal(t, []any{"cheats", "m2"}, []any{page.Audit[3]["reason"], page.Audit[3]["by"]})
		require.Nil(t, page.Cursor)

		for _, c := range []struct {
			method, path, body string
			status             int
			code, field        string
		}{
			{"PUT", "/v1/boards/none/hidden/v", "", 404, "unknown_board", "board"},
			{"PUT", "/v1/boards/b/hidden/v?why=x", "", 400, "invalid_request", "why"},
			{"PUT", "/v1/boards/b/hidden/v?reason=%0a", "", 400, "invalid_request", "reason"},
			{"PUT", "/v1/hidden/User/v", "", 400, "invalid_request", "kind"},
			{"PUT", "/v1/boards/b/hidden/v", `{"why":"x"}`, 400, "invalid_request", "why"},
			{"PUT", "/v1/boards/b/hidden/v?by=m", `{"reason":"x"}`, 400, "invalid_request", "body"},
			{"DELETE", "/v1/boards/b/hidden/v", `{`, 400, "invalid_request", "body"},
			{"GET", "/v1/hidden/user?cursor=*", "", 400, "invalid_request", "cursor"},
			{"DELETE", "/v1/members/user/v", "", 400, "invalid_request", "reason"},
			{"PUT", "/v1/boards/b/members/v/score", `{"score":1}`, 400, "invalid_request", "reason"},
			{"PUT", "/v1/boards/b/members/v/score", `{"reason":"x"}`, 400, "invalid_request", "score"},
			{"PUT", "/v1/boards/b/members/v/score", `{"score":1,"reason":""}`, 400, "invalid_request", "reason"},
			{"PUT", "/v1/boards/b/members/v/score", `{"score":9007199254740992,"reason":"x"}`, 422, "out_of_range", "score"},
			{"POST", "/v1/events/gift/take-back", `{"id":"never"}`, 404, "unknown_event", "id"},
			{"POST", "/v1/events/gift/take-back", `{"id":"g1","sub":"w"}`, 404, "unknown_event", "id"},
			{"POST", "/v1/events/gift/take-back", `{"id":"g1","sub":""}`, 404, "unknown_event", "id"},
			{"POST", "/v1/events/gift/take-back", `{"id":"g1","sub":null}`, 400, "invalid_request", "sub"},
			{"POST", "/v1/events/gift/take-back", `{"id":"g1","sub":"\u0000"}`, 400, "invalid_request", "sub"},
			{"POST", "/v1/events/none/take-back", `{"id":"g1"}`, 404, "unknown_event", "event"},
			{"POST", "/v1/events/gift/take-back", `{"reason":"x"}`, 400, "invalid_request", "id"},
			{"DELETE", "/v1/members/User/v?reason=x", "", 400, "invalid_request", "kind"},
			{"GET", "/v1/members/user/nobody/erasure", "", 404, "unknown_member", "member"},
			{"GET", "/v1/audit?limit=0", "", 400, "invalid_request", "limit"},
			{"GET", "/v1/audit?cursor=x", "", 400, "invalid_request", "cursor"},
		} {
			servertest.RequireProblem(t, n.Do(c.method, c.path, c.body), c.status, c.code, c.field)
		}
	})
}

// A take-back names the sender of the event by its sub, beside the id. The audit shows definitions and subs.
func TestTakeBackOfASenderOverHTTP(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	event := `{"sender":"user","fields":{"n":{"min":1,"max":9}},"updates":[{"board":"b","member":"{user}","score":"{n}"}]}`
	n.Require(201, "PUT", "/v1/events/gift", event)
	require.JSONEq(t, `{"event":"gift",`+event[1:], n.Do("PUT", "/v1/events/gift", event).Body)
	require.JSONEq(t, `{"event":"gift",`+event[1:], n.Do("GET", "/v1/events/gift", "").Body)
	for _, sender := range []*ranking.Sender{nil, {Sub: "u4"}, {}} {
		call := ranking.EventCall{ID: "g1", Sender: sender, Fields: map[string]jsontext.Value{"user": jsontext.Value(`"u4"`),
			"n": jsontext.Value("1")}}
		happened, err := n.Store.ApplyEvents(t.Context(), "gift", []ranking.EventCall{call})
		require.NoError(t, err)
		require.NoError(t, happened[0].Err)
	}
	for i, body := range []string{`{"id":"g1","sub":"u4"}`, `{"id":"g1","sub":""}`, `{"id":"g1"}`} {
		a := n.Require(200, "POST", "/v1/events/gift/take-back", body)
		require.Contains(t, a.Body, fmt.Sprintf(`"previous":{"score":%d,"rank":1}`, 3-i))
	}
	n.Require(200, "PUT", "/v1/boards/b", `{"max":9}`)
	n.Require(200, "PUT", "/v1/boards/b", `{"max":9}`)
	n.Require(204, "DELETE", "/v1/events/gift", "")
	n.Require(204, "DELETE", "/v1/boards/b", "")
	lines := regexp.MustCompile(`"at":"[^"]*",`).ReplaceAllString(n.Do("GET", "/v1/audit", "").Body, "")
	require.JSONEq(t, `{"cursor":null,"audit":[{"action":"delete_board","board":"b"},{"action":"delete_event","event":"gift"},
		{"action":"define_board","board":"b"},
		{"action":"take_back","event":"gift","id":"g1"},{"action":"take_back","event":"gift","id":"g1","sub":""},
		{"action":"take_back","event":"gift","id":"g1","sub":"u4"},
		{"action":"define_event","event":"gift"}]}`, lines)
}

// An erasure beyond the bound of its kind is refused by a problem that says so, and others are not.
func TestTooManyErasures(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b", Kind: "user"})
		rdb := redistest.Dial(t, url)
		var waiting []redis.Z
		for i := range 10_000 {
			waiting = append(waiting, redis.Z{Score: 1, Member: fmt.Sprint("m", i)})
		}
		require.NoError(t, rdb.ZAdd(t.Context(), "rc:{/}:erasing:user", waiting...).Err())
		a := n.Do("DELETE", "/v1/members/user/one?reason=asked", "")
		servertest.RequireProblem(t, a, 503, "unavailable", "kind")
		require.Contains(t, a.Body, "10000 other members of kind user are being erased")
		require.NotEmpty(t, a.Header.Get("Retry-After"))
		n.Require(404, "GET", "/v1/members/user/one/erasure", "")
		n.Require(202, "DELETE", "/v1/members/star/one?reason=asked", "")
	})
}
