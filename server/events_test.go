package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

func TestEventsOverHTTP(t *testing.T) {
	servertest.With(servertest.Config{}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		for _, board := range []string{"stars", "fans:{star}", "spring"} {
			body := `{}`
			if board == "spring" {
				body = `{"starts":"2020-03-01T00:00:00Z","ends":"2020-06-01T00:00:00Z"}`
			}
			n.Require(201, "PUT", "/v1/boards/"+url.PathEscape(board), body)
		}
		require.Equal(t, 3, strings.Count(n.Do("GET", "/v1/boards/spring", "").Body, `"ends":"2020-06-01T00:00:00.000Z"`), "times have one form")
		gift := `{"show":{"board":"stars","fans":"fans:{star}","recent":"fans:{star}","title":{"en":"Star flowers"}},"updates":[` +
			`{"board":"stars","member":"{star}","score":"{flowers}"},{"board":"fans:{star}","member":"{user}","score":"{flowers}"},` +
			`{"board":"spring","member":"{user}","score":1}]}`
		require.Equal(t, "unknown_event event", code(n.Do("POST", "/v1/events/gift", `{}`)))
		require.Equal(t, "invalid_request updates[2].board", code(n.Do("PUT", "/v1/events/gift", strings.Replace(gift, "spring", "moons", 1))))
		require.Equal(t, "invalid_request show.board", code(n.Do("PUT", "/v1/events/gift", strings.Replace(gift, "stars", "moons", 1))))
		require.Equal(t, "invalid_request show.recent",
			code(n.Do("PUT", "/v1/events/gift", strings.Replace(gift, `"recent":"fans:{star}"`, `"recent":"spring"`, 1))))
		require.Equal(t, "invalid_request event", code(n.Do("PUT", "/v1/events/periods", gift)))
		n.Require(201, "PUT", "/v1/events/gift", gift)
		n.Require(200, "PUT", "/v1/events/gift", gift)
		require.JSONEq(t, `{"event":"gift",`+gift[1:], n.Do("GET", "/v1/events/gift", "").Body)
		require.JSONEq(t, `{"events":[{"event":"gift",`+gift[1:]+`]}`, n.Do("GET", "/v1/events", "").Body)
		require.Equal(t, "conflict board", code(n.Do("DELETE", "/v1/boards/stars", "")), "an event needs it")

		for body, want := range map[string]string{
			`{"star":"s17","user":"u4"}`:                            "invalid_request flowers",
			`{"star":"s17","user":"u4","flowers":3,"colour":"red"}`: "invalid_request colour",
			`{"star":"","user":"u4","flowers":3}`:                   "invalid_request star",
			`{"star":"s:17","user":"u4","flowers":3}`:               "invalid_request star",
			`{"star":17,"user":"u4","flowers":3}`:                   "invalid_request star",
			`{"star":"s17","user":null,"flowers":3}`:                "invalid_request user",
			`{"star":"s17","user":"u4","flowers":"3"}`:              "invalid_request flowers",
			`{"star":"s17","user":"u4","flowers":3.5}`:              "invalid_request flowers",
			`{"star":"s17","user":"u4","flowers":9007199254740992}`: "out_of_range flowers",
			`{"id":"","star":"s17","user":"u4","flowers":3}`:        "invalid_request id",
			`{"id":7,"star":"s17","user":"u4","flowers":3}`:         "invalid_request id",
			`{"events":[]}`: "invalid_request events",
			`{"events":[{"star":"s17","user":"u4","flowers":3}],"x":1}`: "invalid_request x",
			`7`: "invalid_request body",
		} {
			require.Equal(t, want, code(n.Do("POST", "/v1/events/gift", body)), body)
		}
		_, total := n.Top("stars", 1)
		require.Zero(t, total, "what is refused changes nothing")

		first := n.Do("POST", "/v1/events/gift", `{"id":"g1","star":"s17","user":"u4","flowers":3}`)
		require.JSONEq(t, `{"results":[
			{"board":"stars","period":"","member":"s17","score":3,"rank":1,"previous":null,"duplicate":false},
			{"board":"fans:s17","period":"","member":"u4","score":3,"rank":1,"previous":null,"duplicate":false},
			{"board":"spring","error":{"code":"not_open","field":"board",
				"message":"board: takes updates from 2020-03-01T00:00:00.000Z until 2020-06-01T00:00:00.000Z"}}]}`, first.Body)
		again := n.Do("POST", "/v1/events/gift", `{"star":"s17","user":"u4","flowers":3}`, "Idempotency-Key", "g1")
		require.Equal(t, strings.ReplaceAll(first.Body, "false", "true"), again.Body)
		require.Equal(t, "idempotency_mismatch id", code(n.Do("POST", "/v1/events/gift", `{"id":"g1","star":"s18","user":"u4","flowers":3}`)))
		require.Equal(t, "invalid_request id", code(n.Do("POST", "/v1/events/gift",
			`{"id":"g2","star":"s17","user":"u4","flowers":3}`, "Idempotency-Key", "g1")))

		batch := `{"events":[{"star":"s1","user":"u1","flowers":1},{"star":"s1","user":"u2"},{"id":"g1","star":"s18","user":"u4",` +
			`"flowers":3},{"star":"s1","user":"u2","flowers":2},7]}`
		for range 2 {
			var answer struct {
				Results []struct {
					Results []struct{ Score int64 }
					Error   struct{ Code, Field string }
				}
			}
			a := n.Require(200, "POST", "/v1/events/gift", batch, "Idempotency-Key", "K")
			a.Into(&answer)
			require.EqualValues(t, 1, answer.Results[0].Results[0].Score)
			require.Equal(t, "events[1].flowers", answer.Results[1].Error.Field)
			require.Equal(t, "events[2].id", answer.Results[2].Error.Field, "its own id is not that of its request")
			require.EqualValues(t, 3, answer.Results[3].Results[0].Score)
			require.Equal(t, "events[4]", answer.Results[4].Error.Field)
		}
		// The rules of fields hold for everybody.
		rules := strings.Replace(gift, `{"show"`,
			`{"sender":"user","fields":{"flowers":{"min":1,"max":99,"choices":[1,9]},"star":{"kind":"star"}},"show"`, 1)
		require.Equal(t, "invalid_request fields.flowers.max", code(n.Do("PUT", "/v1/events/gift", strings.Replace(rules, "99", "0", 1))))
		require.Equal(t, "invalid_request fields.flowers.choices[1]", code(n.Do("PUT", "/v1/events/gift", strings.Replace(rules, "99", "8", 1))))
		n.Require(200, "PUT", "/v1/events/gift", rules)
		require.Equal(t, "out_of_range flowers", code(n.Do("POST", "/v1/events/gift", `{"star":"s17","user":"u4","flowers":100}`)))
		require.Equal(t, "invalid_request star", code(n.Do("POST", "/v1/events/gift", `{"star":"s17","user":"u4","flowers":1}`)))
		n.Require(200, "PUT", "/v1/events/gift", gift)

		top, _ := n.Top("stars", 2)
		require.Equal(t, []hubtest.Entry{{Rank: 1, Member: "s17", Score: 3}, {Rank: 2, Member: "s1", Score: 3}}, top)
		n.Require(204, "DELETE", "/v1/events/gift", "")
		require.Equal(t, "unknown_event event", code(n.Do("DELETE", "/v1/events/gift", "")))
	})
}

