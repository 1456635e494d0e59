package access

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

func TestAddressOfAClient(t *testing.T) {
	t.Parallel()
	const near, far = "10.0.0.1:4000", "10.0.0.2" // the trusted proxies
	for _, c := range []struct {
		why, peer string
		headers   []string
		want      string
	}{
		{"a peer", "203.0.113.9:4000", nil, "203.0.113.9"},
		{"a peer by IPv6 counts by /64", "[2001:db8:1:2:3:4:5:6]:4000", nil, "2001:db8:1:2::/64"},
		{"a zone means nothing", "[2001:db8::1%eth0]:4000", nil, "2001:db8::/64"},
		{"IPv4 mapped into IPv6 is IPv4", "[::ffff:203.0.113.9]:4000", nil, "203.0.113.9"},
		{"a program on this machine", "127.0.0.1:4000", nil, "loopback"},
		{"all of 127/8 is loopback", "127.8.7.6:4000", nil, "loopback"},
		{"loopback by IPv6", "[::1]:4000", nil, "loopback"},
		{"mapped loopback", "[::ffff:127.0.0.1]:4000", nil, "loopback"},
		{"a unix socket", "@", nil, "loopback"},

		{"nobody else's header counts", "203.0.113.9:4000", []string{"X-Forwarded-For: 198.51.100.1"}, "203.0.113.9"},
		{"nor to seem local", "203.0.113.9:4000", []string{"X-Forwarded-For: 127.0.0.1"}, "203.0.113.9"},
		{"nor by the standard header", "203.0.113.9:4000", []string{"Forwarded: for=198.51.100.1"}, "203.0.113.9"},
		{"an unnamed proxy on this machine", "127.0.0.1:4000", []string{"X-Forwarded-For: 198.51.100.1"}, "loopback"},

		{"a trusted proxy", near, []string{"X-Forwarded-For: 198.51.100.1"}, "198.51.100.1"},
		{"without a header it is the client", near, nil, "10.0.0.1"},
		{"the right end is the proxy's", near, []string{"X-Forwarded-For: 192.0.2.6, 198.51.100.1"}, "198.51.100.1"},
		{"an invented local address", near, []string{"X-Forwarded-For: 127.0.0.1, 198.51.100.1"}, "198.51.100.1"},
		{"two trusted proxies", near, []string{"X-Forwarded-For: 192.0.2.6, 198.51.100.1, " + far}, "198.51.100.1"},
		{"a header in two lines", near, []string{"X-Forwarded-For: 192.0.2.6", "X-Forwarded-For: 198.51.100.1 ,\t" + far}, "198.51.100.1"},
		{"trusted proxies alone: the first of them", near, []string{"X-Forwarded-For: 10.0.0.3, " + far}, "10.0.0.3"},
		{"a port", near, []string{"X-Forwarded-For: 198.51.100.1:5678"}, "198.51.100.1"},
		{"IPv6", near, []string{"X-Forwarded-For: 2001:db8:1:2::3"}, "2001:db8:1:2::/64"},
		{"IPv6 with a port", near, []string{"X-Forwarded-For: [2001:db8:1:2::3]:80"}, "2001:db8:1:2::/64"},
		{"a client on the proxy's machine, or one that claims to be", near, []string{"X-Forwarded-For: ::1"}, "::/64"},
		{"no address", near, []string{"X-Forwarded-For: unknown"}, "10.0.0.1"},
		{"an empty header", near, []string{"X-Forwarded-For: "}, "10.0.0.1"},
		{"an empty element", near, []string{"X-Forwarded-For: 198.51.100.1,"}, "10.0.0.1"},
		{"no address behind two proxies", near, []string{"X-Forwarded-For: 198.51.100.1, what, " + far}, "10.0.0.2"},
		{"nonsense before the address", near, []string{"X-Forwarded-For: \"what, 198.51.100.1"}, "198.51.100.1"},
		{"half an address", near, []string{"X-Forwarded-For: [2001:db8::1"}, "10.0.0.1"},
		{"an address and more", near, []string{"X-Forwarded-For: [2001:db8::1]x"}, "10.0.0.1"},
		{"nonsense of a trusted local proxy exempts nobody", "127.0.0.1:4000", []string{"X-Forwarded-For: what"}, "127.0.0.1"},
		{"nor by IPv6", "[::1]:4000", []string{"X-Forwarded-For: what"}, "::/64"},

		{"the standard header", near, []string{"Forwarded: for=198.51.100.1"}, "198.51.100.1"},
		{"with other parameters", near, []string{`Forwarded: proto=https;FOR=198.51.100.1; by=10.0.0.1`}, "198.51.100.1"},
		{"quoted IPv6", near, []string{`Forwarded: for="[2001:db8:1:2::3]:4711"`}, "2001:db8:1:2::/64"},
		{"quoted IPv4 with a port", near, []string{`Forwarded: for="198.51.100.1:4711"`}, "198.51.100.1"},
		{"a chain", near, []string{`Forwarded: for=192.0.2.6;by="_x,y", for=198.51.100.1, for=` + far}, "198.51.100.1"},
		{"a chain in two lines", near, []string{"Forwarded: for=192.0.2.6", "Forwarded: for=198.51.100.1"}, "198.51.100.1"},
		{"a comma and a semicolon in quotes", near, []string{`Forwarded: for=198.51.100.1;host="a,for=192.0.2.6;for=192.0.2.7"`}, "198.51.100.1"},
		{"an escaped quote", near, []string{`Forwarded: for=198.51.100.1;host="a\",for=192.0.2.6"`}, "198.51.100.1"},
		{"an escaped backslash, and a quote to swallow the end", near,
			[]string{`Forwarded: for=192.0.2.6;x=", for=198.51.100.1;host="a\\"`}, "198.51.100.1"},
		{"a quote that the client left open", near, []string{`Forwarded: for="192.0.2.6, for=198.51.100.1`}, "198.51.100.1"},
		{"an obfuscated name", near, []string{"Forwarded: for=_hidden"}, "10.0.0.1"},
		{"unknown", near, []string{"Forwarded: for=unknown"}, "10.0.0.1"},
		{"no for", near, []string{"Forwarded: proto=https"}, "10.0.0.1"},
		{"both: the client wrote the standard one", near, []string{"Forwarded: for=192.0.2.6", "X-Forwarded-For: 198.51.100.1"}, "198.51.100.1"},
	} {
		trusted := []string{"10.0.0.0/8", "loopback"}
		if strings.Contains(c.why, "unnamed") {
			trusted = trusted[:1]
		}
		if got := addresses(t, trusted...).Of(request(c.peer, c.headers...)).String(); got != c.want {
			t.Errorf("%s: %s with %q is %s; want %s", c.why, c.peer, c.headers, got, c.want)
		}
	}
}

