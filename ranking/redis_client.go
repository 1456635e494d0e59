package ranking

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Open makes a client for a Redis or Valkey server at
//
//	redis://[user:password@]host:port[/db]     also rediss:// with TLS
//	unix:///path/to/socket[?db=n]
//	redis-cluster://[user:password@]host:port[?addr=host2:port2&…]
//
// Nothing is sent yet. The caller closes the client.
//
// The client never sends a command a second time by itself: an update whose
// answer was lost may have been applied, and only its sender knows the id that
// makes sending it again safe.
func Open(rawURL string) (redis.UniversalClient, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("redis URL: %w", err)
	}
	// Waiting long for a connection helps nobody: the feed and the callers try again.
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
		return redis.NewClient(o), nil
	case "redis-cluster":
		o, err := redis.ParseClusterURL("redis" + strings.TrimPrefix(rawURL, u.Scheme))
		if err != nil {
			return nil, fmt.Errorf("redis URL: %w", err)
		}
		o.Protocol, o.MaxRetries, o.DialerRetries = 2, -1, 1
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout = dialTimeout, ioTimeout, ioTimeout
		o.ContextTimeoutEnabled, o.MaintNotificationsConfig = true, quiet
		o.DisableRoutingPolicies = true
		return redis.NewClusterClient(o), nil
	default:
		return nil, fmt.Errorf("redis URL: scheme %q; want redis, rediss, unix or redis-cluster", u.Scheme)
	}
}

// LogTo has the Redis client's own messages go to log, for debugging: what they
// tell the callers are told too, and they come for every connection that fails. It
// is for the whole program: call it before anything is opened.
func LogTo(log *slog.Logger) { redis.SetLogger(clientLog{log}) }

type clientLog struct{ log *slog.Logger }

func (l clientLog) Printf(ctx context.Context, format string, v ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, v...))
}
