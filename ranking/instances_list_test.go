package ranking

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// A page of instances and their total are of one state, although another instance comes to be between any two commands
// of the reader.
func TestInstancesAreListedAtOneState(t *testing.T) {
	onTwoNodes(t, []definition.Board{{Name: "fans:{star}"}}, func(t *testing.T, writer, reader *Store) {
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
