package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// contest is a board with columns, and one without.
func contest(t testing.TB, url string) *servertest.Node {
	n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "plain"})
	n.Require(201, "PUT", "/v1/boards/icpc", `{"kind":"team","columns":[
		{"name":"solved","max":20,"title":{"en":"Solved","zh":"解题"}},
		{"name":"penalty","order":"asc","min":0,"max":99999,"display":{"unit":"min"}}]}`)
	n.Require(201, "PUT", "/v1/events/judged", `{"updates":[{"board":"icpc","member":"{team}",
		"columns":{"solved":1,"penalty":"{minutes}"}}]}`)
	return n
}

// A board with columns takes them in the place of a score, and shows them beside the score wherever a score is.
func TestColumnsOverHTTP(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := contest(t, url)
		const mit, eth = `"score":99960,"columns":{"solved":1,"penalty":40}`, `"score":199980,"columns":{"solved":2,"penalty":20}`
		const head = `{"board":"icpc","period":"","ends":null,"final":false,`
		for _, c := range []struct{ method, path, body, want string }{
			{"POST", "/v1/boards/icpc/scores", `{"member":"mit","columns":{"solved":1,"penalty":20},"id":"1"}`,
				`{"board":"icpc","period":"","member":"mit","score":99980,"columns":{"solved":1,"penalty":20},"rank":1,"previous":null,` +
					`"duplicate":false}`},
			{"POST", "/v1/boards/icpc/scores", `{"updates":[{"member":"mit","columns":{"penalty":20}},{"member":"mit","columns":{"penalty":-41}},
				{"member":"mit","columns":{"solved":1,"penalty":20},"id":"1"}]}`,
				`{"results":[{"board":"icpc","period":"","member":"mit",` + mit + `,"rank":1,"previous":{"score":99980,` +
					`"columns":{"solved":1,"penalty":20},"rank":1},"duplicate":false},` +
					`{"error":{"code":"out_of_range","message":"updates[1].columns.penalty: is, or results in, a value outside 0 ` +
					`to 99999","field":"updates[1].columns.penalty"}},{"board":"icpc","period":"","member":"mit","score":99980,` +
					`"columns":{"solved":1,"penalty":20},"rank":1,"previous":null,"duplicate":true}]}`},
			{"POST", "/v1/events/judged", `{"team":"eth","minutes":20,"id":"e1"}`,
				`{"results":[{"board":"icpc","period":"","member":"eth","score":99980,"columns":{"solved":1,"penalty":20},"rank":1,` +
					`"previous":null,"duplicate":false}]}`},
			{"PUT", "/v1/boards/icpc/members/eth/score", `{"columns":{"solved":2,"penalty":20},"reason":"rejudged"}`,
				`{"board":"icpc","period":"","member":"eth",` + eth + `,"rank":1,"previous":{"score":99980,` +
					`"columns":{"solved":1,"penalty":20},"rank":1},"duplicate":false}`},
			{"GET", "/v1/boards/icpc/top", "", head + `"total":2,"top":[{"rank":1,"member":"eth",` + eth + `},{"rank":2,"member":"mit",` +
				mit + `}],"cursor":null}`},
			{"GET", "/v1/boards/icpc/top?min_columns=solved:1,penalty:40&max_columns=solved:1", "",
				head + `"total":2,"count":1,"top":[{"rank":2,"member":"mit",` + mit + `}],"cursor":null}`},
			{"GET", "/v1/boards/icpc/count?min_columns=solved:2", "", head + `"total":2,"count":0}`},
			{"GET", "/v1/boards/icpc/count?min_columns=solved:2,penalty:20", "", head + `"total":2,"count":1}`},
			{"GET", "/v1/boards/icpc/count?max_columns=penalty:99999", "", head + `"total":2,"count":0}`},
			{"GET", "/v1/boards/icpc/at?columns=solved:1,penalty:40", "", head + `"total":2,` + mit + `,"rank":3,"count":1,"members":[` +
				`{"rank":2,"member":"mit",` + mit + `}],"cursor":null}`},
			{"GET", "/v1/boards/icpc/members/mit?around=1", "", head + `"rank":2,"member":"mit",` + mit + `,"total":2,"percentile":0,` +
				`"to_next":100020,"to_next_columns":{"solved":1,"penalty":20},"around":[{"rank":1,"member":"eth",` + eth +
				`},{"rank":2,"member":"mit",` + mit + `}]}`},
			{"GET", "/v1/boards/icpc/members/eth", "", head + `"rank":1,"member":"eth",` + eth + `,"total":2,"percentile":100,` +
				`"to_next":null,"to_next_columns":null}`},
			{"GET", "/v1/boards/icpc/members?id=mit&id=x", "", head + `"total":2,"members":[{"member":"mit","rank":2,"among":1,` + mit +
				`},{"member":"x","rank":null,"among":null,"score":null}]}`},
			{"GET", "/v1/boards/icpc/search?q=mi", "", head + `"total":2,"complete":true,"entries":[{"rank":2,"member":"mit",` + mit + `}]}`},
			{"GET", "/v1/members/team/mit/boards", "", `{"kind":"team","member":"mit","boards":[` + head + `"rank":2,` + mit +
				`,"total":2,"percentile":0,"to_next":100020,"to_next_columns":{"solved":1,"penalty":20}}],"cursor":null}`},
			{"GET", "/v1/boards/icpc/export", "", `{"member":"eth",` + eth + "}\n" + `{"member":"mit",` + mit + "}"},
			{"GET", "/v1/boards/icpc/export?format=csv", "", "member,score,columns.solved,columns.penalty,data\neth,199980,2,20,\nmit,99960,1,40,"},
			{"GET", "/v1/boards/plain/export?format=csv", "", "member,score,data"},
		} {
			a := n.Require(200, c.method, c.path, c.body)
			require.Equal(t, c.want, strings.TrimSpace(a.Body), c.path)
		}
		require.Contains(t, n.Require(200, "GET", "/v1/audit?action=set", "").Body, `"score":199980,"columns":{"solved":2,"penalty":20},`+
			`"was":99980,"was_columns":{"solved":1,"penalty":20},"reason":"rejudged"`)
		const columns = `"columns":[{"name":"solved","title":{"en":"Solved","zh":"解题"},"order":"desc","max":20},` +
			`{"name":"penalty","order":"asc","max":99999,"display":{"unit":"min"}}]`
		require.Equal(t, 2, strings.Count(n.Require(200, "GET", "/v1/boards/icpc", "").Body, columns), "in info and in the definition")
		require.Contains(t, n.Require(200, "GET", "/v1/overview", "").Body, `"leader":{"rank":1,"member":"eth",`+eth)

		n.Require(204, "PUT", "/v1/boards/icpc/hidden/mit", "")
		require.Contains(t, n.Require(200, "GET", "/v1/boards/icpc/hidden", "").Body, `{"member":"mit",`+mit+`,"everywhere":false}`)
	})
}

