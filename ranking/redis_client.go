package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"rankcast/ranking/internal/pipeline"
)

// Open returns a client for a Redis or Valkey server at one of
//
//	redis://[user:password@]host:port[/db]     also rediss:// with TLS
//	unix:///path/to/socket[?db=n]
//	redis-cluster://[user:password@]host:port[?addr=host2:port2&…]
//
// Open sends nothing. The caller closes the client. A Store sends updates and events over one
// further connection to each node, which the client opens when it needs it.
//
// The client never repeats a command on its own. Redis may have applied an update whose
// answer was lost, and only the sender knows the id that makes a repetition safe.
func Open(rawURL string) (redis.UniversalClient, error) {
	if !strings.Contains(rawURL, "://") {
		want := "redis:// before it"
		if !strings.Contains(rawURL, "@") { // else it holds a password, which no error shows
			want = "redis://" + cmp.Or(rawURL, "localhost:6379")
		}
		return nil, fmt.Errorf("redis URL: has no scheme; want %s", want)
	}
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "unix" && strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") { // the error of url.Parse, or one of these, may show a part of the password
		return nil, errors.New("redis URL: is not valid; want redis://user:password@host:port; a password has %XX in place of each of / ? # % @")
	}
	// A long wait for a connection has no use: the feed and the callers try again.
	const dialTimeout, ioTimeout = time.Second, 2 * time.Second
	quiet := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch u.Scheme {
	case "redis", "rediss", "unix":
		o, err := redis.ParseURL(rawURL)
		if err != nil {
			return nil, fmt.Errorf("redis URL: %w", err)
		}
		o.Protocol, o.MaxRetries, o.DialerRetries = 2, -1, 1
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout = dialTimeout, ioTimeout, ioTimeout
		o.ContextTimeoutEnabled, o.MaintNotificationsConfig = true, quiet
		return pipeline.New(redis.NewClient(o)), nil
	case "redis-cluster":
		o, err := redis.ParseClusterURL("redis" + strings.TrimPrefix(rawURL, u.Scheme))
		if err != nil {
			return nil, fmt.Errorf("redis URL: %w", err)
		}
		o.Protocol, o.MaxRetries, o.DialerRetries = 2, -1, 1
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout = dialTimeout, ioTimeout, ioTimeout
		o.ContextTimeoutEnabled, o.MaintNotificationsConfig = true, quiet
		o.DisableRoutingPolicies = true
		return pipeline.New(redis.NewClusterClient(o)), nil
	default:
		return nil, fmt.Errorf("redis URL: scheme %q; want redis, rediss, unix or redis-cluster", u.Scheme)
	}
}

// LogTo sends the messages of the Redis client to log, at level debug. The client logs each
// connection that fails, and the callers get the same facts as errors. The setting holds
// for the whole process: call LogTo before Open.
func LogTo(log *slog.Logger) { redis.SetLogger(clientLog{log}) }

type clientLog struct{ log *slog.Logger }

func (l clientLog) Printf(ctx context.Context, format string, v ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, v...))
}
