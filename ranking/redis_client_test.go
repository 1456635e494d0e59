package ranking_test

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/redistest"
)

// An address without a scheme gets the one that it lacks. No error shows a password.
func TestOpenRefusesInvalidURLs(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{
		"":                            "redis URL: has no scheme; want redis://localhost:6379",
		"localhost:6379":              "redis URL: has no scheme; want redis://localhost:6379",
		"127.0.0.1:6379":              "redis URL: has no scheme; want redis://127.0.0.1:6379",
		"cache":                       "redis URL: has no scheme; want redis://cache",
		"u:secret@cache:6379":         "redis URL: has no scheme; want redis:// before it",
		"mongodb://cache":             `redis URL: scheme "mongodb"; want redis, rediss, unix or redis-cluster`,
		"redis://u:secret@cache:port": "redis URL: is not valid; want redis://user:password@host:port",
		"redis://u:secret#x@cache":    "redis URL: is not valid",
		"redis://u:1/secret@cache":    "redis URL: is not valid",
		"redis://u:1@2/secret@cache":  "redis URL: is not valid",
		"redis://u:1?secret@cache":    "redis URL: is not valid",
		"redis://u:1#secret@cache":    "redis URL: is not valid",
		"redis://u:%secret@cache":     "redis URL: is not valid",
	} {
		_, err := ranking.Open(url)
		require.ErrorContains(t, err, says, url)
		require.NotContains(t, err.Error(), "secret", url)
	}
	for _, url := range []string{"redis://u:a%23b@cache:6379/1", "unix:///run/redis@1.sock?db=1"} {
		rdb, err := ranking.Open(url)
		require.NoError(t, err)
		require.NoError(t, rdb.Close())
	}
}

// The end of a context does not end a call that waits for an answer of Redis. Closing the client
// does: a node that stops relies on it.
func TestCloseEndsCallsThatWaitForRedis(t *testing.T) {
	t.Parallel()
	p := redistest.StartProxy(t, redistest.Start(t).URL())
	rdb, err := ranking.Open(p.URL())
	require.NoError(t, err)
	redistest.Patient(rdb)
	defer rdb.Close()
	require.NoError(t, rdb.Ping(t.Context()).Err())
	p.Hold("waits")
	ended := make(chan error, 1)
	go func() { ended <- rdb.Get(t.Context(), "waits").Err() }()
	redistest.Eventually(t, "the call to wait", func() error {
		if p.Held() == 0 {
			return errors.New("it has not reached the network")
		}
		return nil
	})
	require.NoError(t, rdb.Close())
	err = <-ended
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}
