package ranking

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// A page of instances and their total are of one state, although another instance comes to be between any two commands
// of the reader.
func TestInstancesAreListedAtOneState(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		writer, reader := newNode(t, url), newNode(t, url)
		define(t, writer, definition.Board{Name: "fans:{star}"})
		n := 0
		create := func() {
			n++
			must(writer.Apply(t.Context(), fmt.Sprint("fans:s", n), []definition.Update{{Member: "m", Score: 1}}))(t)
		}
		create()
		betweenCommands(reader, create)
		page := must(reader.Instances(t.Context(), "fans:{star}", "", MaxInstancesPage))(t)
		require.Len(t, page.Names, int(page.Total))
	})
}
