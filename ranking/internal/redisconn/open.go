package redisconn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"rankcast/ranking/internal/pipeline"
)

// LeastMajor is the first major version of Redis with all that the scripts need: redis.acl_check_cmd
// came with 7.0. Valkey reports the version of Redis that it is compatible with: 7.2.4.
const LeastMajor = 7

// Open is ranking.Open.
func Open(rawURL string) (redis.UniversalClient, error) {
	u, err := parseRedisURL(rawURL)
	if err != nil {
		return nil, fmt.Errorf("redis URL: %w", err)
	}
	var client redis.UniversalClient
	switch u.kind {
	case oneRedis:
		client, err = u.openOne()
	case sentinelRedis:
		client, err = u.openSentinel()
	case clusterRedis:
		client, err = u.openCluster()
	}
	if err != nil {
		return nil, fmt.Errorf("redis URL: %w", err)
	}
	return client, nil
}

// A long wait for a connection has no use: the feed and the callers try again.
const dialTimeout, ioTimeout = time.Second, 2 * time.Second

func quiet() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

func (u *redisURL) openOne() (redis.UniversalClient, error) {
	o, err := redis.ParseURL(u.forLibrary())
	if err != nil {
		return nil, err
	}
	if err := u.trust(o.TLSConfig); err != nil {
		return nil, err
	}
	o.Protocol, o.MaxRetries, o.DialerRetries = 2, -1, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = dialTimeout, ioTimeout, ioTimeout
	o.ContextTimeoutEnabled, o.MaintNotificationsConfig = true, quiet()
	return pipeline.New(redis.NewClient(o)), nil
}

func (u *redisURL) openSentinel() (redis.UniversalClient, error) {
	if u.master == "" {
		return nil, errors.New("has no name of a master; want redis-sentinel://host:26379,host2:26379/mymaster")
	}
	o, err := redis.ParseFailoverURL(u.forLibrary())
	if err != nil {
		return nil, err
	}
	// ParseFailoverURL takes the user of the URL for that of the Sentinels.
	o.Username, o.Password, o.SentinelUsername, o.SentinelPassword = o.SentinelUsername, o.SentinelPassword, u.sentinelUser, u.sentinelPassword
	o.MasterName, o.SentinelAddrs = u.master, u.hosts
	if err := u.trustEach(o.TLSConfig); err != nil {
		return nil, err
	}
	o.Protocol, o.MaxRetries, o.DialerRetries = 2, -1, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = dialTimeout, ioTimeout, ioTimeout
	o.ContextTimeoutEnabled = true
	o.Dialer = dialByName(redis.NewDialer(&redis.Options{DialTimeout: dialTimeout, TLSConfig: o.TLSConfig}))
	client := pipeline.New(redis.NewFailoverClient(o))
	client.AddHook(new(masterSwitch))
	return client, nil
}

// ExecEach sends the commands of a pipeline. Each has its own error afterwards. When Redis, or a Sentinel, refuses the
// connection itself, the library gives no command an error, and each an empty answer. ExecEach gives each that error,
// and returns it.
func ExecEach(ctx context.Context, pipe redis.Pipeliner) (refused error) {
	cmds, err := pipe.Exec(ctx)
	if slices.ContainsFunc(cmds, func(cmd redis.Cmder) bool { return cmd.Err() != nil }) {
		return nil
	}
	if err != nil {
		for _, cmd := range cmds {
			cmd.SetErr(err)
		}
	}
	return err
}

// LogTo is ranking.LogTo.
func LogTo(log *slog.Logger) { redis.SetLogger(clientLog{log}) }

type clientLog struct{ log *slog.Logger }

func (l clientLog) Printf(ctx context.Context, format string, v ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, v...))
}
