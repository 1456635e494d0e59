package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// The list of erasures shows to each caller those of its kinds, each as the member's own progress shows it.
func TestListErasures(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, at string) {
		g := accesstest.Start(t, "keys:\n"+keyLine("admin", "scopes: [admin]")+keyLine("users", "scopes: [moderate], kinds: [user]"))
		admin, users := bearer(g.Key("admin")), bearer(g.Key("users"))
		n := servertest.Start(t, at, servertest.Config{Server: server.Config{Access: g.Guard}}, definition.Board{Name: "b", Kind: "user"})
		require.JSONEq(t, `{"erasures":[],"cursor":null}`, n.Require(200, "GET", "/v1/erasures", "", admin...).Body)
		want := map[string]string{}
		for _, of := range []string{"user/u1", "star/s1", "user/<b>", "star/s2", "user/u2"} {
			path := "/v1/members/" + of
			n.Require(202, "DELETE", path+"?reason=asked", "", admin...)
			redistest.Eventually(t, "the erasure of "+of, func() error {
				a := n.Require(200, "GET", path+"/erasure", "", admin...)
				var e struct{ Ended *string }
				if a.Into(&e); e.Ended == nil {
					return fmt.Errorf("is under way: %s", a.Body)
				}
				want[of] = a.Body
				return nil
			})
		}
		list := func(limit int, header []string) (names []string) {
			for cursor, pages := "", 0; cursor != "" || pages == 0; pages++ {
				var page struct {
					Erasures []map[string]any
					Cursor   *string
				}
				n.Require(200, "GET", fmt.Sprintf("/v1/erasures?limit=%d&cursor=%s", limit, url.QueryEscape(cursor)), "", header...).Into(&page)
				for _, e := range page.Erasures {
					name := fmt.Sprint(e["kind"], "/", e["member"])
					var of map[string]any
					require.NoError(t, json.Unmarshal([]byte(want[name]), &of))
					require.Equal(t, of, e)
					names = append(names, name)
				}
				cursor = ""
				if page.Cursor != nil {
					cursor = *page.Cursor
				}
			}
			return names
		}
		for limit := range 6 {
			require.Equal(t, []string{"user/u2", "star/s2", "user/<b>", "star/s1", "user/u1"}, list(limit+1, admin))
			require.Equal(t, []string{"user/u2", "user/<b>", "user/u1"}, list(limit+1, users))
		}
		for query, field := range map[string]string{
			"limit=0": "limit", "limit=1001": "limit", "cursor=*": "cursor", "cursor=eA": "cursor", "cursor=eyJhdCI6LTF9": "cursor",
			"kind=user": "kind",
		} {
			servertest.RequireProblem(t, n.Do("GET", "/v1/erasures?"+query, "", admin...), 400, "invalid_request", field)
		}
	})
}
