package origin

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The log names each refused origin once, with the flag that would allow it beside the present ones.
func TestLogNamesTheFlag(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l := New([]string{"https://a.example"}, slog.New(slog.NewTextHandler(&log, nil)))
	for range 2 {
		l.LogRefusal("https://real.example")
	}
	require.Equal(t, 1, strings.Count(log.String(), `origin=https://real.example flag="--origins https://a.example,https://real.example"`))
}

// The log suggests * only where nothing else helps, and says what it means.
func TestOriginsThatNoFlagNames(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l := New(nil, slog.New(slog.NewTextHandler(&log, nil)))
	for _, name := range []string{"chrome-extension://x", "file://", "https://a b", "https://x/path", "\xff"} {
		l.LogRefusal(name)
		require.Contains(t, l.Refusal(name, 123), "--origins cannot name it")
	}
	require.Equal(t, 5, strings.Count(log.String(), "--origins cannot name its origin"), log.String())
	require.NotContains(t, log.String(), "flag=")
	log.Reset()
	l.LogRefusal("null")
	require.Contains(t, log.String(), `the flag allows the pages of all sites to read and watch" origin=null flag="--origins '*'"`)
	require.Contains(t, l.Refusal("null", 123), "--origins '*' allows it, and all sites")
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