// An Idempotency-Key is taken for each item of a batch or for none: the longest key that fits all
// items counts once, and one byte more is refused before anything counts.
func TestIdempotencyKeyIsTakenOrRefusedWhole(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(201, "PUT", "/v1/events/e", `{"updates":[{"board":"b","member":"m","score":1}]}`)
		one := func(item string) func(int) string { return func(int) string { return item } }
		batch := func(field, item string) func(int) string {
			return func(items int) string { return `{"` + field + `":[` + strings.Repeat(item+",", items-1) + item + `]}` }
		}
		counted := int64(0)
		for i, c := range []struct {
			path        string
			body        func(items int) string
			items, most int
		}{
			{"/v1/boards/b/scores", one(`{"member":"m","score":1}`), 1, 128},
			{"/v1/events/e", one(`{}`), 1, 128},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 1, 126},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 10, 126},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 11, 125},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 100, 125},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 101, 124},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 1000, 124},
			{"/v1/events/e", batch("events", `{}`), 10, 126},
			{"/v1/events/e", batch("events", `{}`), 12, 125},
		} {
			what := fmt.Sprintf("%d items to %s", c.items, c.path)
			key := fmt.Sprintf("%03d", i) + strings.Repeat("k", c.most-3)
			long := n.Do("POST", c.path, c.body(c.items), "Idempotency-Key", key+"k")
			servertest.RequireProblem(t, long, 400, "invalid_request", "Idempotency-Key")
			require.Contains(t, long.Body, fmt.Sprintf("has %d bytes; want 1 to %d", c.most+1, c.most), what)
			for range 2 {
				answer := n.Require(200, "POST", c.path, c.body(c.items), "Idempotency-Key", key)
				require.NotContains(t, answer.Body, "error", what)
			}
			counted += int64(c.items)
			top, _ := n.Top("b", 1)
			require.Equal(t, counted, top[0].Score, what)
		}

		for _, key := range []string{"tab\tkey", "\xff"} {
			answer := n.Do("POST", "/v1/boards/b/scores", `{"updates":[{"member":"m","score":1}]}`, "Idempotency-Key", key)
			servertest.RequireProblem(t, answer, 400, "invalid_request", "Idempotency-Key")
		}
		top, _ := n.Top("b", 1)
		require.Equal(t, counted, top[0].Score, "what is refused does not count")
	})
}

// A retry whose JSON was written anew is a duplicate, alone, in a batch and as an event.
func TestRetryInOtherWords(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	n.Require(201, "PUT", "/v1/events/e", `{"updates":[{"board":"b","member":"m","score":1,"data":{"d":"{d}"}}]}`)
	for _, c := range []struct {
		path string
		same []string
		not  string
	}{
		{"/v1/boards/b/scores", []string{
			`{"member":"m","score":1,"id":"1","data":{"x":1,"y":[2,"A"]}}`,
			`{"id":"1","data":{"y":[20e-1,"\u0041"],"x":1.0},"op":"sum","score":1,"member":"m"}`,
		}, `{"member":"m","score":1,"id":"1","data":{"x":"1","y":[2,"A"]}}`},
		{"/v1/boards/b/scores", []string{
			`{"member":"m","score":1,"id":"2"}`,
			`{"id":"2","score":1,"member":"m"}`,
		}, `{"member":"m","score":1,"id":"2","data":null}`}, // without data, those before stay; null removes them
		{"/v1/events/e", []string{
			`{"id":"3","d":{"x":9007199254740993,"y":0}}`,
			`{"d":{"y":-0.0,"x":9007199254740993.0},"id":"3"}`,
		}, `{"id":"3","d":{"x":9007199254740992,"y":0}}`},
	} {
		for i, body := range c.same {
			answer := n.Require(200, "POST", c.path, body)
			require.Contains(t, answer.Body, `"duplicate":`+map[bool]string{true: "true", false: "false"}[i > 0], body)
		}
		servertest.RequireProblem(t, n.Do("POST", c.path, c.not), 409, "idempotency_mismatch", "id")
	}
}
