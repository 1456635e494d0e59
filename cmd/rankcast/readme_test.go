package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/redistest"
)

// What README shows as a boards file can be defined, and its table has every key.
func TestReadmeTellsOfBoards(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	readme := string(b)
	files := regexp.MustCompile("(?s)(?:```yaml\n|<<'EOF'\n)(boards:.*?\n)(?:```|EOF)").FindAllStringSubmatch(readme, -1)
	require.Len(t, files, 2)
	for _, file := range files {
		definitions, err := ranking.ParseFile([]byte(file[1]))
		require.NoError(t, err, file[1])
		rdb, err := ranking.Open(redistest.Embedded(t))
		require.NoError(t, err)
		t.Cleanup(func() { rdb.Close() })
		require.NoError(t, ranking.New(rdb, ranking.Config{}).Define(t.Context(), definitions))
	}
	for field := range reflect.TypeFor[ranking.Definition]().Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if key != "board" {
			require.Regexp(t, "(?m)^\\| [^|]*`"+key+"`", readme, "the table of keys has no %s", key)
		}
	}
}
