package redistest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// MainThreadCPU returns the time of a processor that the main thread of a Redis has used so far.
func MainThreadCPU(t testing.TB, rdb redis.UniversalClient) time.Duration {
	t.Helper()
	used := Must(rdb.InfoMap(context.Background(), "cpu").Result())(t)["CPU"]
	var seconds float64
	for _, field := range []string{"used_cpu_sys_main_thread", "used_cpu_user_main_thread"} {
		seconds += Must(strconv.ParseFloat(used[field], 64))(t)
	}
	return time.Duration(seconds * float64(time.Second))
}
