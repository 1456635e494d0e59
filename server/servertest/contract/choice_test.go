//go:build !race

package contract

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// An answer to an event is of one schema alone for a client that allows further fields, also if all boards refuse it.
func TestAnswersToEventsAreOfOneSchema(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource(httpDocument, documents()[httpDocument]))
	answer := compiler.MustCompile(httpDocument + "#/paths/~1v1~1events~1%7Bevent%7D/post/responses/200/content/application~1json/schema")
	const refused = `{"board":"b","error":{"code":"not_open","message":"…"}}`
	for _, body := range []string{
		`{"results":[` + refused + `]}`, `{"results":[{"results":[` + refused + `]}]}`,
		`{"results":[{"error":{"code":"out_of_range","message":"…"}}]}`,
	} {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(body)))
		require.NoError(t, err)
		require.NoError(t, answer.Validate(value), body)
	}
}
