package redisconn_test

import (
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/internal/redisconn"
	"rankcast/ranking/redistest"
)

// An address without a scheme gets the one that it lacks. No error shows a password.
func TestOpenRefusesInvalidURLs(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{
		"":                    "redis URL: has no scheme; want redis://localhost:6379",
		"localhost:6379":      "redis URL: has no scheme; want redis://localhost:6379",
		"127.0.0.1:6379":      "redis URL: has no scheme; want redis://127.0.0.1:6379",
		"cache":               "redis URL: has no scheme; want redis://cache",
		"u:secret@cache:6379": "redis URL: has no scheme; want redis:// before it",
		"mongodb://cache": `redis URL: scheme "mongodb"; want redis, unix, redis-sentinel or redis-cluster; rediss, ` +
			`rediss-sentinel or rediss-cluster for TLS`,
		"redis://u:secret@cache:port": "redis URL: is not valid; want redis://user:password@host:port",
		"redis://u:secret#x@cache":    "redis URL: is not valid",
		"redis://u:1/secret@cache":    "redis URL: is not valid",
		"redis://u:1@2/secret@cache":  "redis URL: is not valid",
		"redis://u:1?secret@cache":    "redis URL: is not valid",
		"redis://u:1#secret@cache":    "redis URL: is not valid",
		"redis://u:%secret@cache":     "redis URL: is not valid",

		"redis-sentinel://u:secret@a:26379,b:x/m": "redis URL: is not valid",
		"redis-sentinel://u:secret@a,,b/m":        "redis URL: is not valid",
		"redis-sentinel://u:secret@a,b": "redis URL: has no name of a master; want " +
			"redis-sentinel://host:26379,host2:26379/mymaster",
		"redis-sentinel://u:secret@a,b/m/1/2":                 "redis URL: has the path /m/1/2; want /MASTER or /MASTER/DB",
		"redis-sentinel://u:secret@a/m/x":                     "redis URL: has no valid number of a database behind the host",
		"redis://u:secret@a/x:secret":                         "redis URL: has no valid number of a database behind the host",
		"unix://u:secret/x@/tmp/r.sock":                       "redis URL: is not valid",
		"redis-sentinel://u:secret@a/m?replica_only=true":     "redis URL: has the parameter replica_only, which does not apply",
		"redis-sentinel://u:secret@a/m?route_by_latency=true": "redis URL: has the parameter route_by_latency, which does not apply",
		"redis-sentinel://a/m?username=u&password=secret":     "redis URL: has the parameter username, which does not apply",
		"redis-sentinel://a/m?sentinel_password=a;secret":     "redis URL: is not valid",
		"redis-sentinel://u:secret@a/m?ca=x":                  "redis URL: redis: unexpected option: ca",
		"redis-cluster://u:secret/1@a":                        "redis URL: is not valid",
		"rediss://u:secret@cache?ca=/none.pem":                "redis URL: ca: open /none.pem: no such file",
		"rediss-cluster://u:secret@cache?ca=/dev/null":        "redis URL: ca: /dev/null has no certificate in PEM",
		"rediss-sentinel://u:secret@cache/m?ca=/dev/null":     "redis URL: ca: /dev/null has no certificate in PEM",
	} {
		_, err := redisconn.Open(url)
		require.ErrorContains(t, err, says, url)
		require.NotContains(t, err.Error(), "secret", url)
	}
	for _, url := range []string{"redis://u:a%23b@cache:6379/1", "unix:///run/redis@1.sock?db=1", "redis-cluster://a:1?addr=b:2",
		"rediss-sentinel://u:p@[::1]/m/1"} {
		require.NoError(t, redistest.Must(redisconn.Open(url))(t).Close())
	}
}

// The end of a context does not end a call that waits for an answer of Redis. Closing the client
// does: a node that stops relies on it.
func TestCloseEndsCallsThatWaitForRedis(t *testing.T) {
	t.Parallel()
	p := redistest.StartProxy(t, redistest.Start(t).URL())
	rdb := redistest.Dial(t, p.URL())
	require.NoError(t, rdb.Ping(t.Context()).Err())
	p.Hold("waits")
	ended := make(chan error, 1)
	go func() { ended <- rdb.Get(t.Context(), "waits").Err() }()
	redistest.Until(t, "the call to reach the network", func() bool { return p.Held() > 0 })
	require.NoError(t, rdb.Close())
	err := redistest.Receive(t, "the run to end", ended)
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}

// The hosts and users of Sentinel and of a cluster are those of the URL. With TLS, the certificate of each server names
// its own host.
func TestURLOfManyHosts(t *testing.T) {
	t.Parallel()
	open := func(url string) redis.UniversalClient {
		rdb := redistest.Must(redisconn.Open(url))(t)
		t.Cleanup(func() { rdb.Close() })
		return rdb.(interface{ Unwrap() redis.UniversalClient }).Unwrap()
	}
	one := open("redis-sentinel://app:p%40w@a,b:1/mymaster/3?pool_timeout=5s").(*redis.Client).Options()
	require.Equal(t, []any{"app", "p@w", 3, 5 * time.Second, 0}, []any{one.Username, one.Password, one.DB, one.PoolTimeout, one.MaxRetries})
	require.Nil(t, one.TLSConfig)
	one = open("rediss-sentinel://a/mymaster").(*redis.Client).Options()
	require.Empty(t, one.TLSConfig.ServerName)
	cluster := open("rediss-cluster://app:pw@a:1,b,[::1]:2").(*redis.ClusterClient).Options()
	require.Equal(t, []string{"a:1", "b:6379", "[::1]:2"}, cluster.Addrs)
	require.Equal(t, "app", cluster.Username)
	require.Empty(t, cluster.TLSConfig.ServerName)
	require.Equal(t, "a", open("rediss://a:1").(*redis.Client).Options().TLSConfig.ServerName)
}
