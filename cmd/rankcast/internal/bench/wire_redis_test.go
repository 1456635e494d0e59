package bench

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplies(t *testing.T) {
	t.Parallel()
	r := bufio.NewReader(strings.NewReader("+PONG\r\n:12\r\n$5\r\nab\r\nc\r\n$-1\r\n*2\r\n$1\r\na\r\n*1\r\n:1\r\n*0\r\n+end\r\n"))
	for range 7 {
		require.NoError(t, skipReply(r))
	}
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Empty(t, string(rest), "each reply is read whole")
	for text, says := range map[string]string{
		"-WRONGTYPE no set\r\n": "WRONGTYPE no set", "*1\r\n-ERR inside\r\n": "ERR inside", "?\n": "malformed", "?1\r\n": "begins with", "=3\r\n": "begins with", "$x\r\n": "length",
	} {
		require.ErrorContains(t, skipReply(bufio.NewReader(strings.NewReader(text))), says, "%q", text)
	}
}

// The bare work sends each command for itself.
func TestCommands(t *testing.T) {
	t.Parallel()
	text := appendCommand(appendCommand(nil, "ZINCRBY", "k", slot(1), "u"+slot(2)), "PING")
	m := newMessage(string(text))
	m.set(0, 3)
	m.set(1, 42)
	commands := splitCommands(m.text)
	require.Len(t, commands, 2)
	require.Equal(t, "*4\r\n$7\r\nZINCRBY\r\n$1\r\nk\r\n$1\r\n3\r\n$3\r\nu42\r\n", string(commands[0]))
	require.Equal(t, "*1\r\n$4\r\nPING\r\n", string(commands[1]))
}
