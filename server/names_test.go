package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// No request creates a member whose id is a segment that paths resolve, and no path with such a segment reaches
// another member.
func TestDotSegments(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b", Kind: "pq"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(201, "PUT", "/v1/events/gift", `{"updates":[{"board":"b","member":"{user}","score":1}]}`)
		n.Require(201, "PUT", "/v1/members/pq/profile", `{"name":"A member"}`)
		require.Equal(t, 201, n.Do("PUT", "/v1/members/pq/a%2F..%2Fb", `{"name":"Slashes"}`).Status, "an id may hold them")
		n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"profile","score":7}`)
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

func TestMembersWithAnyName(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	for _, m := range []string{"a/b", "50% off", "%2F", "ü ñ 星", "<img onerror>", "...", "a?b&c=d", strings.Repeat("x", 128), `"\`, "a+b"} {
		quoted, err := json.Marshal(m)
		require.NoError(t, err)
		n.Require(200, "POST", "/v1/boards/b/scores", fmt.Sprintf(`{"member":%s,"score":1}`, quoted))
		path := "/v1/boards/b/members/" + url.PathEscape(m)
		var got struct{ Member string }
		n.Require(200, "GET", path, "").Into(&got)
		require.Equal(t, m, got.Member)
		n.Require(200, "DELETE", path, "")
	}
}

// Requests and sockets create no text that changes the text around it, and name the field.
func TestUnsafeTextsAreNotCreated(t *testing.T) {
	setup := servertest.With(servertest.Config{}, definition.Board{Name: "b"}, definition.Board{Name: "fans:{star}"})
	setup.OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(201, "PUT", "/v1/events/gift", `{"updates":[{"board":"fans:{star}","member":"{user}","score":1}]}`)
		before := n.Do("GET", "/v1/boards/b", "").Body
		for _, r := range "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" {
			id := "a" + string(r) + "b"
			inPath := url.PathEscape(id)
			for _, c := range []struct{ method, path, body, field string }{
				{"POST", "/v1/boards/b/scores", `{"member":"%s","score":1}`, "member"},
				{"POST", "/v1/boards/b/scores", `{"member":"m","score":1,"id":"%s"}`, "id"},
				{"POST", "/v1/boards/fans:" + inPath + "/scores", `{"member":"m","score":1}`, "board"},
				{"PUT", "/v1/boards/b/members/" + inPath + "/score", `{"score":1,"reason":"r"}`, "member"},
				{"PUT", "/v1/boards/b/members/m/score", `{"score":1,"reason":"%s"}`, "reason"},
				{"PUT", "/v1/boards/b/hidden/m", `{"by":"%s"}`, "by"},
				{"POST", "/v1/events/gift", `{"star":"%s","user":"u"}`, "star"},
				{"POST", "/v1/events/gift", `{"star":"s","user":"%s"}`, "user"},
				{"POST", "/v1/events/gift", `{"star":"s","user":"u","id":"%s"}`, "id"},
				{"PUT", "/v1/members/member/" + inPath, `{"name":"n"}`, "member"},
				{"PUT", "/v1/members/member/m", `{"name":"%s"}`, "name"},
				{"PUT", "/v1/members/member/m", `{"avatar":"/%s"}`, "avatar"},
				{"PUT", "/v1/boards/c", `{"display":{"unit":"%s"}}`, "display.unit"},
				{"PUT", "/v1/events/e", `{"updates":[{"board":"b","member":"%s","score":1}]}`, "updates[0].member"},
				{"POST", "/v1/boards/fans:" + inPath + "/import", ``, "board"},
			} {
				a := n.Do(c.method, c.path, strings.ReplaceAll(c.body, "%s", id))
				if strings.HasSuffix(c.path, "/import") {
					a = n.Do(c.method, c.path, c.body, "Content-Type", ndjson)
				}
				servertest.RequireProblem(t, a, 400, "invalid_request", c.field)
				require.Contains(t, a.Body, fmt.Sprintf("has the character %U", r))
			}
			keyed := n.Do("POST", "/v1/boards/b/scores", `{"member":"m","score":1}`, "Idempotency-Key", id)
			servertest.RequireProblem(t, keyed, 400, "invalid_request", "Idempotency-Key")
			batch := n.Do("POST", "/v1/boards/b/scores", `{"updates":[{"member":"`+id+`","score":1}]}`)
			require.Contains(t, batch.Body, `"field":"updates[0].member"`)
			for form, lines := range map[string]string{
				ndjson: `{"member":"a` + string(r) + `","score":1}` + "\n" + `{"member":"\u` + fmt.Sprintf("%04x", r) + `","score":1}`,
				commas: "member,score\na" + string(r) + ",1\n" + string(r) + ",1",
			} {
				a := n.Require(200, "POST", "/v1/boards/b/import", lines, "Content-Type", form)
				require.Contains(t, a.Body, `"imported":0,"refused":2,`, form)
				require.Contains(t, a.Body, `"code":"invalid_request","message":"member: has the character U+20`)
			}
		}
		ws := servertest.Dial(t, n.Addr)
		ws.Send(`{"type":"update","id":1,"board":"b","update":{"member":"\u202ex","score":1}}`)
		require.Equal(t, "update.member", ws.Next("error").Field)
		ws.Send(`{"type":"event","id":2,"event":"gift","data":{"star":"\u2028","user":"u"}}`)
		require.Equal(t, "data.star", ws.Next("error").Field)
		require.Equal(t, before, n.Do("GET", "/v1/boards/b", "").Body, "nothing has changed")
		n.Require(404, "GET", "/v1/boards/c", "")
		require.Contains(t, n.Do("GET", "/v1/boards/fans:%7Bstar%7D/instances", "").Body, `"total":0`)
		require.Equal(t, 1, strings.Count(n.Do("GET", "/v1/audit", "").Body, `"action"`), "the definition of the event alone")

		for _, id := range []string{"می\u200cخواهم", "क\u094d\u200dष", "\u200fאב", "a\u200eb"} { // what languages need
			n.Require(200, "POST", "/v1/boards/fans:"+url.PathEscape(id)+"/scores", `{"member":"`+id+`","score":1}`)
			n.Require(201, "PUT", "/v1/members/member/"+url.PathEscape(id), `{"name":"`+id+`"}`)
		}
	})
}