// Whatever a client sends before the right end, it gets no other address.
func FuzzForwarded(f *testing.F) {
	f.Add(`for="192.0.2.6`, `a\`)
	f.Add(`for=192.0.2.6;x="`, `"`)
	a := addresses(f, "10.0.0.0/8")
	f.Fuzz(func(t *testing.T, sent, host string) {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(host) // as a proxy writes it
		got := a.Of(request("10.0.0.1:4000", `Forwarded: `+sent+`, for=198.51.100.1;host="`+quoted+`"`))
		require.Equal(t, "198.51.100.1", got.String())
	})
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"10.0.0.5": "10.0.0.5/32", "10.0.0.0/8": "10.0.0.0/8", " 2001:db8::/32": "2001:db8::/32", "::ffff:10.0.0.5": "10.0.0.5/32",
		"fe80::1%eth0": "fe80::1/128", "0.0.0.0/0": "0.0.0.0/0",
	} {
		got, err := ParseProxies([]string{value})
		require.NoError(t, err, value)
		require.Len(t, got, 1)
		require.Equal(t, want, got[0].String())
	}
	for value, says := range map[string]string{
		"": "want an address", "nginx": "want an address", "10.0.0.1/8": "want 10.0.0.0/8", "10.0.0.0/33": "want an address",
		"::ffff:10.0.0.0/104": "IPv4", "10.0.0.5:80": "want an address",
	} {
		_, err := ParseProxies([]string{value})
		require.ErrorContains(t, err, says, value)
	}
	both := addresses(t, "loopback", "Private")
	for _, proxy := range []string{"127.0.0.9", "[::1]", "10.9.9.9", "172.31.0.1", "192.168.1.1", "[fd00::1]", "[fe80::1]"} {
		require.Equal(t, "198.51.100.1", both.Of(request(proxy+":4000", "X-Forwarded-For: 198.51.100.1")).String(), proxy)
	}
	require.Equal(t, "172.32.0.1", both.Of(request("172.32.0.1:4000", "X-Forwarded-For: 198.51.100.1")).String())
}

// A proxy that no flag names leaves one line an hour, with the flag that names it beside those that are named.
func TestLogNamesTheProxy(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		var log bytes.Buffer
		proxies, err := ParseProxies([]string{"10.0.0.0/8"})
		require.NoError(t, err)
		a := NewAddresses(proxies, slog.New(slog.NewTextHandler(&log, nil)))
		lines := func() int { return strings.Count(log.String(), "\n") }
		a.Of(request("192.0.2.1:80"))
		a.Of(request("10.0.0.1:80", "X-Forwarded-For: 198.51.100.1"))
		require.Zero(t, lines())
		for range 3 {
			a.Of(request("192.0.2.1:80", "X-Forwarded-For: 198.51.100.1"))
			a.Of(request("127.0.0.1:80", "Forwarded: for=198.51.100.1"))
		}
		require.Equal(t, 1, lines())
		require.Contains(t, log.String(), "--trusted-proxies 10.0.0.0/8,192.0.2.1")
		require.Contains(t, log.String(), "counts all its clients as one")
		time.Sleep(time.Hour - 1)
		a.Of(request("127.0.0.1:80", "Forwarded: for=198.51.100.1"))
		require.Equal(t, 1, lines())
		time.Sleep(time.Nanosecond)
		a.Of(request("127.0.0.1:80", "Forwarded: for=198.51.100.1"))
		require.Equal(t, 2, lines())
		require.Contains(t, log.String(), "limits none of its clients")
	})
}

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
