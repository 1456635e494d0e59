package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/server/access"
	"rankcast/server/client"
)

// A refusal names the access file only where the access file can help: for a key that lacks a scope or a grant.
func TestForbidden(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	lacks := &client.Error{Status: 403, Code: "forbidden", Message: `forbidden: the key "game" lacks the scope read`}
	refused := &client.Error{Status: 403, Code: "forbidden", Field: "user", Message: `user: is "ana", but the token is for "mochi"`}
	const hint = "; the access file of the server decides what the key of "
	for _, c := range []struct {
		name, credentials string
		answer            *client.Error
		hint              string
	}{
		{"a key without the right", access.NewKey(), lacks, hint + path + " may do"},
		{"an event that its definition refuses", access.NewKey(), refused, ""},
		{"a token without the right", "e30.e30.c2ln", lacks, ""},
		{"an event that the token may not send", "e30.e30.c2ln", refused, ""},
	} {
		require.NoError(t, os.WriteFile(path, []byte(c.credentials+"\n"), 0o600))
		err := Server{URL: "http://127.0.0.1:1", KeyFile: path}.Explain(fmt.Errorf("event: %w", c.answer))
		require.EqualError(t, err, c.answer.Error()+c.hint, c.name)
		require.ErrorIs(t, err, c.answer, c.name)
	}
}