// What does not fit the columns of a board is refused by the name of its field, and changes nothing.
func TestColumnsThatABoardRefuses(t *testing.T) {
	t.Parallel()
	n := contest(t, redistest.Embedded(t))
	n.Require(200, "POST", "/v1/boards/icpc/scores", `{"member":"mit","columns":{"solved":20,"penalty":7}}`)
	before := n.Require(200, "GET", "/v1/boards/icpc/export", "").Body
	const scores, set, at, top = "/v1/boards/icpc/scores", "/v1/boards/icpc/members/mit/score", "/v1/boards/icpc/at?", "/v1/boards/icpc/top?"
	for _, c := range []struct{ method, path, body, problem, says string }{
		{"POST", scores, `{"member":"mit"}`, "invalid_request score", "is missing; on a board with columns want columns"},
		{"POST", scores, `{"member":"mit","score":1}`, "invalid_request score", `want columns, such as {\"solved\":1,\"penalty\":0}`},
		{"POST", scores, `{"member":"mit","score":1,"columns":{"solved":1}}`, "invalid_request score", "cannot stand beside columns"},
		{"POST", scores, `{"member":"mit","columns":{}}`, "invalid_request columns", "is empty; want at least one of solved, penalty"},
		{"POST", scores, `{"member":"mit","columns":[1]}`, "invalid_request columns", "is a list; want an object"},
		{"POST", scores, `{"member":"mit","columns":{"x":1}}`, "invalid_request columns.x", "which has solved, penalty"},
		{"POST", scores, `{"member":"mit","columns":{"solved":"1"}}`, "invalid_request columns.solved", "is a string; want an integer"},
		{"POST", scores, `{"member":"mit","columns":{"solved":1.5}}`, "invalid_request columns.solved", "is 1.5; want an integer"},
		{"POST", scores, `{"member":"mit","columns":{"solved":9007199254740992}}`, "out_of_range columns.solved", "want an integer within"},
		{"POST", scores, `{"member":"mit","columns":{"solved":1}}`, "out_of_range columns.solved", "results in, a value outside 0 to 20"},
		{"POST", scores, `{"member":"mit","columns":{"penalty":-8}}`, "out_of_range columns.penalty", "a value outside 0 to 99999"},
		{"POST", scores, `{"member":"mit","columns":{"solved":1},"op":"best"}`, "invalid_request columns.penalty", "only an update with op sum"},
		{"POST", scores, `{"member":"mit","columns":{"solved":21,"penalty":1},"op":"last"}`, "out_of_range columns.solved", "outside 0 to 20"},
		{"POST", "/v1/boards/plain/scores", `{"member":"mit","columns":{"solved":1}}`, "invalid_request columns", "want score"},
		{"PUT", set, `{"score":5,"reason":"r"}`, "invalid_request score", "want columns"},
		{"PUT", set, `{"columns":{"solved":5},"reason":"r"}`, "invalid_request columns.penalty", "is missing"},
		{"PUT", set, `{"columns":{"solved":5,"penalty":-1},"reason":"r"}`, "out_of_range columns.penalty", "outside 0 to 99999"},
		{"PUT", set, `{"reason":"r"}`, "invalid_request score", "is missing"},
		{"GET", at, "", "invalid_request score", "is missing; on a board with columns want columns"},
		{"GET", at + "score=5", "", "invalid_request score", "want columns, such as solved:1,penalty:0"},
		{"GET", at + "score=5&columns=solved:5", "", "invalid_request score", "cannot stand beside columns"},
		{"GET", at + "columns=solved", "", "invalid_request columns", "want each column once, with its value"},
		{"GET", at + "columns=solved:1,solved:2", "", "invalid_request columns", "want each column once"},
		{"GET", at + "columns=solved:x", "", "invalid_request columns.solved", "want an integer"},
		{"GET", at + "columns=y:1", "", "invalid_request columns.y", "which has solved, penalty"},
		{"GET", at + "columns=solved:21", "", "invalid_request columns.solved", "is 21; want 0 to 20"},
		{"GET", "/v1/boards/plain/at?columns=solved:1", "", "invalid_request columns", "want score"},
		{"GET", top + "min_score=5", "", "invalid_request min_score", "want min_columns, such as solved:1,penalty:0"},
		{"GET", top + "max_score=5", "", "invalid_request max_score", "want max_columns"},
		{"GET", top + "min_columns=solved:2&max_columns=solved:1", "", "invalid_request max_columns", "ranks lower than min_columns"},
		{"GET", top + "min_columns=solved:1&max_columns=solved:1,penalty:9", "", "invalid_request max_columns", "ranks lower"},
		{"GET", "/v1/boards/icpc/count?max_columns=x:1", "", "invalid_request max_columns.x", "is not a column"},
		{"GET", "/v1/boards/plain/count?min_columns=solved:1", "", "invalid_request min_columns", "want min_score"},
		{"PUT", "/v1/boards/icpc", `{"columns":[{"name":"solved","max":20},{"name":"penalty","order":"asc","max":9}]}`, "conflict columns", ""},
		{"PUT", "/v1/boards/icpc", `{}`, "conflict columns", ""},
		{"PUT", "/v1/boards/u", `{"union":{"of":["icpc"]}}`, "invalid_request union.of[0]", "which has columns"},
		{"PUT", "/v1/events/e", `{"updates":[{"board":"icpc","member":"{m}","score":1}]}`, "invalid_request updates[0].score", "want columns"},
		{"PUT", "/v1/events/e", `{"updates":[{"board":"plain","member":"{m}","columns":{"a":1}}]}`, "invalid_request updates[0].columns",
			"want score"},
	} {
		a := n.Do(c.method, c.path, c.body)
		require.Equal(t, c.problem, code(a), "%s %s: %s", c.path, c.body, a.Body)
		require.Contains(t, a.Body, c.says, "%s %s", c.path, c.body)
	}
	require.Equal(t, before, n.Require(200, "GET", "/v1/boards/icpc/export", "").Body)
}

