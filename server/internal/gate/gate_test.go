package gate

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/problem"
)

// An id for which there is no room gets 429, with the time until there is some.
func TestTooManyIDsTellWhenToComeBack(t *testing.T) {
	t.Parallel()
	err := problem.At("updates[3]", &definition.FieldError{Field: "id", Reason: "is one too many", Kind: definition.ErrTooManyIDs,
		RetryAfter: 90 * time.Second})
	p := problem.Of(err)
	require.Equal(t, problem.Problem{Status: http.StatusTooManyRequests, Code: "limit_reached",
		Message: "updates[3].id: is one too many", Field: "updates[3].id"}, p)
	require.Equal(t, 90, retryAfter(p.Status, err))
	require.Zero(t, retryAfter(http.StatusInternalServerError, errors.New("other")))
}

// The address of the site has the host of the request and the scheme of the client, and holds nothing that a
// stranger could make up.
func TestSiteURL(t *testing.T) {
	t.Parallel()
	trusted, err := access.ParseProxies([]string{"loopback"})
	require.NoError(t, err)
	g := &Gate{addresses: access.NewAddresses(trusted, slog.New(slog.DiscardHandler))}
	https := http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-Prefix": {"/scores"}, "X-Forwarded-Host": {"evil.example"}}
	for _, c := range []struct {
		host, peer string
		tls        bool
		header     http.Header
		want       string
	}{
		{"scores.example.com", "203.0.113.9:1", false, nil, "http://scores.example.com/"},
		{"Scores.Example.com:8443", "203.0.113.9:1", true, nil, "https://scores.example.com:8443/"},
		{"scores.example.com", "203.0.113.9:1", false, https, "http://scores.example.com/"},
		{"scores.example.com", "127.0.0.1:1", false, https, "https://scores.example.com/scores/"},
		{"[::1]:8080", "[::1]:1", false, nil, "http://[::1]:8080/"},
		{"", "127.0.0.1:1", false, https, ""},
		{`a"><script>`, "127.0.0.1:1", false, https, ""},
		{"user@evil.example", "127.0.0.1:1", false, https, ""},
		{"evil.example/path", "127.0.0.1:1", false, https, ""},
	} {
		r := &http.Request{Host: c.host, RemoteAddr: c.peer, Header: c.header}
		if c.tls {
			r.TLS = new(tls.ConnectionState)
		}
		require.Equal(t, c.want, g.SiteURL(r), "%+v", c)
	}
}

// The turn of a read ends when its answer begins, so that a client that reads slowly keeps no turn. Echo's answers begin
// with WriteHeader; an http.Handler may leave it out.
func TestAnswerEndsTheTurnOfARead(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(http.ResponseWriter){
		"WriteHeader": func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) },
		"Write":       func(w http.ResponseWriter) { w.Write([]byte("{}")) },
	} {
		ended := 0
		w := &exchange{ResponseWriter: httptest.NewRecorder(), release: func() { ended++ }}
		begin(w)
		require.Equal(t, 1, ended, name)
		w.Write([]byte("{}"))
		require.Equal(t, 1, ended, "%s: the turn ends once", name)
	}
}
