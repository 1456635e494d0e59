package server_test

import (
	"net/url"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// asYAML is the header of a body in YAML.
var asYAML = []string{"Content-Type", "application/yaml"}

// preview is the answer to a dry run.
type preview struct {
	Definition jsontext.Value      `json:"definition"`
	YAML       string              `json:"yaml"`
	IsNew      bool                `json:"is_new"`
	Changes    []definition.Change `json:"changes"`
}

// dryRun sends a definition, which must change nothing.
func dryRun(t *testing.T, n *servertest.Node, path, body string, header ...string) (p preview) {
	t.Helper()
	answer := n.Require(200, "PUT", path+"?dry_run=true", body, header...)
	require.NoError(t, json.Unmarshal([]byte(answer.Body), &p))
	return p
}

// A definition in YAML is that of a boards file, and means the same as one in JSON.
func TestDefinitionsInYAML(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		family := "/v1/boards/" + url.PathEscape("fans:{star}")
		inYAML := n.Require(201, "PUT", family, "# of a star\nperiod: week\ntitle: {en: Fans, zh: 粉丝}\n", asYAML...)
		inJSON := n.Require(200, "PUT", family, `{"period":"week","title":{"en":"Fans","zh":"粉丝"}}`)
		require.JSONEq(t, inJSON.Body, inYAML.Body)
		n.Require(201, "PUT", "/v1/boards/plain", "# all defaults\n", "Content-Type", "application/yaml; charset=utf-8")

		const list = "- {board: b, member: \"{user}\", score: \"{n}\"}\n"
		inYAML = n.Require(201, "PUT", "/v1/events/gift", list, asYAML...)
		inJSON = n.Require(200, "PUT", "/v1/events/gift", `{"updates":[{"board":"b","member":"{user}","score":"{n}"}]}`)
		require.JSONEq(t, inJSON.Body, inYAML.Body)
		n.Require(200, "PUT", "/v1/events/gift", "sender: user\nupdates:\n"+list, asYAML...)

		for _, c := range []struct{ path, body, field, says string }{
			{"/v1/boards/b", "mode: best\nperiod: [week\nkeep: 3\n", "body", "in line 3"},
			{"/v1/boards/b", "mode: best\nmode: sum\n", "mode", "in lines 1 and 2"},
			{"/v1/boards/b", "mode: best\n---\nmode: sum\n", "body", "more than one YAML document"},
			{"/v1/boards/b", "- b\n", "body", "is a list"},
			{"/v1/boards/b", "colour: red\n", "colour", "is not a field of a board"},
			{"/v1/boards/b", "mode: !!binary b\n", "mode", "YAML tag"},
			{"/v1/boards/b", "board: c\n", "board", "the request is for"},
			{"/v1/events/gift", "", "body", "is empty"},
			{"/v1/events/gift", "- {board: b, member: m}\n", "updates[0].score", "is missing"},
			{"/v1/events/gift", "- {board: none, member: m, score: 1}\n", "updates[0].board", "no such board"},
		} {
			refused := n.Do("PUT", c.path, c.body, asYAML...)
			servertest.RequireProblem(t, refused, 400, "invalid_request", c.field)
			require.Contains(t, refused.Body, c.says)
			// A dry run refuses the same.
			require.Equal(t, refused.Body, n.Do("PUT", c.path+"?dry_run=true", c.body, asYAML...).Body)
		}
		for _, other := range []string{"application/x-yaml", "text/yaml", "application/yaml; charset=latin1"} {
			servertest.RequireProblem(t, n.Do("PUT", "/v1/boards/b", "{}", "Content-Type", other), 415, "unsupported_media_type", "Content-Type")
		}
		servertest.RequireProblem(t, n.Do("POST", "/v1/boards/b/scores", `{"member":"m","score":1}`, asYAML...), 415, "unsupported_media_type",
			"Content-Type")
	})
}

