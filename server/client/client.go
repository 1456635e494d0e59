package client

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config is what a Client can be told. The zero value is the documented default.
type Config struct {
	// HTTP sends the requests and dials the WebSockets. Default: a client of its
	// own that keeps up to 64 idle connections, so that as many goroutines may
	// send updates without dialing anew.
	HTTP *http.Client
	// Header goes with every request and handshake, such as an Authorization.
	// Default none.
	Header http.Header
	// AttemptTimeout is how long one attempt of a request may take, its answer
	// included. Default 10 s, at most 2 minutes.
	AttemptTimeout time.Duration
	// RetryFor is how long after the first attempt of a request another may
	// start; the call ends one AttemptTimeout later at the latest. Default 1
	// minute, at most 5: a server remembers ids for ten minutes at least, and
	// an update that is sent again later would count twice. Negative: one
	// attempt.
	RetryFor time.Duration
	// Retrying, if there is one, is told why a request is about to be sent again.
	// It may be called by several goroutines at once. Watch tells by Board.Err.
	Retrying func(why error)
}

const (
	defaultAttemptTimeout = 10 * time.Second
	defaultRetryFor       = time.Minute
	// longestRetryFor is half of the ten minutes for which a server remembers
	// ids, so that the last attempt has come to its end, wherever it hung.
	longestRetryFor = 5 * time.Minute
	longestAttempt  = 2 * time.Minute
	idleConnections = 64
	idleTimeout     = 90 * time.Second
)

// Client talks to one server, or to the proxy before several. All its methods
// may be called concurrently.
type Client struct {
	base   string // scheme, host and what path the server is mounted at, without a slash at its end
	cfg    Config
	http   *http.Client
	random func() float64 // in [0, 1), for jitter
}

// New makes a client of the server at an http or https URL, such as
// http://127.0.0.1:8080. It connects to nothing yet. An error is a URL or a
// Config that can't be.
func New(server string, cfg Config) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("server URL: want http://HOST:PORT or https://HOST: %w", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("server URL %q: want http://HOST:PORT or https://HOST", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("server URL %q: want no query and no fragment", u.Redacted())
	case cfg.RetryFor > longestRetryFor:
		return nil, fmt.Errorf("RetryFor %v: want %v at most", cfg.RetryFor, longestRetryFor)
	case cfg.AttemptTimeout < 0 || cfg.AttemptTimeout > longestAttempt:
		return nil, fmt.Errorf("AttemptTimeout %v: want up to %v", cfg.AttemptTimeout, longestAttempt)
	}
	cfg.AttemptTimeout = cmp.Or(cfg.AttemptTimeout, defaultAttemptTimeout)
	cfg.RetryFor = cmp.Or(cfg.RetryFor, defaultRetryFor)
	c := &Client{base: strings.TrimRight(u.String(), "/"), cfg: cfg, http: cfg.HTTP, random: rand.Float64}
	if c.http == nil {
		transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: idleTimeout}
		if theirs, ok := http.DefaultTransport.(*http.Transport); ok { // else a program has put another in its place
			transport = theirs.Clone()
		}
		transport.MaxIdleConnsPerHost = idleConnections
		c.http = &http.Client{Transport: transport}
	}
	return c, nil
}

// Close ends the idle connections of a client that was given no Config.HTTP. It
// cuts off nothing under way, and the client may be used again.
func (c *Client) Close() {
	if c.cfg.HTTP == nil {
		c.http.CloseIdleConnections()
	}
}

// boardURL is the URL of what belongs to a board. Names may hold any character.
func (c *Client) boardURL(board string, rest ...string) string {
	var b strings.Builder
	b.WriteString(c.base + "/v1/boards/" + url.PathEscape(board))
	for _, part := range rest {
		b.WriteString("/" + url.PathEscape(part))
	}
	return b.String()
}
