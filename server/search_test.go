package server_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

func TestSearchOverHTTP(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, at string) {
		n := servertest.Start(t, at, servertest.Config{}, definition.Board{Name: "b", Kind: "user"},
			definition.Board{Name: "fans:{star}", Kind: "user", Period: "week"})
		for member, profile := range map[string]string{
			"u1": `{"name":"Ana María","avatar":"/a.png"}`, "u2": `{"name":"中国人"}`, "u3": `{"name":"<img src=x onerror=alert(1)>"}`,
			"u4": `{"name":"O'Neil"}`, "u5": `{"name":"Ana"}`, "away": `{"name":"Ana Away"}`,
		} {
			n.Require(201, "PUT", "/v1/members/user/"+member, profile)
		}
		for _, board := range []string{"b", "fans:s1"} {
			n.Require(200, "POST", "/v1/boards/"+board+"/scores",
				`{"updates":[{"member":"u1","score":50,"data":{"g":1}},{"member":"u2","score":40},{"member":"u3","score":30},`+
					`{"member":"u4","score":20},{"member":"u5","score":10},{"member":"u/6","score":5}]}`)
		}
		ana, maria := `{"rank":5,"member":"u5","score":10,"name":"Ana"}`,
			`{"rank":1,"member":"u1","score":50,"name":"Ana María","avatar":"/a.png","data":{"g":1}}`
		for _, c := range []struct{ query, want string }{
			{"q=ana", ana + "," + maria},
			{"q=%EF%BC%A1NA&limit=1", ana},
			{"q=maria", maria},
			{"q=MARI+%C3%A1n", maria},
			{"q=%E5%9B%BD", `{"rank":2,"member":"u2","score":40,"name":"中国人"}`},
			{"q=IMG+%3Csrc", `{"rank":3,"member":"u3","score":30,"name":"<img src=x onerror=alert(1)>"}`},
			{"q=neil", `{"rank":4,"member":"u4","score":20,"name":"O'Neil"}`},
			{"q=u/", `{"rank":6,"member":"u/6","score":5}`},
			{"q=U4", `{"rank":4,"member":"u4","score":20,"name":"O'Neil"}`},
			{"q=%F0%9F%8C%B8", ""}, {"q=-'", ""}, {"q=rc", ""}, {"q=an*", maria + "," + ana}, {"q=b.*", ""}, {"q=" + url.QueryEscape(`"] or 1`), ""},
		} {
			a := n.Require(200, "GET", "/v1/boards/b/search?"+c.query, "")
			require.JSONEq(t, `{"board":"b","period":"","ends":null,"final":false,"total":6,"complete":true,"entries":[`+c.want+`]}`,
				a.Body, c.query)
		}
		var instance struct {
			Board, Period string
			Ends          *string
			Total         int64
			Entries       []struct{ Member string }
		}
		n.Do("GET", "/v1/boards/fans:s1/search?q=ana", "").Into(&instance)
		require.Equal(t, "fans:s1", instance.Board)
		require.NotEmpty(t, instance.Period)
		require.NotNil(t, instance.Ends)
		require.Len(t, instance.Entries, 2)
		before := n.Require(200, "GET", "/v1/boards/fans:s1@-1/search?q=ana", "")
		require.Contains(t, before.Body, `"final":true,"total":0,"complete":true,"entries":[]`)

		for query, field := range map[string]string{
			"": "q", "q=": "q", "q=+": "q", "q=%E3%80%80": "q", "q=%00": "q", "q=%FF": "q", "q=" + strings.Repeat("a", 129): "q", "q=a&q=b": "q",
			"q=a&limit=0": "limit", "q=a&limit=51": "limit", "q=a&limit=x": "limit", "q=a&cursor=x": "cursor", "q=a&page=2": "page",
		} {
			servertest.RequireProblem(t, n.Do("GET", "/v1/boards/b/search?"+query, ""), 400, "invalid_request", field)
		}
		servertest.RequireProblem(t, n.Do("GET", "/v1/boards/none/search?q=a", ""), 404, "unknown_board", "board")
		servertest.RequireProblem(t, n.Do("GET", "/v1/boards/fans:%7Bstar%7D/search?q=a", ""), 400, "invalid_request", "board")

		// Hidden, erased, and without a profile.
		n.Require(204, "PUT", "/v1/boards/b/hidden/u1?reason=test", "")
		require.Contains(t, n.Do("GET", "/v1/boards/b/search?q=maria", "").Body, `"total":5,"complete":true,"entries":[]`)
		require.Contains(t, n.Do("GET", "/v1/boards/b/search?q=u1", "").Body, `"entries":[]`)
		n.Require(202, "DELETE", "/v1/members/user/u5?reason=asked", "")
		require.Contains(t, n.Do("GET", "/v1/boards/b/search?q=ana", "").Body, `"entries":[]`)
		n.Require(204, "DELETE", "/v1/members/user/u4/profile", "")
		require.Contains(t, n.Do("GET", "/v1/boards/b/search?q=neil", "").Body, `"entries":[]`)
		redistest.Eventually(t, "the erasure", func() error {
			if a := n.Do("GET", "/v1/boards/b/search?q=u", ""); !strings.Contains(a.Body, `"total":4`) {
				return errors.New(a.Body)
			}
			return nil
		})

		// Nothing of an erased member remains in the index.
		rdb := redistest.Dial(t, at)
		members := 0
		for part := range 16 {
			profiles := rdb.HGetAll(t.Context(), fmt.Sprintf("rc:{/profiles/user/%d}:p", part)).Val()
			names := rdb.ZRange(t.Context(), fmt.Sprintf("rc:{/profiles/user/%d}:n", part), 0, -1).Val()
			members += len(profiles)
			require.NotContains(t, fmt.Sprint(profiles, names), "u5")
		}
		require.Equal(t, 4, members)

		// What another program did to the index is undone.
		profiles, changed := reindex(t, n, "/v1/reindex/user")
		require.Equal(t, [2]int64{4, 0}, [2]int64{profiles, changed})
		part := fmt.Sprintf("rc:{/profiles/user/%d}:n", xxhash.Sum64String("u2")%16)
		require.NotZero(t, rdb.Exists(t.Context(), part).Val())
		require.NoError(t, rdb.Del(t.Context(), part).Err())
		require.NoError(t, rdb.ZAdd(t.Context(), part, redis.Z{Member: "ghost\x1fghost"}).Err())
		profiles, changed = reindex(t, n, "/v1/reindex/user?cursor=")
		require.EqualValues(t, 4, profiles)
		require.Positive(t, changed)
		require.Equal(t, `{"kind":"user","profiles":0,"changed":0,"cursor":null}`,
			n.Do("POST", "/v1/reindex/user?cursor=eyJwYXJ0IjoxNn0", "").Body, "at the end")
		require.Empty(t, rdb.ZRangeArgs(t.Context(), redis.ZRangeArgs{Key: part, ByLex: true, Start: "[ghost", Stop: "[ghost\xff"}).Val())
		require.Contains(t, strings.Join(rdb.ZRange(t.Context(), part, 0, -1).Val(), " "), "\x1eu2")
		servertest.RequireProblem(t, n.Do("POST", "/v1/reindex/User", ""), 400, "invalid_request", "kind")
		servertest.RequireProblem(t, n.Do("POST", "/v1/reindex/user", "{}"), 400, "invalid_request", "body")
		servertest.RequireProblem(t, n.Do("POST", "/v1/reindex/user?kind=user", ""), 400, "invalid_request", "kind")
		for _, cursor := range []string{"%2B", "eyJ4", "Mg"} {
			servertest.RequireProblem(t, n.Do("POST", "/v1/reindex/user?cursor="+cursor, ""), 400, "invalid_request", "cursor")
		}
	})
}