// An export with columns can be imported. A line may have either the score or the columns, or both if they agree.
func TestImportOfColumns(t *testing.T) {
	t.Parallel()
	n := contest(t, redistest.Embedded(t))
	load := func(contentType, body string) servertest.Answer {
		return n.Do("POST", "/v1/boards/icpc/import", body, "Content-Type", contentType)
	}
	const ndjson, csv = "application/x-ndjson", "text/csv"
	for _, c := range []struct {
		contentType, body string
		status            int
		says              string
	}{
		{ndjson, `{"member":"a","columns":{"solved":3,"penalty":9}}` + "\n" + `{"member":"b","columns":{"solved":21,"penalty":9}}`, 200,
			`"imported":1,"refused":1,"first_errors":[{"line":2,"code":"out_of_range","message":"columns.solved: is, or results in`},
		{ndjson, `{"member":"c","score":299991,"columns":{"solved":3,"penalty":9}}`, 200, `"imported":1`},
		{ndjson, `{"member":"d","score":5,"columns":{"solved":3,"penalty":9}}`, 400,
			"line 1: score: is 5, but the columns beside it make 299991; omit it"},
		{ndjson, `{"member":"d","score":5}`, 400, "line 1: score: does not apply to a board with columns"},
		{ndjson, `{"member":"d"}`, 400, "line 1: score: is missing"},
		{csv, "member,columns.penalty,columns.solved\nd,2,4\n", 200, `"imported":1`},
		{csv, "member,columns.penalty\nd,2\n", 400, "line 2: columns.solved: is missing"},
		{csv, "member,columns.x\nd,2\n", 400, "line 2: columns.x: is not a column"},
		{csv, "member,columns.solved,columns.penalty\nd,x,2\n", 400, "line 2: columns.solved: is"},
		{csv, "member,solved\nd,2\n", 400, "names the column"},
		{csv, "member\nd\n", 400, "has no column score"},
	} {
		a := load(c.contentType, c.body)
		require.Equal(t, c.status, a.Status, "%s: %s", c.body, a.Body)
		require.Contains(t, a.Body, c.says, c.body)
	}
	csvOf := n.Require(200, "GET", "/v1/boards/icpc/export?format=csv", "").Body
	require.Equal(t, "member,score,columns.solved,columns.penalty,data\nd,399998,4,2,\na,299991,3,9,\nc,299991,3,9,", csvOf)
	lines := n.Require(200, "GET", "/v1/boards/icpc/export", "").Body
	for contentType, body := range map[string]string{csv: csvOf, ndjson: lines} {
		n.Require(200, "DELETE", "/v1/boards/icpc/members/d", "")
		require.Contains(t, load(contentType, body).Body, `"imported":3,"refused":0`)
		require.Equal(t, lines, n.Require(200, "GET", "/v1/boards/icpc/export", "").Body)
	}
}

// Each recorded entry has its columns.
func TestHistoryOfColumns(t *testing.T) {
	t.Parallel()
	forEachClock(t, func(t *testing.T, redisURL string, pass func()) {
		n := servertest.Start(t, redisURL, servertest.Config{}, definition.Board{Name: "b", History: 10 * time.Second,
			Columns: definition.Columns{{Name: "solved", Max: 20}, {Name: "penalty", Order: definition.Asc, Max: 99999}}})
		n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"mit","columns":{"solved":1,"penalty":20}}`)
		pass()
		n.Until("a step", 200, "GET", "/v1/boards/b/history", "")
		var h recorded
		redistest.Until(t, "a step", func() bool {
			n.Require(200, "GET", "/v1/boards/b/history", "").Into(&h)
			return len(h.Steps) > 0 && len(h.Steps[0].Entries) > 0
		})
		const want = `"score":99980,"columns":{"solved":1,"penalty":20}`
		require.Contains(t, n.Require(200, "GET", "/v1/boards/b/history", "").Body, `"entries":[{"rank":1,"member":"mit",`+want+`}]`)
		require.Contains(t, n.Require(200, "GET", "/v1/boards/b/history?member=mit", "").Body, `"rank":1,`+want+`}]`)
	})
}
