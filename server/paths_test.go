package server_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// No request creates a member whose id is a segment that paths resolve, and no path with such a segment reaches
// another member.
func TestDotSegments(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, redisURL string) {
		n := servertest.Start(t, redisURL, servertest.Config{}, definition.Board{Name: "b", Kind: "pq"})
		require.Equal(t, 201, n.Do("PUT", "/v1/events/gift", `{"updates":[{"board":"b","member":"{user}","score":1}]}`).Status)
		require.Equal(t, 201, n.Do("PUT", "/v1/members/pq/profile", `{"name":"A member"}`).Status)
		require.Equal(t, 201, n.Do("PUT", "/v1/members/pq/a%2F..%2Fb", `{"name":"Slashes"}`).Status, "an id may hold them")
		require.Equal(t, 200, n.Do("POST", "/v1/boards/b/scores", `{"member":"profile","score":7}`).Status)
		ws := servertest.Dial(t, n.Addr)
		for _, id := range []string{".", ".."} {
			for body, field := range map[string]string{`{"member":"` + id + `","score":1}`: "member",
				`{"updates":[{"member":"` + id + `","score":1}]}`: "updates[0].member"} {
				require.Contains(t, n.Do("POST", "/v1/boards/b/scores", body).Body, `"field":"`+field+`"`)
			}
			servertest.RequireProblem(t, n.Do("POST", "/v1/events/gift", `{"user":"`+id+`"}`), 400, "invalid_request", "user")
			servertest.RequireProblem(t, n.Do("PUT", "/v1/events/dots", `{"updates":[{"board":"b","member":"`+id+`","score":1}]}`), 400,
				"invalid_request", "updates[0].member")
			for form, lines := range map[string]string{ndjson: `{"member":"` + id + `","score":1}`, commas: "member,score\n" + id + ",1"} {
				a := n.Do("POST", "/v1/boards/b/import", lines, "Content-Type", form)
				require.Contains(t, a.Body, `"imported":0,"refused":1,`)
				require.Contains(t, a.Body, `in the path of a URL`)
			}
			ws.Send(`{"type":"update","id":1,"board":"b","update":{"member":"%s","score":1}}`, id)
			require.Equal(t, "update.member", ws.Next("error").Field)
			ws.Send(`{"type":"subscribe","id":2,"board":"b","me":"%s"}`, id)
			require.Equal(t, "me", ws.Next("error").Field)

			for _, segment := range []string{id, url.PathEscape(id), "%2e", "%2E%2e", ".%2E"} {
				for _, request := range [][2]string{
					{"DELETE", "/v1/members/pq/" + segment + "/profile"},
					{"DELETE", "/v1/members/pq/" + segment},
					{"PUT", "/v1/members/pq/" + segment},
					{"GET", "/v1/members/pq/" + segment + "/boards"},
					{"PUT", "/v1/boards/b/members/" + segment + "/score"},
					{"PUT", "/v1/boards/b/hidden/" + segment},
					{"PUT", "/v1/hidden/pq/" + segment},
					{"DELETE", "/v1/boards/x/" + segment + "/b"},
					{"GET", "/embed/" + segment + "/b"},
				} {
					servertest.RequireProblem(t, n.Do(request[0], request[1], ""), 400, "invalid_request", "path")
				}
			}
		}
		require.Contains(t, n.Do("GET", "/v1/members/pq/profile", "").Body, "A member")
		require.Contains(t, n.Do("GET", "/v1/boards/b/members/profile", "").Body, `"score":7`)
		require.Contains(t, n.Do("GET", "/v1/boards/b", "").Body, `"total":1`)
	})
}
