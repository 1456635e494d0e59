package server_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// What moderators do over HTTP: hide and show, set a score, take back an event, erase; and
// each leaves a line that can be read.
func TestModerationOverHTTP(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b", Kind: "user"}, definition.Board{Name: "c", Kind: "user", Mode: "best"})
		do := func(status int, method, path, body, want string) {
			t.Helper()
			a := n.Do(method, path, body)
			require.Equal(t, status, a.Status, a.Body)
			if want != "" {
				require.JSONEq(t, want, a.Body)
			}
		}
		do(201, "PUT", "/v1/events/gift", `{"updates":[{"board":"b","member":"{user}","score":"{n}"},{"board":"c","member":"{user}","score":"{n}"}]}`, "")
		do(200, "POST", "/v1/boards/b/scores", `{"updates":[{"member":"a/b","score":5},{"member":"v","score":3}]}`, "")

		do(204, "PUT", "/v1/boards/b/hidden/a%2Fb?reason=plays+by+machine&by=m1", "", "")
		do(200, "GET", "/v1/boards/b/hidden", "", `{"board":"b","total":1,"hidden":[{"member":"a/b","score":5,"everywhere":false}],"cursor":null}`)
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
		redistest.Eventually(t, "housekeeping to show v on b again", func() error {
			if a := n.Do("GET", "/v1/boards/b/members/v", ""); a.Status != 200 {
				return fmt.Errorf("%s", a.Body)
			}
			return nil
		})

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
		require.Equal(t, []any{"b", "v", 90.0, 3.0, "lost in the outage"}, []any{page.Audit[2]["board"], page.Audit[2]["member"], page.Audit[2]["score"], page.Audit[2]["was"], page.Audit[2]["reason"]})
		n.Do("GET", "/v1/audit?cursor="+*page.Cursor, "").Into(&page)
		require.Len(t, page.Audit, 6)
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
