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

// problem is an error as a caller sees it.
type problem struct {
	Type, Title, Code, Detail, Field string
	Status                           int
}

func requireProblem(t *testing.T, a servertest.Answer, status int, code, field string) {
	t.Helper()
	require.Equal(t, status, a.Status, a.Body)
	require.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
	var p problem
	a.Into(&p)
	require.Equal(t, code, p.Code, a.Body)
	require.Equal(t, field, p.Field, a.Body)
	require.Equal(t, status, p.Status)
	require.NotEmpty(t, p.Detail)
	require.NotEmpty(t, p.Title)
	if status == 503 {
		require.NotEmpty(t, a.Header.Get("Retry-After"))
	}
}

func TestScoresOverHTTP(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startNode(t, url, nodeConfig{}, definition.Board{Name: "b"}, definition.Board{Name: "laps", Mode: "best", Order: "asc"})
		post := func(body string, header ...string) string {
			a := n.do("POST", "/v1/boards/b/scores", body, header...)
			require.Equal(t, 200, a.Status, a.Body)
			return a.Body
		}
		require.JSONEq(t, `{"board":"b","period":"","member":"s17","score":3,"rank":1,"previous":null,"duplicate":false}`,
			post(`{"member":"s17","score":3}`))
		require.JSONEq(t, `{"board":"b","period":"","member":"s17","score":10,"rank":1,"previous":{"score":3,"rank":1},"duplicate":false}`,
			post(`{"member":"s17","score":7,"id":"g1"}`))
		require.JSONEq(t, `{"board":"b","period":"","member":"s17","score":10,"rank":1,"previous":{"score":3,"rank":1},"duplicate":true}`,
			post(`{"member":"s17","score":7}`, "Idempotency-Key", "g1"))
		require.JSONEq(t, `{"board":"b","period":"","member":"s17","score":-9007199254740991,"rank":1,"previous":{"score":10,"rank":1},"duplicate":false}`,
			post(`{"member":"s17","score":-9007199254740991,"op":"last"}`))

		batch := `{"updates":[{"member":"a","score":5},{"member":"","score":1},{"member":"a","score":5,"id":"own"},{"member":"s17","score":-1}]}`
		var results struct{ Results []json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(post(batch)), &results))
		require.Len(t, results.Results, 4)
		require.JSONEq(t, `{"board":"b","period":"","member":"a","score":5,"rank":1,"previous":null,"duplicate":false}`, string(results.Results[0]))
		require.Contains(t, string(results.Results[1]), `"field":"updates[1].member"`)
		require.JSONEq(t, `{"board":"b","period":"","member":"a","score":10,"rank":1,"previous":{"score":5,"rank":1},"duplicate":false}`, string(results.Results[2]))
		require.Contains(t, string(results.Results[3]), `"code":"out_of_range"`)
		require.Contains(t, string(results.Results[3]), `"field":"updates[3].score"`)

		keyed := `{"updates":[{"member":"k","score":1},{"member":"k","score":1}]}`
		post(keyed, "Idempotency-Key", "K")
		again := post(keyed, "Idempotency-Key", "K")
		require.Equal(t, 2, strings.Count(again, `"duplicate":true`))
		require.Contains(t, post(`{"member":"k","score":1,"id":"K#1"}`), `"duplicate":true`)

		a := n.do("GET", "/v1/boards/b/members/k", "")
		require.JSONEq(t, `{"board":"b","period":"","ends":null,"final":false,"rank":2,"member":"k","score":2,"total":3,"percentile":50,"to_next":8}`, a.Body)
		a = n.do("GET", "/v1/boards/b/members/a?around=1", "")
		require.JSONEq(t, `{"board":"b","period":"","ends":null,"final":false,"rank":1,"member":"a","score":10,"total":3,"percentile":100,"to_next":null,
			"around":[{"rank":1,"member":"a","score":10},{"rank":2,"member":"k","score":2}]}`, a.Body)
		a = n.do("GET", "/v1/boards/b/members?id=k&id=nobody&id=a", "")
		require.JSONEq(t, `{"board":"b","period":"","ends":null,"final":false,"total":3,"members":[{"member":"k","rank":2,"among":2,"score":2},
			{"member":"nobody","rank":null,"among":null,"score":null},{"member":"a","rank":1,"among":1,"score":10}]}`, a.Body)
		a = n.do("DELETE", "/v1/boards/b/members/k", "")
		require.JSONEq(t, `{"board":"b","period":"","member":"k","score":null,"rank":null,"previous":{"score":2,"rank":2},"duplicate":false}`, a.Body)
		a = n.do("GET", "/v1/boards", "")
		require.JSONEq(t, `{"boards":[{"board":"b","mode":"sum","order":"desc","ties":"first","kind":"member"},{"board":"laps","mode":"best","order":"asc","ties":"first","kind":"member"}]}`, a.Body)
		a = n.do("GET", "/v1/boards/b", "")
		require.Equal(t, 200, a.Status)
		require.Contains(t, a.Body, `"total":2,`)
		require.Contains(t, a.Body, `"seq":8,`)
		a = n.do("GET", "/v1/boards/laps", "")
		require.Contains(t, a.Body, `"epoch":"","seq":0,"last_change":null`)
		require.Equal(t, 200, n.do("GET", "/healthz", "").Status)
		for _, path := range []string{"/", "/healthz", "/v1/boards", "/v1/boards/b/top"} {
			require.Equal(t, 200, n.do("HEAD", path, "").Status, path)
		}
		redistest.Eventually(t, "the node to be ready", func() error {
			if a := n.do("GET", "/readyz", ""); a.Status != 200 {
				return fmt.Errorf("%s", a.Body)
			}
			return nil
		})
	})
}

