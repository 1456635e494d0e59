package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// What README shows as a boards file can be defined, and its table has every key.
func TestReadmeTellsOfBoards(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	readme := string(b)
	files := regexp.MustCompile("(?s)(?:```yaml\n|<<'EOF'\n)(boards:.*?\n)(?:```|EOF)").FindAllStringSubmatch(readme, -1)
	require.Len(t, files, 3)
	rdb, err := ranking.Open(redistest.Embedded(t))
	require.NoError(t, err)
	t.Cleanup(func() { rdb.Close() })
	store := ranking.New(rdb, ranking.Config{})
	for _, file := range files { // one after the other, as a reader does, and writes to them
		definitions, err := definition.ParseFile([]byte(file[1]))
		require.NoError(t, err, file[1])
		require.NoError(t, store.Define(t.Context(), definitions))
		for _, d := range definitions.Boards {
			if d.Union != nil {
				_, err := store.Page(t.Context(), strings.NewReplacer("{star}", "s17").Replace(d.Name), 1, 1)
				require.NoError(t, err)
				continue
			}
			_, err := store.Apply(t.Context(), strings.NewReplacer("{star}", "s17").Replace(d.Name), []definition.Update{{Member: "s17", Score: 1}})
			require.NoError(t, err)
		}
	}
	for field := range reflect.TypeFor[definition.Board]().Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if key != "board" {
			require.Regexp(t, "(?m)^\\| [^|]*`"+key+"`", readme, "the table of keys has no %s", key)
		}
	}
}
