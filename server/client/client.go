package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config configures a Client. The zero value of each field means its default.
type Config struct {
	// HTTP sends the requests and dials the WebSockets. Default: a client with up to 64 idle
	// connections, so that as many goroutines may send updates over open connections.
	HTTP *http.Client
	// Header is added to every request and handshake. Default none.
	Header http.Header
	// Credentials returns the key or the token for the server, or "" for none. The client calls it
	// before each attempt of a request and each handshake, so that credentials may change, and may call
	// it concurrently. The client sends them to the server alone: never to another one to which the
	// server redirects. No error of the client holds them. An error is wrapped in ErrCredentials, and the
	// client tries again as after a failed connection. Default none. Key is for credentials that do not
	// change.
	Credentials func(ctx context.Context) (string, error)
	// AttemptTimeout bounds one attempt of a request, with its answer. Default 10 s, at most 2
	// minutes.
	AttemptTimeout time.Duration
	// RetryFor is how long after the first attempt of a request another attempt may start. The
	// call ends one AttemptTimeout later at the latest. Default 1 minute, at most 5: a server
	// remembers ids for at least ten minutes, and an update sent again after that would count
	// twice. Negative: one attempt only.
	RetryFor time.Duration
	// CountRanks makes the answers to updates and events have ranks on boards with shards too. The server counts them
	// after the update, in all shards. Default: Result.Rank is nil on such a board.
	CountRanks bool
	// OnRetry, unless nil, is called before each retry with the error of the last attempt.
	// Several goroutines may call it at once. Watch does not call it: see Board.Err.
	OnRetry func(why error)
}

const (
	defaultAttemptTimeout = 10 * time.Second
	defaultRetryFor       = time.Minute
	// maxRetryFor is half of the ten minutes for which a server remembers ids, so that the last
	// attempt has ended within them, wherever it hung.
	maxRetryFor       = 5 * time.Minute
	maxAttemptTimeout = 2 * time.Minute
	idleConnections   = 64
	idleTimeout       = 90 * time.Second
)

// Client sends requests to one server, or to a proxy in front of several. All methods may be called
// concurrently.
type Client struct {
	base   string // scheme, host and the path of the server, without a trailing slash
	cfg    Config
	http   *http.Client
	random func() float64 // in [0, 1), for jitter
}

// New makes a Client of the server at an http or https URL, such as http://127.0.0.1:8080. It opens
// no connection. It returns an error for an invalid URL or Config.
func New(server string, cfg Config) (*Client, error) {
	if !strings.Contains(server, "://") {
		want := "http://HOST:PORT or https://HOST"
		if _, _, err := net.SplitHostPort(server); err == nil && !strings.Contains(server, "@") {
			want = "http://" + server
		}
		return nil, fmt.Errorf("server URL: has no scheme; want %s", want)
	}
	u, err := url.Parse(server)
	// the error of url.Parse, or one of these, may show a part of the password
	if err != nil || strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") {
		return nil, errors.New("server URL: is not valid; want http://HOST:PORT or https://HOST; " +
			"a password has %XX in place of each of / ? # % @")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("server URL %q: want http://HOST:PORT or https://HOST", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("server URL %q: want no query and no fragment", u.Redacted())
	case cfg.RetryFor > maxRetryFor:
		return nil, fmt.Errorf("RetryFor %v: want %v at most", cfg.RetryFor, maxRetryFor)
	case cfg.AttemptTimeout < 0 || cfg.AttemptTimeout > maxAttemptTimeout:
		return nil, fmt.Errorf("AttemptTimeout %v: want up to %v", cfg.AttemptTimeout, maxAttemptTimeout)
	}
	cfg.AttemptTimeout = cmp.Or(cfg.AttemptTimeout, defaultAttemptTimeout)
	cfg.RetryFor = cmp.Or(cfg.RetryFor, defaultRetryFor)
	c := &Client{base: strings.TrimRight(u.String(), "/"), cfg: cfg, http: cfg.HTTP, random: rand.Float64}
	if c.http == nil {
		transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: idleTimeout}
		if theirs, ok := http.DefaultTransport.(*http.Transport); ok { // else the program has replaced it
			transport = theirs.Clone()
		}
		transport.MaxIdleConnsPerHost = idleConnections
		c.http = &http.Client{Transport: transport}
	}
	if cfg.Credentials != nil {
		theirs := *c.http
		theirs.CheckRedirect = keepCredentials(u, theirs.CheckRedirect)
		c.http = &theirs
	}
	return c, nil
}

// Close closes the idle connections of a Client without Config.HTTP. Pending requests continue, and
// the Client may be used again.
func (c *Client) Close() {
	if c.cfg.HTTP == nil {
		c.http.CloseIdleConnections()
	}
}

// boardURL is the URL of a board's resource. Names may hold any character.
func (c *Client) boardURL(board string, rest ...string) string {
	var b strings.Builder
	b.WriteString(c.base + "/v1/boards/" + url.PathEscape(board))
	for _, part := range rest {
		b.WriteString("/" + url.PathEscape(part))
	}
	return b.String()
}

// writeURL is an address to which the client sends updates or events, with the parameter for Config.CountRanks.
func (c *Client) writeURL(address string) string {
	if c.cfg.CountRanks {
		address += "?rank=true"
	}
	return address
}
