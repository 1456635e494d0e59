package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestRepliesAreDecoded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*readBuffer)
	for stream, want := range map[string]any{
		"+OK\r\n":                         "OK",
		"+\r\n":                           "",
		"-ERR wrong\r\n":                  replyError("ERR wrong"),
		"-ERR " + long + "\r\n":           replyError("ERR " + long),
		":-12\r\n":                        int64(-12),
		"$-1\r\n":                         nil,
		"*-1\r\n":                         nil,
		"$0\r\n\r\n":                      "",
		"$4\r\na\r\nb\r\n":                "a\r\nb",
		"*0\r\n":                          []any{},
		"*3\r\n:1\r\n$-1\r\n*1\r\n-E\r\n": []any{int64(1), nil, []any{replyError("E")}},
		fmt.Sprintf("$%d\r\n%s\r\n", len(long), long):                   long,
		fmt.Sprintf("$%d\r\n%s\r\n", readBuffer-2, long[:readBuffer-2]): long[:readBuffer-2],
	} {
		got, err := newReader(strings.NewReader(stream)).reply()
		require.NoError(t, err, "%.40q", stream)
		require.Equal(t, want, got)
	}
}

func TestInvalidRepliesAreRefused(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{
		"", "\r\n", "+", "+OK", "+OK\n", ":x\r\n", ":1", "$x\r\n", "$-2\r\n", "$3\r\nab\r\n", "$2\r\nabcd", "*-2\r\n", "*2\r\n:1\r\n",
		"%1\r\n+a\r\n+b\r\n", "_\r\n",
		"$999999999999999999999\r\n", "$600000000\r\n", fmt.Sprintf("$%d\r\n%s", readBuffer, strings.Repeat("x", readBuffer+2)),
		strings.Repeat("*1\r\n", maxDepth+1) + ":1\r\n",
	} {
		_, err := newReader(strings.NewReader(stream)).reply()
		require.Error(t, err, "%.40q", stream)
	}
}

func TestUnknownArgumentLeavesTheOutputAsItIs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	out, err := appendCommands([]byte("before"), []redis.Cmder{redis.NewCmd(ctx, "get", "k"), redis.NewCmd(ctx, "get", struct{}{})})
	require.Error(t, err)
	require.Equal(t, "before", string(out))
}

// A request has the form of a reply: an array of texts.
func FuzzRequestsAreReadAsTheyWereWritten(f *testing.F) {
	f.Add("set", []byte("v\r\n"), 7, int64(-9))
	f.Add("", []byte{}, -1, int64(0))
	f.Fuzz(func(t *testing.T, text string, data []byte, i int, n int64) {
		out, err := appendCommands(nil, []redis.Cmder{redis.NewCmd(context.Background(), text, data, i, n),
			redis.NewCmd(context.Background(), "get", text)})
		require.NoError(t, err)
		r := newReader(bytes.NewReader(out))
		first, err := r.reply()
		require.NoError(t, err)
		require.Equal(t, []any{text, string(data), fmt.Sprint(i), fmt.Sprint(n)}, first)
		second, err := r.reply()
		require.NoError(t, err)
		require.Equal(t, []any{"get", text}, second)
	})
}

// What the reader accepts takes as many bytes as it has; the rest stays for the next reply.
func FuzzReader(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\na\r\n:5\r\n-ERR x\r\n+OK\r\n"))
	f.Add([]byte("*1000000000\r\n:1\r\n"))
	f.Add([]byte("$536870912\r\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := newReader(bytes.NewReader(stream))
		read := 0
		for {
			v, err := r.reply()
			if err != nil {
				return
			}
			read += size(v)
			require.LessOrEqual(t, read, len(stream))
		}
	})
}

// size is the least number of bytes of a reply.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 3
	case []any:
		n := 4
		for _, e := range v {
			n += size(e)
		}
		return n
	}
	return 3
}