// Reads and acts of moderators name no such text either.
func TestUnsafeTextsAreNotNamed(t *testing.T) {
	setup := servertest.With(servertest.Config{}, definition.Board{Name: "b"}, definition.Board{Name: "fans:{star}"})
	setup.OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(201, "PUT", "/v1/events/gift", `{"updates":[{"board":"b","member":"{user}","score":1}]}`)
		const id = "a%E2%80%AEb"
		for _, c := range []struct{ method, path, body string }{
			{"GET", "/v1/boards/b/members/" + id, ""},
			{"GET", "/v1/boards/b/members?id=" + id, ""},
			{"GET", "/v1/boards/fans:" + id + "/top", ""},
			{"DELETE", "/v1/boards/b/members/" + id, ""},
			{"DELETE", "/v1/boards/fans:" + id, ""},
			{"PUT", "/v1/boards/b/hidden/" + id, ""},
			{"DELETE", "/v1/boards/b/hidden/" + id, ""},
			{"PUT", "/v1/hidden/member/" + id, ""},
			{"DELETE", "/v1/hidden/member/" + id, ""},
			{"GET", "/v1/members/member/" + id, ""},
			{"DELETE", "/v1/members/member/" + id + "/profile", ""},
			{"DELETE", "/v1/members/member/" + id + "?reason=r", ""},
			{"GET", "/v1/members/member/" + id + "/erasure", ""},
			{"POST", "/v1/events/gift/take-back", `{"id":"\u202e"}`},
		} {
			a := n.Do(c.method, c.path, c.body)
			require.Equal(t, 400, a.Status, "%s %s: %s", c.method, c.path, a.Body)
		}
		ws := servertest.Dial(t, n.Addr)
		ws.Send(`{"type":"subscribe","id":1,"board":"b","me":"a\u202eb"}`)
		require.Equal(t, "me", ws.Next("ok", "error").Field)
	})
}
