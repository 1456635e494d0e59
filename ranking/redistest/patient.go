package redistest

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// CallTimeout is the timeout of one call to Redis in a test. On a busy machine even a quick call
// may take seconds.
const CallTimeout = patience

// Patient gives a client that was just opened the timeouts of CallTimeout.
func Patient(rdb redis.UniversalClient) {
	set := func(read, write *time.Duration) { *read, *write = patience, patience }
	switch rdb := rdb.(type) {
	case *redis.Client:
		set(&rdb.Options().ReadTimeout, &rdb.Options().WriteTimeout)
	case *redis.ClusterClient:
		set(&rdb.Options().ReadTimeout, &rdb.Options().WriteTimeout)
	}
}
