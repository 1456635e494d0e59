package redistest

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// CallTimeout is what a test gives one call to Redis: on a machine with much else to
// do even a quick one may take seconds.
const CallTimeout = patience

// Patient has a client that was just opened wait for Redis as long.
func Patient(rdb redis.UniversalClient) {
	set := func(read, write *time.Duration) { *read, *write = patience, patience }
	switch rdb := rdb.(type) {
	case *redis.Client:
		set(&rdb.Options().ReadTimeout, &rdb.Options().WriteTimeout)
	case *redis.ClusterClient:
		set(&rdb.Options().ReadTimeout, &rdb.Options().WriteTimeout)
	}
}
