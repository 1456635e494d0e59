package request

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// The scanner accepts what json.Unmarshal accepts, and finds the same fields and items.
func FuzzScan(f *testing.F) {
	for _, text := range []string{
		`{"member":"ana","score":1}`, ` { "a" : [1, {"b":null}] , "" : "\u00e9\n" } `, `{}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`,
		`{"a":{"b":1,"b":2}}`,
		`{"a":1}x`, `{"a":1} {}`, `{"a":1,}`, `{"a"}`, `{"a":`, `{`, ``, `null`, `"a"`, "{\"a\":\"\xff\"}", "{\"\xff\":1}",
		"\xef\xbb\xbf{}", `{"a":01}`, `{1:2}`,
		`[]`, `[1, {"a":[2]} ,"]"]`, `[1,]`, `[1]]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := string(text)
		var want Object
		if err := json.Unmarshal(text, &want); err != nil {
			want = nil
		}
		require.Equal(t, want, scanObject(text))
		var items []jsontext.Value
		if jsontext.Value(text).IsValid() && jsontext.Value(text).Kind() == '[' && json.Unmarshal(text, &items) == nil {
			found, err := scanList(text)
			require.NoError(t, err)
			require.Len(t, found, len(items))
			for i := range items {
				require.Equal(t, items[i], found[i])
			}
		}
		require.Equal(t, before, string(text))
	})
}
