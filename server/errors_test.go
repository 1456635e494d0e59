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

// Whatever is wrong with a request is told with the name of the field, and
// changes nothing.
func TestBadInput(t *testing.T) {
	t.Parallel()
	const scores = "/v1/boards/b/scores"
	many := strings.TrimSuffix(strings.Repeat(`{"member":"x","score":1},`, 1001), ",")
	cases := []struct {
		name, method, path, body string
		status                   int
		code, field              string
	}{
		{"unknown board", "POST", "/v1/boards/nope/scores", `{"member":"x","score":1}`, 404, "unknown_board", "board"},
		{"no body", "POST", scores, ``, 400, "invalid_request", "body"},
		{"member missing", "POST", scores, `{"score":1}`, 400, "invalid_request", "member"},
		{"member empty", "POST", scores, `{"member":"","score":1}`, 400, "invalid_request", "member"},
		{"member null", "POST", scores, `{"member":null,"score":1}`, 400, "invalid_request", "member"},
		{"member a number", "POST", scores, `{"member":7,"score":1}`, 400, "invalid_request", "member"},
		{"member too long", "POST", scores, `{"member":"` + strings.Repeat("x", 129) + `","score":1}`, 400, "invalid_request", "member"},
		{"member with a control character", "POST", scores, `{"member":"a\u0000","score":1}`, 400, "invalid_request", "member"},
		{"member with a C1 control character", "POST", scores, `{"member":"a\u0085","score":1}`, 400, "invalid_request", "member"},
		{"invalid UTF-8", "POST", scores, "{\"member\":\"a\xff\",\"score\":1}", 400, "invalid_request", "member"},
		{"half a surrogate pair", "POST", scores, `{"member":"\ud800","score":1}`, 400, "invalid_request", "member"},
		{"half a surrogate pair in a batch", "POST", scores,
			`{"updates":[{"member":"a","score":1},{"member":"Ana \ud83d","score":1}]}`, 400, "invalid_request", "updates[1].member"},
		{"half a surrogate pair in data", "POST", scores, `{"member":"a","score":1,"data":{"to":"\ude00"}}`, 400, "invalid_request", "data.to"},
		{"score missing", "POST", scores, `{"member":"x"}`, 400, "invalid_request", "score"},
		{"score null", "POST", scores, `{"member":"x","score":null}`, 400, "invalid_request", "score"},
		{"score a string", "POST", scores, `{"member":"x","score":"1"}`, 400, "invalid_request", "score"},
		{"score a fraction", "POST", scores, `{"member":"x","score":1.5}`, 400, "invalid_request", "score"},
		{"score with an exponent", "POST", scores, `{"member":"x","score":1e3}`, 400, "invalid_request", "score"},
		{"score a list", "POST", scores, `{"member":"x","score":[1]}`, 400, "invalid_request", "score"},
		{"score out of range", "POST", scores, `{"member":"x","score":9007199254740992}`, 422, "out_of_range", "score"},
		{"score far out of range", "POST", scores, `{"member":"x","score":-99999999999999999999}`, 422, "out_of_range", "score"},
		{"sum out of range", "POST", scores, `{"member":"a","score":9007199254740991}`, 422, "out_of_range", "score"},
		{"score NaN", "POST", scores, `{"member":"x","score":NaN}`, 400, "invalid_request", "body"},
		{"unknown op", "POST", scores, `{"member":"x","score":1,"op":"max"}`, 400, "invalid_request", "op"},
		{"op of the inside", "POST", scores, `{"member":"a","score":1,"op":"remove"}`, 400, "invalid_request", "op"},
		{"op empty", "POST", scores, `{"member":"x","score":1,"op":""}`, 400, "invalid_request", "op"},
		{"id empty", "POST", scores, `{"member":"x","score":1,"id":""}`, 400, "invalid_request", "id"},
		{"id a number", "POST", scores, `{"member":"x","score":1,"id":5}`, 400, "invalid_request", "id"},
		{"id of another update", "POST", scores, `{"member":"a","score":2,"id":"first"}`, 409, "idempotency_mismatch", "id"},
		{"unknown field", "POST", scores, `{"member":"x","score":1,"points":2}`, 400, "invalid_request", "points"},
		{"field of another case", "POST", scores, `{"Member":"x","score":1}`, 400, "invalid_request", "Member"},
		{"field twice", "POST", scores, `{"member":"x","member":"y","score":1}`, 400, "invalid_request", "body"},
		{"invalid JSON", "POST", scores, `{"member":"x","score":1`, 400, "invalid_request", "body"},
		{"trailing text", "POST", scores, `{"member":"x","score":1} {}`, 400, "invalid_request", "body"},
		{"not an object", "POST", scores, `[{"member":"x","score":1}]`, 400, "invalid_request", "body"},
		{"null", "POST", scores, `null`, 400, "invalid_request", "body"},
		{"empty batch", "POST", scores, `{"updates":[]}`, 400, "invalid_request", "updates"},
		{"batch not a list", "POST", scores, `{"updates":{}}`, 400, "invalid_request", "updates"},
		{"batch and single", "POST", scores, `{"updates":[],"member":"x"}`, 400, "invalid_request", "member"},
		{"batch too long", "POST", scores, `{"updates":[` + many + `]}`, 413, "too_large", "updates"},
		{"body too large", "POST", scores, `{"member":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "too_large", "body"},
		{"limit 0", "GET", "/v1/boards/b/top?limit=0", "", 400, "invalid_request", "limit"},
		{"limit too high", "GET", "/v1/boards/b/top?limit=1001", "", 400, "invalid_request", "limit"},
		{"limit no number", "GET", "/v1/boards/b/top?limit=ten", "", 400, "invalid_request", "limit"},
		{"limit twice", "GET", "/v1/boards/b/top?limit=1&limit=2", "", 400, "invalid_request", "limit"},
		{"limit empty", "GET", "/v1/boards/b/top?limit=", "", 400, "invalid_request", "limit"},
		{"from_rank 0", "GET", "/v1/boards/b/top?from_rank=0", "", 400, "invalid_request", "from_rank"},
		{"cursor garbage", "GET", "/v1/boards/b/top?cursor=garbage", "", 400, "invalid_request", "cursor"},
		{"cursor empty, and another", "GET", "/v1/boards/b/top?cursor=&cursor=", "", 400, "invalid_request", "cursor"},
		{"cursor with NaN", "GET", "/v1/boards/b/top?cursor=AX_4AAAAAAAAbQ", "", 400, "invalid_request", "cursor"},
		{"cursor and from_rank", "GET", "/v1/boards/b/top?cursor=AcAIAAAAAAAAYQ&from_rank=3", "", 400, "invalid_request", "from_rank"},
		{"min_score no number", "GET", "/v1/boards/b/top?min_score=x", "", 400, "invalid_request", "min_score"},
		{"min_score a fraction", "GET", "/v1/boards/b/top?min_score=1.5", "", 400, "invalid_request", "min_score"},
		{"max_score empty", "GET", "/v1/boards/b/top?max_score=", "", 400, "invalid_request", "max_score"},
		{"max_score too high", "GET", "/v1/boards/b/top?max_score=9007199254740992", "", 400, "invalid_request", "max_score"},
		{"max_score below min_score", "GET", "/v1/boards/b/top?min_score=5&max_score=4", "", 400, "invalid_request", "max_score"},
		{"count: max_score below min_score", "GET", "/v1/boards/b/count?min_score=5&max_score=4", "", 400, "invalid_request", "max_score"},
		{"count: a limit", "GET", "/v1/boards/b/count?limit=5", "", 400, "invalid_request", "limit"},
		{"count of an unknown board", "GET", "/v1/boards/nope/count", "", 404, "unknown_board", "board"},
		{"at no score", "GET", "/v1/boards/b/at", "", 400, "invalid_request", "score"},
		{"at no number", "GET", "/v1/boards/b/at?score=many", "", 400, "invalid_request", "score"},
		{"at a score too low", "GET", "/v1/boards/b/at?score=-9007199254740992", "", 400, "invalid_request", "score"},
		{"at: limit 0", "GET", "/v1/boards/b/at?score=1&limit=0", "", 400, "invalid_request", "limit"},
		{"at: cursor garbage", "GET", "/v1/boards/b/at?score=1&cursor=garbage", "", 400, "invalid_request", "cursor"},
		{"at of an unknown board", "GET", "/v1/boards/nope/at?score=1", "", 404, "unknown_board", "board"},
		{"unknown parameter", "GET", "/v1/boards/b/top?limt=3", "", 400, "invalid_request", "limt"},
		{"top of an unknown board", "GET", "/v1/boards/nope/top", "", 404, "unknown_board", "board"},
		{"unknown member", "GET", "/v1/boards/b/members/nobody", "", 404, "unknown_member", "member"},
		{"around too high", "GET", "/v1/boards/b/members/a?around=101", "", 400, "invalid_request", "around"},
		{"around negative", "GET", "/v1/boards/b/members/a?around=-1", "", 400, "invalid_request", "around"},
		{"no ids", "GET", "/v1/boards/b/members", "", 400, "invalid_request", "id"},
		{"too many ids", "GET", "/v1/boards/b/members?" + strings.Repeat("id=a&", 101), "", 400, "invalid_request", "id"},
		{"an empty id", "GET", "/v1/boards/b/members?id=", "", 400, "invalid_request", "id"},
		{"sorted by what is not", "GET", "/v1/boards/b/members?id=a&sort=score", "", 400, "invalid_request", "sort"},
		{"remove an unknown member", "DELETE", "/v1/boards/b/members/nobody", "", 404, "unknown_member", "member"},
		{"unknown board's info", "GET", "/v1/boards/nope", "", 404, "unknown_board", "board"},
		{"parameter to a POST", "POST", scores + "?x=1", `{"member":"x","score":1}`, 400, "invalid_request", "x"},
		{"broken escape in a query", "GET", "/v1/boards/b/top?limit=%zz", "", 400, "invalid_request", "query"},
		{"semicolon in a query", "GET", "/v1/boards/b/top?limit=5;from_rank=3", "", 400, "invalid_request", "query"},
		{"parameter without a name", "GET", "/v1/boards/b/top?=1", "", 400, "invalid_request", "query"},
		{"parameter that is no UTF-8", "DELETE", "/v1/boards/b/members/a?%ff=1", "", 400, "invalid_request", "\uFFFD"},
		{"path that is no UTF-8", "GET", "/%ff", "", 404, "not_found", ""},
		{"board that is no UTF-8", "GET", "/v1/boards/%ff/top", "", 400, "invalid_request", "board"},
		{"member that is no UTF-8", "GET", "/v1/boards/b/members/%ff", "", 400, "invalid_request", "member"},
		{"no such page", "GET", "/v2", "", 404, "not_found", ""},
		{"no such method", "PATCH", scores, "", 405, "method_not_allowed", ""},
		{"live without a handshake", "GET", "/v1/live", "", 400, "invalid_request", ""},
	}
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b"})
		n.Require(200, "POST", scores, `{"member":"a","score":1,"id":"first"}`)
		before := n.Do("GET", "/v1/boards/b", "").Body
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				servertest.RequireProblem(t, n.Do(c.method, c.path, c.body), c.status, c.code, c.field)
			})
		}
		differing := n.Do("POST", scores, `{"member":"x","score":1,"id":"one"}`, "Idempotency-Key", "two")
		servertest.RequireProblem(t, differing, 400, "invalid_request", "id")
		empty := n.Do("POST", scores, `{"member":"x","score":1}`, "Idempotency-Key", "")
		servertest.RequireProblem(t, empty, 400, "invalid_request", "Idempotency-Key")
		zipped := n.Do("POST", scores, `{"member":"x","score":1}`, "Content-Encoding", "gzip")
		servertest.RequireProblem(t, zipped, 415, "unsupported_media_type", "Content-Encoding")
		for _, method := range []string{"POST", "DELETE"} {
			elsewhere := n.Do(method, map[string]string{"POST": scores, "DELETE": "/v1/boards/b/members/a"}[method],
				`{"member":"x","score":1}`, "Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site")
			servertest.RequireProblem(t, elsewhere, 403, "forbidden", "Origin")
		}
		require.Equal(t, before, n.Do("GET", "/v1/boards/b", "").Body, "nothing has changed")
	})
}

// The detail of a problem says what the server wants instead.
func TestProblemsNameTheRemedy(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	for _, c := range []struct{ method, path, body, detail string }{
		{"POST", "/v1/boards/b/scores", `{"member":"x","score":1,"points":2}`,
			"points: is not a field of this object; want member, score, columns, id, op, if, data, at; or updates, a list"},
		{"POST", "/v1/boards/b/scores", `{"events":[]}`,
			"events: is not a field of this object; want member, score, columns, id, op, if, data, at; or updates, a list"},
		{"POST", "/v1/boards/b/scores", `{"updates":[],"id":"x"}`, "id: is not a field of this object; want updates"},
		{"PUT", "/v1/boards/b/members/x/score", `{"` + strings.Repeat("x", 1000) + `":1}`,
			strings.Repeat("x", 64) + "…: is not a field of this object; want score, columns, reason, by"},
		{"PUT", "/v1/boards/b/members/x/score", `{"points":1}`, "points: is not a field of this object; want score, columns, reason, by"},
		{"PUT", "/v1/boards/b/hidden/x", `{"why":"x"}`, "why: is not a field of this object; want reason, by"},
		{"PUT", "/v1/members/user/x", `{"title":"x"}`, "title: is not a field of this object; want name, avatar"},
		{"POST", "/boards/b/scores", `{}`, "method not allowed: POST; want GET, HEAD; paths of the API begin with /v1"},
		{"PUT", "/nowhere", `{}`, "not found: /nowhere; paths of the API begin with /v1"},
		{"PUT", "/v1/boards/b/scores", `{}`, "method not allowed: PUT; want POST"},
		{"POST", "/v1/boards/b", `{}`, "method not allowed: POST; want DELETE, GET, HEAD, PUT"},
		{"POST", "/v1/nowhere", `{}`, "not found: /v1/nowhere"},
	} {
		answer := n.Do(c.method, c.path, c.body)
		var p struct{ Detail string }
		answer.Into(&p)
		require.Equal(t, c.detail, p.Detail, answer.Body)
		require.Equal(t, answer.Status == 405, answer.Header.Get("Allow") != "", "Allow stands with 405 alone")
	}
	var batch struct {
		Results []struct{ Error struct{ Message string } }
	}
	n.Do("POST", "/v1/boards/b/scores", `{"updates":[{"member":"x","points":2}]}`).Into(&batch)
	require.Equal(t, "updates[0].points: is not a field of this object; want member, score, columns, id, op, if, data, at",
		batch.Results[0].Error.Message)
	line := n.Do("POST", "/v1/boards/b/import", `{"member":"x","points":2}`, "Content-Type", "application/x-ndjson")
	require.Contains(t, line.Body, "line 1: points: is not a field of this object; want member, score, columns, data")
}

// A body counts with each type that may stand beside JSON in UTF-8, and with no other type.
func TestTypesOfBodies(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		const update = `{"member":"ana","score":1}`
		accepted := []string{
			"application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;charset=UTF-8",
			`application/json; charset="utf8"`, "application/json; charset=US-ASCII",
			"application/json; profile=x", "application/json;", "application/vnd.game+json", "application/problem+json; charset=utf-8", "text/json",
			"application/x-www-form-urlencoded", "text/plain", "text/plain;charset=UTF-8", "",
		}
		for i, contentType := range accepted {
			a := n.Do("POST", "/v1/boards/b/scores", update, "Content-Type", contentType)
			require.Equal(t, 200, a.Status, "%q: %s", contentType, a.Body)
			require.Contains(t, a.Body, fmt.Sprintf(`"score":%d,`, i+1))
			require.Empty(t, a.Header.Get("Accept"))
		}
		a := rawRequest(t, n.Addr, "POST /v1/boards/b/scores HTTP/1.1\nHost: localhost\nContent-Encoding: Identity", update)
		require.Equal(t, 200, a.Status, a.Body)

		before := n.Do("GET", "/v1/boards/b", "").Body
		for _, contentType := range []string{"multipart/form-data; boundary=x", "application/octet-stream",
			"application/json; charset=utf-16", "application/x-ndjson", "application/json; charset", "json"} {
			a := n.Do("POST", "/v1/boards/b/scores", update, "Content-Type", contentType)
			servertest.RequireProblem(t, a, 415, "unsupported_media_type", "Content-Type")
			require.Equal(t, "application/json", a.Header.Get("Accept"))
			servertest.RequireProblem(t, n.Do("DELETE", "/v1/boards/b", update, "Content-Type", contentType), 415,
				"unsupported_media_type", "Content-Type")
		}
		zipped := n.Do("PUT", "/v1/boards/b", `{}`, "Content-Encoding", "gzip")
		servertest.RequireProblem(t, zipped, 415, "unsupported_media_type", "Content-Encoding")
		require.Equal(t, before, n.Do("GET", "/v1/boards/b", "").Body, "nothing has changed")

		// Without a body there is nothing whose type could be wrong; a missing route is missing first.
		servertest.RequireProblem(t, n.Do("DELETE", "/v1/boards/nope", "", "Content-Type", "image/png"), 404, "unknown_board", "board")
		servertest.RequireProblem(t, n.Do("POST", "/v1/nowhere", update, "Content-Type", "image/png"), 404, "not_found", "")
		servertest.RequireProblem(t, n.Do("PATCH", "/v1/boards/b", update, "Content-Type", "image/png"), 405, "method_not_allowed", "")
		foreign := n.Do("POST", "/v1/boards/b/scores", update, "Content-Type", "text/plain", "Origin", "http://evil.example",
			"Sec-Fetch-Site", "cross-site")
		servertest.RequireProblem(t, foreign, 403, "forbidden", "Origin")
	})
}
