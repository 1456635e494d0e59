package access

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// The address of the site is what the client sees, and only a trusted proxy may report it.
func TestSite(t *testing.T) {
	t.Parallel()
	trusted, err := ParseProxies([]string{"10.0.0.0/8"})
	require.NoError(t, err)
	a := NewAddresses(trusted, slog.New(slog.DiscardHandler))
	const proxy, stranger = "10.0.0.5:80", "203.0.113.9:80"
	for _, c := range []struct {
		peer           string
		tls            bool
		header         http.Header
		scheme, prefix string
	}{
		{stranger, false, nil, "http", ""},
		{stranger, true, nil, "https", ""},
		{stranger, false, http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-Prefix": {"/evil"}, "Forwarded": {"proto=https"}}, "http", ""},
		{stranger, true, http.Header{"X-Forwarded-Proto": {"http"}}, "https", ""},
		{"@", false, http.Header{"X-Forwarded-Proto": {"https"}}, "http", ""},
		{proxy, false, nil, "http", ""},
		{proxy, false, http.Header{"X-Forwarded-Proto": {"https"}}, "https", ""},
		{proxy, false, http.Header{"X-Forwarded-Proto": {"HTTPS"}}, "https", ""},
		{proxy, true, http.Header{"X-Forwarded-Proto": {"http"}}, "http", ""},
		{proxy, false, http.Header{"X-Forwarded-Proto": {"https, http"}}, "http", ""},
		{proxy, false, http.Header{"X-Forwarded-Proto": {"http", "https"}}, "https", ""},
		{proxy, false, http.Header{"X-Forwarded-Proto": {"javascript"}}, "http", ""},
		{proxy, true, http.Header{"X-Forwarded-Proto": {""}, "Forwarded": {"proto=http"}}, "https", ""},
		{proxy, false, http.Header{"Forwarded": {`for=198.51.100.1;proto=https;host="a;proto=http"`}}, "https", ""},
		{proxy, false, http.Header{"Forwarded": {`for=198.51.100.1;proto=https, for=10.0.0.6`}}, "http", ""},
		{proxy, false, http.Header{"X-Forwarded-Prefix": {"/scores/"}}, "http", "/scores"},
		{proxy, false, http.Header{"X-Forwarded-Prefix": {"/a, /games/scores-1.0"}}, "http", "/games/scores-1.0"},
		{proxy, false, http.Header{"X-Forwarded-Prefix": {"//evil.example"}}, "http", ""},
		{proxy, false, http.Header{"X-Forwarded-Prefix": {"/../x"}}, "http", ""},
		{proxy, false, http.Header{"X-Forwarded-Prefix": {`/"><script>`}}, "http", ""},
		{proxy, false, http.Header{"X-Forwarded-Prefix": {"scores"}}, "http", ""},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: c.header}
		if c.tls {
			r.TLS = new(tls.ConnectionState)
		}
		scheme, prefix := a.Site(r)
		require.Equal(t, c.scheme, scheme, "%+v", c)
		require.Equal(t, c.prefix, prefix, "%+v", c)
	}
}
