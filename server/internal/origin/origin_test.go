package origin

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// from is a request of a page of an origin.
func from(origin string) *http.Request {
	return &http.Request{Host: "127.0.0.1:8080", Header: http.Header{"Origin": {origin}}}
}

// The log names each refused origin once, with the flag that would allow it beside the present ones.
func TestLogNamesTheFlag(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l := New([]string{"https://a.example"}, nil, slog.New(slog.NewTextHandler(&log, nil)))
	for range 2 {
		l.LogRefusal(from("https://real.example"))
	}
	require.Equal(t, 1, strings.Count(log.String(), `origin=https://real.example flag="--origins https://a.example,https://real.example"`))
}

// The log suggests * only where nothing else helps, and says what it means.
func TestOriginsThatNoFlagNames(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l := New(nil, nil, slog.New(slog.NewTextHandler(&log, nil)))
	for _, name := range []string{"file:///a", "chrome-extension://*", "https://a b", "https://x/path", "\xff"} {
		l.LogRefusal(from(name))
		require.Contains(t, l.Refusal(from(name), 123), "only the server's --origins '*' allows it")
	}
	require.Equal(t, 5, strings.Count(log.String(), `--origins cannot name its origin; the flag allows the pages of all sites`), log.String())
	require.Equal(t, 5, strings.Count(log.String(), `flag="--origins '*'"`), log.String())
	log.Reset()
	l.LogRefusal(from("null"))
	require.Contains(t, log.String(), `and with them any site, in a sandboxed frame" origin=null flag="--origins null"`)
	require.Equal(t, "origin null is not allowed: add null to the server's --origins, for files and sandboxed frames of all sites",
		l.Refusal(from("null"), 123))
}

// The flag takes each origin that the docs name.
func TestOriginsOfTheDocs(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../../web/docs/operations.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(docs), "\nName an origin as the page sends it.")
	table, _, _ = strings.Cut(table, "\n## ")
	named := regexp.MustCompile("`(null|[a-z-]+://[^`]*)`").FindAllStringSubmatch(table, -1)
	require.Greater(t, len(named), 15)
	for _, origin := range named {
		if origin[1] == "chrome-extension://" {
			origin[1] += "abcdefghijklmnopabcdefghijklmnop"
		}
		require.NoError(t, Check(origin[1]), origin[1])
	}
}

// The origins of apps are named as their pages send them.
func TestOriginsOfApps(t *testing.T) {
	t.Parallel()
	for _, app := range []string{
		"capacitor://localhost", "ionic://localhost", "tauri://localhost", "app://-", "app://.", "app://bundle", "http://absolute",
		"file://", "null",
		"chrome-extension://abcdefghijklmnopabcdefghijklmnop", "moz-extension://6ba7b810-9dad-11d1-80b4-00c04fd430c8",
		"safari-web-extension://6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
	} {
		require.NoError(t, Check(app), app)
		l := New([]string{app}, nil, slog.Default())
		require.True(t, l.Allows(app), app)
		require.False(t, New([]string{"https://localhost"}, nil, slog.Default()).Allows(app), app)
		require.True(t, IsForeign(&http.Request{Host: "localhost", Header: http.Header{"Origin": {app}}}), app)
		require.ErrorContains(t, CheckAvatars(app), "want ", app)
	}
	require.ErrorContains(t, CheckFrames("null"), "no policy can name it")
	require.ErrorContains(t, CheckFrames("file://"), "no policy can name it")
	require.NoError(t, CheckFrames("capacitor://localhost"))
	for origin, want := range map[string]string{
		"capacitor://":           "an app's origin such as capacitor://localhost",
		"capacitor":              "an app's origin such as capacitor://localhost",
		"capacitor://localhost/": "nothing after them", "chrome-extension://*": "want it without wildcards",
		"file:///android_asset/index.html": "want file://, and nothing after it; most browsers send null for a file",
		"ws://example.com":                 "want http:// or https:// and a host",
		"wss://example.com:8443":           "want http:// or https:// and a host",
		"data://x":                         "file://, null",
	} {
		require.ErrorContains(t, Check(origin), want, origin)
	}
}

// A reason fits into a close frame and is text, whatever the client sends as its origin.
func TestRefusalFits(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"https://x", "http://\xff\xfe", "\xff", "http://é", "chrome-extension://x"} {
		for n := range 400 {
			reason := New(nil, nil, slog.Default()).Refusal(from(name+strings.Repeat("é", n)), 123)
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
	for origin, foreign := range map[string]bool{"https://host": false, "http://host": true} {
		r := &http.Request{Host: "host", Header: http.Header{"Origin": {origin}}, TLS: new(tls.ConnectionState)}
		require.Equal(t, foreign, IsForeign(r), "anybody on the way may have written a page that came without TLS")
	}
}

// A host without a scheme is a slip; the error has the origin that is likely meant.
func TestOriginWithoutAScheme(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]string{
		"example.com": "has no scheme; want https://example.com", "localhost:8000": "has no scheme; want http://localhost:8000",
		"*.example.com": errNoOrigin.Error(), "ftp://example.com": errNoOrigin.Error(),
	} {
		require.EqualError(t, Check(origin), want, origin)
	}
}

// Where a proxy has dropped the Host of the server's own page, --origins is not what the operator lacks.
func TestProxyThatDropsHost(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	isOwn := func(host string) bool { return strings.HasPrefix(host, "scores.test") }
	l := New(nil, isOwn, slog.New(slog.NewTextHandler(&log, nil)))
	r := from("http://scores.test")
	l.LogRefusal(r)
	require.Contains(t, log.String(), "the proxy must pass on Host")
	require.Contains(t, log.String(), "origin=http://scores.test host=127.0.0.1:8080")
	require.Equal(t, "the proxy must pass on Host: the server's --hosts names the host of this page", l.Refusal(r, 123))
	require.NotContains(t, log.String(), "--origins")

	r = from("http://other.test")
	require.Contains(t, l.Refusal(r, 123), "--origins", "a page of another host")
	r = from("http://scores.test:3000")
	r.Host = "scores.test"
	require.Contains(t, l.Refusal(r, 123), "--origins", "no proxy has dropped that Host: the page came from another port")
}

// Images come by https, or from this machine, and from sites that are named.
func TestCheckAvatars(t *testing.T) {
	t.Parallel()
	for _, valid := range []string{"https://cdn.example.com", "https://CDN.example.com:8443", "http://localhost:8080",
		"http://a.localhost", "http://127.0.0.1:9000", "http://[::1]", "https://10.0.0.5"} {
		require.NoError(t, CheckAvatars(valid), valid)
	}
	for value, says := range map[string]string{
		"*": "name the sites", "http://cdn.example.com": "want https://", "http://10.0.0.5": "want https://",
		"http://localhost.example.com": "want https://", "cdn.example.com": "has no scheme",
		"https://cdn.example.com/a": "nothing after", "https://*.example.com": "without wildcards", "https://a; script-src *": "want",
		"'self'": "want", "data:": "want", "https:": "want", "null": "want https://", "capacitor://localhost": "want https://",
		"": "want", "https://a b": "want",
	} {
		require.ErrorContains(t, CheckAvatars(value), says, value)
	}
}
