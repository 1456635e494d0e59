package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/server/servertest"
)

func TestScoresOverHTTP(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b"}, definition.Board{Name: "laps", Mode: "best",
		Order: "asc"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		post := func(body string, header ...string) string {
			a := n.Require(200, "POST", "/v1/boards/b/scores", body, header...)
			return a.Body
		}
		require.JSONEq(t, `{"board":"b","period":"","member":"s17","score":3,"rank":1,"previous":null,"duplicate":false}`,
			post(`{"member":"s17","score":3}`))
		require.JSONEq(t, `{"board":"b","period":"","member":"s17","score":10,"rank":1,"previous":{"score":3,"rank":1},"duplicate":false}`,
			post(`{"member":"s17","score":7,"id":"g1"}`))
		require.JSONEq(t, `{"board":"b","period":"","member":"s17","score":10,"rank":1,"previous":{"score":3,"rank":1},"duplicate":true}`,
			post(`{"member":"s17","score":7}`, "Idempotency-Key", "g1"))
		require.JSONEq(t, `{"board":"b","period":"","member":"s17","score":-9007199254740991,"rank":1,"previous":{"score":10,`+
			`"rank":1},"duplicate":false}`,
			post(`{"member":"s17","score":-9007199254740991,"op":"last"}`))

		batch := `{"updates":[{"member":"a","score":5},{"member":"","score":1},{"member":"a","score":5,"id":"own"},{"member":"s17","score":-1}]}`
		var results struct{ Results []json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(post(batch)), &results))
		require.Len(t, results.Results, 4)
		require.JSONEq(t, `{"board":"b","period":"","member":"a","score":5,"rank":1,"previous":null,"duplicate":false}`,
			string(results.Results[0]))
		require.Contains(t, string(results.Results[1]), `"field":"updates[1].member"`)
		require.JSONEq(t, `{"board":"b","period":"","member":"a","score":10,"rank":1,"previous":{"score":5,"rank":1},"duplicate":false}`,
			string(results.Results[2]))
		require.Contains(t, string(results.Results[3]), `"code":"out_of_range"`)
		require.Contains(t, string(results.Results[3]), `"field":"updates[3].score"`)

		a := n.Do("POST", "/v1/boards/laps/scores", `{"member":"ana","score":61.5}`)
		servertest.RequireProblem(t, a, 400, "invalid_request", "score")
		require.Contains(t, a.Body, "score: is 61.5; want an integer: send seconds as milliseconds with display.format time_ms")
		a = n.Do("POST", "/v1/boards/laps/scores", `{"updates":[{"member":"ana","score":61.5}]}`)
		require.Contains(t, a.Body, "updates[0].score: is 61.5; want an integer: send seconds")

		keyed := `{"updates":[{"member":"k","score":1},{"member":"k","score":1}]}`
		post(keyed, "Idempotency-Key", "K")
		again := post(keyed, "Idempotency-Key", "K")
		require.Equal(t, 2, strings.Count(again, `"duplicate":true`))
		require.Contains(t, post(`{"member":"k","score":1,"id":"K#1"}`), `"duplicate":true`)

		a = n.Do("GET", "/v1/boards/b/members/k", "")
		require.JSONEq(t, `{"board":"b","period":"","ends":null,"final":false,"rank":2,"member":"k","score":2,"total":3,`+
			`"percentile":50,"to_next":8}`, a.Body)
		a = n.Do("GET", "/v1/boards/b/members/a?around=1", "")
		require.JSONEq(t, `{"board":"b","period":"","ends":null,"final":false,"rank":1,"member":"a",
			"score":10,"total":3,"percentile":100,"to_next":null,
			"around":[{"rank":1,"member":"a","score":10},{"rank":2,"member":"k","score":2}]}`, a.Body)
		a = n.Do("GET", "/v1/boards/b/members?id=k&id=nobody&id=a", "")
		require.JSONEq(t, `{"board":"b","period":"","ends":null,"final":false,"total":3,"members":[{"member":"k","rank":2,"among":2,"score":2},
			{"member":"nobody","rank":null,"among":null,"score":null},{"member":"a","rank":1,"among":1,"score":10}]}`, a.Body)
		a = n.Do("DELETE", "/v1/boards/b/members/k", "")
		require.JSONEq(t, `{"board":"b","period":"","member":"k","score":null,"rank":null,"previous":{"score":2,"rank":2},"duplicate":false}`,
			a.Body)
		a = n.Do("GET", "/v1/boards", "")
		require.JSONEq(t, `{"boards":[{"board":"b","mode":"sum","order":"desc","ties":"first","kind":"member"},{"board":"laps",`+
			`"mode":"best","order":"asc","ties":"first","kind":"member"}]}`, a.Body)
		a = n.Require(200, "GET", "/v1/boards/b", "")
		require.Contains(t, a.Body, `"total":2,`)
		require.Contains(t, a.Body, `"seq":8,`)
		a = n.Do("GET", "/v1/boards/laps", "")
		require.Contains(t, a.Body, `"epoch":"","seq":0,"last_change":null`)
		n.Require(200, "GET", "/healthz", "")
		for _, path := range []string{"/", "/healthz", "/v1/boards", "/v1/boards/b/top"} {
			n.Require(200, "HEAD", path, "")
		}
		n.UntilReady()
	})
}