// A period or a family where only a board can be is told to be one, by HTTP and over a
// socket, and nothing goes.
func TestWhatIsNoBoardByItself(t *testing.T) {
	n := startNode(t, redistest.Embedded(t), nodeConfig{}, definition.Board{Name: "stars", Period: "week"}, definition.Board{Name: "fans:{star}"})
	s := servertest.Dial(t, n.addr)
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
		a := n.do(parts[0], parts[1], parts[2])
		requireProblem(t, a, 400, "invalid_request", "board")
		require.Contains(t, strings.ReplaceAll(a.Body, `\"`, `"`), says, request)
	}
	require.Equal(t, 200, n.do("GET", "/v1/boards/stars", "").Status)
}

func TestMembersWithAnyName(t *testing.T) {
	n := startNode(t, redistest.Embedded(t), nodeConfig{}, definition.Board{Name: "b"})
	for _, m := range []string{"a/b", "50% off", "%2F", "ü ñ 星", "<img onerror>", "..", "a?b&c=d", strings.Repeat("x", 128), `"\`, "a+b"} {
		quoted, err := json.Marshal(m)
		require.NoError(t, err)
		a := n.do("POST", "/v1/boards/b/scores", fmt.Sprintf(`{"member":%s,"score":1}`, quoted))
		require.Equal(t, 200, a.Status, a.Body)
		path := "/v1/boards/b/members/" + strings.ReplaceAll(url.PathEscape(m), "..", "%2E%2E")
		var got struct{ Member string }
		a = n.do("GET", path, "")
		require.Equal(t, 200, a.Status, "%s: %s", m, a.Body)
		a.Into(&got)
		require.Equal(t, m, got.Member)
		require.Equal(t, 200, n.do("DELETE", path, "").Status)
	}
}

func TestPagesOverHTTP(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startNode(t, url, nodeConfig{}, definition.Board{Name: "b"})
		var updates []string
		for i := range 25 {
			updates = append(updates, fmt.Sprintf(`{"member":"m%02d","score":%d}`, i, 100-i))
		}
		require.Equal(t, 200, n.do("POST", "/v1/boards/b/scores", `{"updates":[`+strings.Join(updates, ",")+`]}`).Status)
		type page struct {
			Total  int
			Top    []struct{ Rank, Score int }
			Cursor *string
		}
		get := func(query string) (p page) {
			a := n.do("GET", "/v1/boards/b/top"+query, "")
			require.Equal(t, 200, a.Status, a.Body)
			a.Into(&p)
			return p
		}
		p := get("")
		require.Len(t, p.Top, 10)
		require.Equal(t, 25, p.Total)
		p = get("?limit=20&cursor=" + *p.Cursor)
		require.Len(t, p.Top, 15)
		require.Equal(t, 11, p.Top[0].Rank)
		require.Nil(t, p.Cursor)
		p = get("?from_rank=24&limit=5")
		require.Equal(t, 24, p.Top[0].Rank)
		require.Len(t, p.Top, 2)
		require.Empty(t, get("?from_rank=26").Top)
		require.Contains(t, n.do("GET", "/v1/boards/b/top?from_rank=26", "").Body, `"top":[],"cursor":null`)
	})
}

// Whatever is wrong with a request is told with the name of the field, and
// changes nothing.
func TestBadInput(t *testing.T) {
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
		{"invalid UTF-8", "POST", scores, "{\"member\":\"a\xff\",\"score\":1}", 400, "invalid_request", "body"},
		{"half a surrogate pair", "POST", scores, `{"member":"\ud800","score":1}`, 400, "invalid_request", "body"},
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
		{"cursor empty", "GET", "/v1/boards/b/top?cursor=", "", 400, "invalid_request", "cursor"},
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
		n := startNode(t, url, nodeConfig{}, definition.Board{Name: "b"})
		require.Equal(t, 200, n.do("POST", scores, `{"member":"a","score":1,"id":"first"}`).Status)
		before := n.do("GET", "/v1/boards/b", "").Body
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				requireProblem(t, n.do(c.method, c.path, c.body), c.status, c.code, c.field)
			})
		}
		differing := n.do("POST", scores, `{"member":"x","score":1,"id":"one"}`, "Idempotency-Key", "two")
		requireProblem(t, differing, 400, "invalid_request", "id")
		empty := n.do("POST", scores, `{"member":"x","score":1}`, "Idempotency-Key", "")
		requireProblem(t, empty, 400, "invalid_request", "Idempotency-Key")
		zipped := n.do("POST", scores, `{"member":"x","score":1}`, "Content-Encoding", "gzip")
		requireProblem(t, zipped, 400, "invalid_request", "Content-Encoding")
		for _, method := range []string{"POST", "DELETE"} {
			elsewhere := n.do(method, map[string]string{"POST": scores, "DELETE": "/v1/boards/b/members/a"}[method],
				`{"member":"x","score":1}`, "Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site")
			requireProblem(t, elsewhere, 403, "forbidden", "Origin")
		}
		require.Equal(t, before, n.do("GET", "/v1/boards/b", "").Body, "nothing has changed")
	})
}
