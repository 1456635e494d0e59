package remote

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// A key file is read again when it changes. While it is missing, empty or half written, the last key stays.
func TestKeyFileThatChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(path, []byte("rck_one\n"), 0o600))
	key, err := Server{KeyFile: path}.credentials()
	require.NoError(t, err)
	holds := func(want string) {
		t.Helper()
		got, err := key(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	holds("rck_one")
	for _, text := range []string{"", "\n", "two words"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		holds("rck_one")
	}
	require.NoError(t, os.Remove(path))
	holds("rck_one")
	require.NoError(t, os.WriteFile(path, []byte("  rck_two\r\n"), 0o600))
	holds("rck_two")
}

// The error about a key file names the file, and shows nothing of what it holds.
func TestKeyFileThatHoldsNoKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "is empty", " \n": "is empty", "hunter2 hunter2": "holds more than a key", "hunter2\nhunter2": "holds more than a key",
		strings.Repeat("hunter2", maxKey): "is too large",
	} {
		path := filepath.Join(t.TempDir(), "key")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Server{URL: "http://127.0.0.1:1", KeyFile: path}.Client(client.Config{})
		require.ErrorContains(t, err, "--key-file "+path+": "+want)
		require.NotContains(t, err.Error(), "hunter2")
	}
	_, err := Server{URL: "http://127.0.0.1:1", KeyFile: "/nowhere/key"}.Client(client.Config{})
	require.ErrorContains(t, err, "--key-file: open /nowhere/key: no such file")
}

// The error of a server that is not there says that nothing was sent, and what to look at.
func TestServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	const shown = "http://user:xxxxx@127.0.0.1:8080"
	server := Server{URL: "http://user:secret@127.0.0.1:8080"}
	const remedy = "Is the server running, and is this its address?"
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	require.EqualError(t, server.Explain(fmt.Errorf("update: %w: gave up: %w", client.ErrNotSent, dial)),
		shown+" does not answer: connection refused; nothing was sent. "+remedy)
	require.Equal(t, "rankcast: "+shown+" does not answer, trying again for a minute: connection refused. "+remedy,
		server.RetryLine(ForAMinute, dial))
	require.Equal(t, "rankcast: "+shown+" does not answer, trying again until it does: later (unavailable, status 503)",
		server.RetryLine(UntilItDoes, &client.Error{Status: 503, Code: "unavailable", Message: "later"}), "a server that answers is running")
}
