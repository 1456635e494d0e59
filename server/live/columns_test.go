package live_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking/definition"
	"rankcast/server/servertest"
)

// Each frame has the columns beside the score. A board that is defined anew, with other columns, begins a new life.
func TestColumnsInFrames(t *testing.T) {
	columns := definition.Columns{{Name: "solved", Max: 20}, {Name: "penalty", Order: definition.Asc, Max: 99999}}
	config := servertest.Config{Hub: hub.Config{Interval: time.Millisecond, MeInterval: 2 * time.Millisecond}}
	servertest.With(config, definition.Board{Name: "icpc", Columns: columns}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		write := func(body string) {
			t.Helper()
			n.Require(200, "POST", "/v1/boards/icpc/scores", body)
		}
		s := servertest.Dial(t, n.Addr)
		// Reads frames until each of these texts was in one.
		until := func(texts ...string) {
			t.Helper()
			for len(texts) > 0 {
				b, err := s.Raw()
				require.NoError(t, err, texts)
				texts = slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(string(b), text) })
			}
		}
		s.Send(`{"type":"subscribe","id":1,"board":"icpc","top":10,"me":"mit","around":1,"info":true}`)
		until(`"top":[],"info":{"kind":"member","columns":[{"name":"solved","order":"desc","max":20},{"name":"penalty",`,
			`"rank":null,"score":null`)
		const mit, eth = `"score":99980,"columns":{"solved":1,"penalty":20}`, `"score":200000,"columns":{"solved":2,"penalty":0}`
		write(`{"member":"mit","columns":{"solved":1,"penalty":20}}`)
		until(`"top":[{"rank":1,"member":"mit",`+mit+`}]`, `"rank":1,`+mit+`,"total":1`,
			`"to_next":null,"to_next_columns":null,"around":[{"rank":1,"member":"mit",`+mit+`}]`)
		write(`{"member":"eth","columns":{"solved":2,"penalty":0}}`)
		until(`"rows":[[0,{"rank":1,"member":"eth",`+eth+`}],[1,{"rank":2,"member":"mit",`+mit+`}]]`, `"rank":2,`+mit+`,"total":2`,
			`"to_next":100020,"to_next_columns":{"solved":1,"penalty":20},"around":[{"rank":1,"member":"eth",`+eth+`},`)

		n.Require(204, "DELETE", "/v1/boards/icpc", "")
		n.Until("the deletion", 201, "PUT", "/v1/boards/icpc", `{"columns":[{"name":"points","max":99},{"name":"goals","min":-99,"max":99}]}`)
		write(`{"member":"ajax","columns":{"points":3,"goals":-2}}`)
		until(`"top":[{"rank":1,"member":"ajax","score":595,"columns":{"points":3,"goals":-2}}]`)
	})
}