// A search of a kind answers profiles. Who may not moderate the kind gets no member that is hidden on all boards.
func TestSearchMembersOfKindOverHTTP(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, at string) {
		g := accesstest.Start(t, "keys:\n"+keyLine("admin", "scopes: [admin]")+keyLine("reads", "scopes: [read], kinds: [user]")+
			keyLine("moderates", "scopes: [read, moderate], kinds: [user]")+keyLine("other", "scopes: [read, moderate], kinds: [star]"))
		n := servertest.Start(t, at, servertest.Config{Server: server.Config{Access: g.Guard}}, definition.Board{Name: "b", Kind: "user"})
		for member, profile := range map[string]string{
			"u1": `{"name":"Ana María","avatar":"/a.png"}`, "u2": `{"name":"<img src=x onerror=alert(1)>"}`, "u3": `{"name":"Ana Bad"}`,
			"u/4": `{"avatar":"/b.png"}`,
		} {
			n.Require(201, "PUT", "/v1/members/user/"+url.PathEscape(member), profile, bearer(g.Key("admin"))...)
		}
		n.Require(204, "PUT", "/v1/hidden/user/u3?reason=test", "", bearer(g.Key("admin"))...)
		n.Require(200, "GET", "/v1/hidden/user", "", bearer(g.Key("admin"))...)
		ana, bad := `{"member":"u1","name":"Ana María","avatar":"/a.png"}`, `{"member":"u3","name":"Ana Bad","hidden":true}`
		for _, c := range []struct{ key, query, want string }{
			{"reads", "q=ana", ana}, {"moderates", "q=ana", ana + "," + bad}, {"admin", "q=ana&limit=1", ana},
			{"reads", "q=u3", ""}, {"reads", "q=img", `{"member":"u2","name":"<img src=x onerror=alert(1)>"}`},
			{"reads", "q=u/4", `{"member":"u/4","avatar":"/b.png"}`}, {"reads", "q=zoe", ""}, {"reads", "q=*", ""},
		} {
			a := n.Require(200, "GET", "/v1/members/user?"+c.query, "", bearer(g.Key(c.key))...)
			require.JSONEq(t, `{"kind":"user","complete":true,"members":[`+c.want+`]}`, a.Body, c.query)
		}
		n.Require(403, "GET", "/v1/members/user?q=ana", "", bearer(g.Key("other"))...)
		for query, field := range map[string]string{
			"": "q", "q=": "q", "q=+": "q", "q=%00": "q", "q=" + strings.Repeat("a", 129): "q", "q=a&limit=51": "limit", "q=a&cursor=x": "cursor",
		} {
			servertest.RequireProblem(t, n.Do("GET", "/v1/members/user?"+query, "", bearer(g.Key("reads"))...), 400, "invalid_request", field)
		}
		servertest.RequireProblem(t, n.Do("GET", "/v1/members/No?q=a", "", bearer(g.Key("admin"))...), 400, "invalid_request", "kind")
	})
}

// reindex builds the index of names of the kind user, and adds up the figures of the answers. path is that of the first
// request. One request goes on for a second, so that a slow machine needs several.
func reindex(t *testing.T, n *servertest.Node, path string) (profiles, changed int64) {
	t.Helper()
	for {
		a := n.Require(200, "POST", path, "")
		var done struct {
			Kind              string
			Profiles, Changed int64
			Cursor            *string
		}
		a.Into(&done)
		require.Equal(t, "user", done.Kind)
		profiles, changed = profiles+done.Profiles, changed+done.Changed
		if done.Cursor == nil {
			return profiles, changed
		}
		path = "/v1/reindex/user?cursor=" + url.QueryEscape(*done.Cursor)
	}
}