// A dry run tells what a definition would change, or why it would be refused, and changes nothing.
func TestDryRun(t *testing.T) {
	servertest.With(servertest.Config{}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		p := dryRun(t, n, "/v1/boards/b", `{"title":"B: \"all\""}`)
		require.True(t, p.IsNew)
		require.Empty(t, p.Changes)
		require.JSONEq(t, `{"board":"b","title":"B: \"all\"","mode":"sum","order":"desc","ties":"first","kind":"member"}`, string(p.Definition))
		require.Equal(t, "title: \"B: \\\"all\\\"\"\nmode: sum\norder: desc\nties: first\nkind: member\n", p.YAML)
		servertest.RequireProblem(t, n.Do("GET", "/v1/boards/b", ""), 404, "unknown_board", "board")

		n.Require(201, "PUT", "/v1/boards/b", p.YAML, asYAML...)
		p = dryRun(t, n, "/v1/boards/b", p.YAML, asYAML...)
		require.False(t, p.IsNew)
		require.Empty(t, p.Changes)
		p = dryRun(t, n, "/v1/boards/b", "mode: last\nkeep: 3\nperiod: hour\n", asYAML...)
		require.Equal(t, []definition.Change{
			{Field: "keep", Was: jsontext.Value("null"), Now: jsontext.Value("3")},
			{Field: "mode", Was: jsontext.Value(`"sum"`), Now: jsontext.Value(`"last"`)},
			{Field: "period", Was: jsontext.Value("null"), Now: jsontext.Value(`"hour"`)},
			{Field: "timezone", Was: jsontext.Value("null"), Now: jsontext.Value(`"UTC"`)},
			{Field: "title", Was: jsontext.Value(`"B: \"all\""`), Now: jsontext.Value("null")},
		}, p.Changes)

		const event = `{"updates":[{"board":"b","member":"{user}","score":"{n}"}]}`
		e := dryRun(t, n, "/v1/events/gift", event)
		require.True(t, e.IsNew)
		n.Require(201, "PUT", "/v1/events/gift", e.YAML, asYAML...)
		e = dryRun(t, n, "/v1/events/gift", `{"sender":"user",`+event[1:])
		require.False(t, e.IsNew)
		require.Equal(t, []definition.Change{{Field: "sender", Was: jsontext.Value("null"), Now: jsontext.Value(`"user"`)}}, e.Changes)

		// What Redis holds counts: scores, other definitions, and a deletion under way.
		n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"m","score":1}`)
		n.Require(201, "PUT", "/v1/boards/u", `{"union":{"of":["b"]}}`)
		n.Require(201, "PUT", "/v1/boards/gone", `{}`)
		n.Require(200, "POST", "/v1/boards/gone/scores", `{"member":"m","score":1}`)
		n.Require(204, "DELETE", "/v1/boards/gone", "")
		before := n.Do("GET", "/v1/audit", "").Body
		for _, c := range []struct{ path, body, want string }{
			{"/v1/boards/b", `{"order":"asc"}`, "conflict order"},
			{"/v1/boards/b", `{"ends":"2020-01-01T00:00:00Z"}`, "conflict ends"},
			{"/v1/boards/b", `{"union":{"of":["gone"]}}`, "invalid_request union.of[0]"},
			{"/v1/boards/u", `{"union":{"of":["none"]}}`, "invalid_request union.of[0]"},
			{"/v1/boards/gone", `{}`, "conflict board"},
			{"/v1/events/gift", `{"updates":[{"board":"u","member":"{user}","score":1}]}`, "invalid_request updates[0].board"},
			{"/v1/events/periods", event, "invalid_request event"},
			{"/v1/boards/b", `{"mode":"most"}`, "invalid_request mode"},
		} {
			refused := n.Do("PUT", c.path+"?dry_run=true", c.body)
			require.Equal(t, c.want, code(refused), refused.Body)
			require.Equal(t, n.Do("PUT", c.path, c.body).Body, refused.Body)
		}
		require.Equal(t, before, n.Do("GET", "/v1/audit", "").Body)
		require.Contains(t, n.Do("GET", "/v1/boards/b", "").Body, `"definition":{"board":"b","title":"B: \"all\"","mode":"sum",`)
		require.Equal(t, event[1:], n.Do("GET", "/v1/events/gift", "").Body[len(`{"event":"gift",`):])

		require.Equal(t, "invalid_request dry_run", code(n.Do("PUT", "/v1/boards/b?dry_run=yes", `{}`)))
		require.Equal(t, "invalid_request dry", code(n.Do("PUT", "/v1/boards/b?dry=true", `{}`)))
		n.Require(200, "PUT", "/v1/boards/b?dry_run=false", `{"title":"B"}`)
		require.NotEqual(t, before, n.Do("GET", "/v1/audit", "").Body)
	})
}

// What a client reads of a definition is the same definition when the client sends it, as JSON and as the YAML of a dry run.
func TestDryRunOfAPresentDefinition(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../cmd/rankcast/internal/example/boards.yaml")
	require.NoError(t, err)
	all, err := definition.ParseFile(file)
	require.NoError(t, err)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, all.Boards...)
	require.NoError(t, n.Store.Define(t.Context(), all))
	same := func(path string, present jsontext.Value) {
		t.Helper()
		p := dryRun(t, n, path, string(present))
		for range 2 {
			require.False(t, p.IsNew)
			require.Empty(t, p.Changes)
			require.JSONEq(t, string(present), string(p.Definition))
			p = dryRun(t, n, path, p.YAML, asYAML...)
		}
	}
	for _, b := range all.Boards {
		path := "/v1/boards/" + url.PathEscape(b.Name)
		var board struct {
			Definition jsontext.Value `json:"definition"`
		}
		require.NoError(t, json.Unmarshal([]byte(n.Require(200, "GET", path, "").Body), &board))
		same(path, board.Definition)
	}
	for _, e := range all.Events {
		same("/v1/events/"+e.Name, jsontext.Value(n.Require(200, "GET", "/v1/events/"+e.Name, "").Body))
	}
}
