package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

func TestDefinitionsOverHTTP(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, at string) {
		a, b := servertest.Start(t, at, servertest.Config{}), servertest.Start(t, at, servertest.Config{})
		answer := a.Do("PUT", "/v1/boards/stars", `{"period":"week","timezone":"Asia/Shanghai","kind":"star"}`)
		require.Equal(t, 201, answer.Status, answer.Body)
		week := `{"board":"stars","mode":"sum","order":"desc","ties":"first","period":"week","timezone":"Asia/Shanghai",` +
			`"week_starts":"monday","day_starts_at":"00:00","keep":8,"kind":"star"}`
		require.JSONEq(t, week, answer.Body)
		require.Equal(t, 200, a.Do("PUT", "/v1/boards/stars", `{"period":"week","timezone":"Asia/Shanghai","kind":"star"}`).Status)
		// How long request ids count, of a board and of an event.
		require.Contains(t, a.Do("PUT", "/v1/boards/paid", `{"ids":"7d"}`).Body, `"ids":"7d"`)
		require.Equal(t, "invalid_request ids", code(a.Do("PUT", "/v1/boards/paid", `{"ids":"9m"}`)))
		require.Contains(t, a.Do("PUT", "/v1/events/pay",
			`{"ids":"1d","updates":[{"board":"paid","member":"{user}","score":"{coins}"}]}`).Body, `"ids":"1d"`)
		require.Equal(t, "invalid_request ids", code(a.Do("PUT", "/v1/events/pay",
			`{"ids":"8d","updates":[{"board":"paid","member":"{user}","score":"{coins}"}]}`)))
		require.Equal(t, 204, a.Do("DELETE", "/v1/events/pay", "").Status)
		require.Equal(t, 204, a.Do("DELETE", "/v1/boards/paid", "").Status)
		family := "/v1/boards/" + url.PathEscape("fans:{star}")
		require.Equal(t, 201, a.Do("PUT", family, `{"period":"day","max_instances":3}`).Status)

		// Another node knows them at once, and all that works for a board does for an instance.
		for i := range 3 {
			answer = b.Do("POST", fmt.Sprintf("/v1/boards/fans:s%d/scores", i), `{"member":"u","score":3,"data":{"from":"b"}}`)
			require.Equal(t, 200, answer.Status, answer.Body)
		}
		require.Equal(t, "conflict board", code(b.Do("POST", "/v1/boards/fans:s3/scores", `{"member":"u","score":3}`)))
		require.Contains(t, a.Do("GET", "/v1/boards/fans:s2/top", "").Body, `"top":[{"rank":1,"member":"u","score":3,"data":{"from":"b"}}]`)
		require.Contains(t, a.Do("GET", "/v1/boards/fans:s2/members/u?around=1", "").Body, `"data":{"from":"b"}`)
		require.Contains(t, a.Do("GET", "/v1/boards/fans:s2/members?id=u", "").Body, `"data":{"from":"b"}`)
		require.Contains(t, a.Do("GET", "/v1/boards/fans:never/top", "").Body, `"total":0`, "an instance that nobody wrote to is an empty board")
		require.Equal(t, 200, a.Do("DELETE", "/v1/boards/fans:s2/members/u", "").Status)
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
		require.Equal(t, 200, b.Do("POST", "/v1/boards/stars/scores", `{"member":"s","score":3}`).Status)
		require.Equal(t, "conflict period", code(a.Do("PUT", "/v1/boards/stars", `{"period":"day","timezone":"Asia/Shanghai"}`)))
		require.Equal(t, "conflict order", code(a.Do("PUT", "/v1/boards/stars", `{"order":"asc","period":"week","timezone":"Asia/Shanghai"}`)))
		require.Equal(t, 200, a.Do("PUT", "/v1/boards/stars", `{"mode":"best","period":"week","timezone":"Asia/Shanghai"}`).Status)

		// Gone.
		require.Equal(t, 204, a.Do("DELETE", "/v1/boards/fans:s1", "").Status)
		require.Equal(t, 204, a.Do("DELETE", family, "").Status)
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
	require.Equal(t, 200, n.Do("GET", "/v1/boards/stars", "").Status)
}
