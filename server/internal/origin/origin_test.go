package origin

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// However many origins clients invent, the log and the node's memory stay small.
func TestLogNamesAFewOrigins(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l := New(nil, slog.New(slog.NewTextHandler(&log, nil)))
	for range 2 {
		for i := range 3 * maxLogged {
			l.LogRefusal(fmt.Sprintf("https://%d.example%s", i, strings.Repeat("x", i*100)))
		}
	}
	require.Equal(t, maxLogged+1, strings.Count(log.String(), "\n"))
	require.Equal(t, 1, strings.Count(log.String(), "names no more of them"))
	require.Less(t, log.Len(), maxLogged*(2*maxOrigin+200))
	require.Len(t, l.logged, maxLogged+1)
}

// A reason fits into a close frame and is text, whatever the client sends as its origin.
func TestRefusalFits(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"https://x", "http://\xff\xfe", "\xff", "http://é", "chrome-extension://x"} {
		for n := range 400 {
			reason := New(nil, slog.Default()).Refusal(name+strings.Repeat("é", n), 123)
			require.LessOrEqual(t, len(reason), 123)
			require.True(t, utf8.ValidString(reason))
			require.Contains(t, reason, "--origins")
		}
	}
}

func TestForeignPages(t *testing.T) {
	t.Parallel()
	for origin, foreign := range map[string]bool{
		"": false, "http://host:8080": false, "https://HOST:8080": false,
		"http://host": true, "http://localhost:8080": true, "null": true, "file://": true, "http://%zz": true, "://": true,
	} {
		r := &http.Request{Host: "host:8080", Header: http.Header{"Origin": {origin}}}
		require.Equal(t, foreign, IsForeign(r), origin)
	}
	require.True(t, IsForeign(&http.Request{Header: http.Header{"Origin": {"null"}}}), "no host is not the same host")
}

// A host without a scheme is a slip; the error has the origin that is likely meant.
func TestOriginWithoutAScheme(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]string{
		"example.com": "has no scheme; want https://example.com", "localhost:8000": "has no scheme; want http://localhost:8000",
		"*.example.com": "want http:// or https:// and a host, or * for all origins", "null": "want http:// or https:// and a host, or * for all origins", "ftp://example.com": "want http:// or https:// and a host, or * for all origins",
	} {
		require.EqualError(t, Check(origin), want, origin)
	}
}
