package bench

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// Answers arrive in pieces of any size. Each is read whole, and none of the next one.
func TestAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*readBuffer)
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	answers := []struct {
		text   string
		status int
		body   string
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 200, "{}"},
		{"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nCONTENT-LENGTH:  3 \r\n\r\nbad", 503, "bad"},
		{"HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
		{chunked + "3;ext=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n", 200, "abc0123456789"},
		{chunked + "0\r\n\r\n", 200, ""},
		{"HTTP/1.1 200 OK\r\nContent-Length: 12288\r\n\r\n" + long, 200, long},
		{chunked + "3000\r\n" + long + "\r\n0\r\n\r\n", 200, long},
		{"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", 200, ""},
	}
	var all string
	for _, a := range answers {
		all += a.text
	}
	for name, from := range map[string]io.Reader{
		"whole": strings.NewReader(all), "byte by byte": iotest.OneByteReader(strings.NewReader(all)),
		"halves": iotest.HalfReader(strings.NewReader(all)), "with the end": iotest.DataErrReader(strings.NewReader(all)),
	} {
		r := &answerReader{from: from}
		for _, a := range answers {
			status, body, err := r.next()
			require.NoError(t, err, "%s: %.60q", name, a.text)
			require.Equal(t, a.status, status, name)
			require.Equal(t, a.body, string(body), name)
		}
		_, _, err := r.next()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, text := range []string{
		"SSH-2.0-OpenSSH_9.2p1 Debian\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", ok + "\r\n",
		ok + "Content-Length: 1f\r\n\r\n", ok + "Content-Length:\r\n\r\n", ok + "Content-Length: -1\r\n\r\n", ok + "Content-Length: 99999999999999999999\r\n\r\n",
		ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", ok + "X: " + strings.Repeat("x", maxLine),
	} {
		_, _, err := (&answerReader{from: strings.NewReader(text)}).next()
		require.ErrorIs(t, err, errAnswer, "%.60q", text)
	}
	for _, text := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}"} {
		_, _, err := (&answerReader{from: strings.NewReader(text)}).next()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%q", text)
	}
}

// The generator must not be what limits a measurement: to read an answer allocates nothing.
func TestAnswersAllocateNothing(t *testing.T) {
	text := []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"top\":[1,2]}\n")
	from := bytes.NewReader(text)
	r := &answerReader{from: from}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		from.Reset(text)
		if _, _, err := r.next(); err != nil {
			t.Fatal(err)
		}
	}))
}

func TestMessageSlots(t *testing.T) {
	t.Parallel()
	m := newMessage(`{"id":"` + slot(4) + `","user":"u` + slot(3) + slot(0) + `","n":` + slot(1) + `}`)
	require.Len(t, m.slots, 3)
	require.Equal(t, `{"id":"0000","user":"u000","n":0}`, string(m.text))
	m.set(0, 42)
	m.set(1, 7)
	m.set(2, 9)
	require.Equal(t, `{"id":"0042","user":"u007","n":9}`, string(m.text))
	m.set(1, 123)
	require.Equal(t, `{"id":"0042","user":"u123","n":9}`, string(m.text))
}
