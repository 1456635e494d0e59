package ranking

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// holding is how long Redis answered nobody else, at the longest.
type holding struct {
	ping time.Duration // that another connection waited for an answer
	busy time.Duration // of that, without what either side waited for a processor
	call time.Duration // that Redis itself took for one command
}

// pingAll pings as fast as it can, on a connection and a thread of its own.
func (h *holding) pingAll(r *redistest.Redis, stop <-chan struct{}) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	conn, err := net.Dial("unix", strings.TrimPrefix(r.URL(), "unix://"))
	if err != nil {
		return err
	}
	defer conn.Close()
	file, err := conn.(*net.UnixConn).File()
	if err != nil {
		return err
	}
	defer file.Close()
	fd := int(file.Fd()) // blocking: Go's poller is out of the way
	waits := []string{fmt.Sprintf("/proc/%d/task/%d/schedstat", r.Pid(), r.Pid()), fmt.Sprintf("/proc/self/task/%d/schedstat",
		syscall.Gettid())}
	answer := make([]byte, 64)
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		before := waited(waits)
		began := time.Now()
		if _, err := syscall.Write(fd, []byte("PING\r\n")); err != nil {
			return err
		}
		if _, err := syscall.Read(fd, answer); err != nil {
			return err
		}
		ping := time.Since(began)
		h.ping = max(h.ping, ping)
		h.busy = max(h.busy, ping-(waited(waits)-before))
	}
}

// waited is how long threads have waited for a processor so far.
func waited(stats []string) (all time.Duration) {
	for _, path := range stats {
		var ran, waited int64
		if text, err := os.ReadFile(path); err == nil {
			fmt.Sscan(string(text), &ran, &waited)
		}
		all += time.Duration(waited)
	}
	return all
}

// BenchmarkRetire measures for how long Redis is held when a board of a million
// members, all with data and with as many request ids, is deleted, or goes by keep, by
// retain, or as an activity that has ended; beside DEL of the same keys, and beside
// doing nothing, which tells how loaded the machine is. The longest of each turn, in
// ms: the median of the turns, and the calmest of them. held-ms is to be below 5.
func BenchmarkRetire(b *testing.B) {
	r := redistest.Start(b, redistest.InMemory...)
	rdb := must(Open(r.URL()))(b)
	b.Cleanup(func() { rdb.Close() })
	options := must(redis.ParseURL(r.URL()))(b)
	options.Protocol, options.ReadTimeout = 2, time.Minute // a copy of a million takes its time
	patient := redis.NewClient(options)
	defer patient.Close()
	s := New(rdb, Config{})
	ctx := context.Background()
	hour := time.Now().UTC().Truncate(time.Hour).Add(-3 * time.Hour)
	boards := []definition.Board{
		{Name: "delete"},
		{Name: "keep", Period: "hour", Keep: new(0)},
		{Name: "retain:{n}", Retain: time.Hour},
		{Name: "ends", Ends: hour, Retain: time.Hour},
	}
	require.NoError(b, s.Define(ctx, definition.Set{Boards: boards}))
	big := []string{"big:z", "big:x", "big:i"}
	fillBig(b, rdb, big)

	// have makes a board of a million, last written to three hours ago.
	have := func(instance, period string) {
		n := must(definition.ParseName(instance))(b)
		k := s.keys.Board(instance, period)
		for from, all := range map[string][]string{big[0]: {k.Members}, big[1]: {k.Data}, big[2]: k.Ids[:]} {
			for _, to := range all {
				require.NoError(b, patient.Copy(ctx, from, to, 0, true).Err())
			}
		}
		opens, closes := int64(0), int64(0)
		if period != "" {
			opens, closes = hour.UnixMicro(), hour.Add(time.Hour).UnixMicro()
		}
		wrote := hour.UnixMicro()
		for _, ids := range k.Ids {
			require.NoError(b, rdb.HSet(ctx, ids, "", fmt.Sprintf("%d %d", wrote, wrote+2*definition.LeastIDSpan.Microseconds())).Err())
		}
		require.NoError(b, rdb.HSet(ctx, k.Meta, "epoch", "e", "seq", 1, "clock", wrote, "from", wrote, "span", 1, "shape", "desc").Err())
		require.NoError(b, rdb.HSet(ctx, k.Periods, period, fmt.Sprintf("%d %d", opens, closes)).Err())
		require.NoError(b, rdb.ZAdd(ctx, s.keys.Instances(n.Slot()), redis.Z{Member: instance}).Err())
		require.NoError(b, rdb.ZAdd(ctx, s.keys.Agenda(), redis.Z{Member: instance, Score: float64(wrote)}).Err())
	}
	// gone looks after what is due until there is nothing of a board any more.
	gone := func(instance string) {
		redistest.Eventually(b, instance+" to go", func() error {
			if _, err := s.housekeepDue(ctx); err != nil {
				return err
			}
			// What waits for a minute in case of a failover need not wait here.
			if err := rdb.ZAddArgs(ctx, s.keys.Agenda(),
				redis.ZAddArgs{XX: true, Members: []redis.Z{{Member: instance, Score: 1}}}).Err(); err != nil {
				return err
			}
			if left := rdb.Keys(ctx, s.keys.Tag(instance)+"*").Val(); len(left) > 0 {
				return fmt.Errorf("there is %v", left)
			}
			return nil
		})
	}
	for _, way := range []struct {
		name, instance, period string
		retire                 func()
	}{
		{"nothing", "", "", func() {
			stop := time.After(time.Second)
			<-stop
		}},
		{"DEL", "base", "", func() {
			k := s.keys.Board("base", "")
			require.NoError(b, patient.Del(ctx, k.Members, k.Data, k.Ids[0], k.Ids[1], k.Meta, k.Periods).Err())
		}},
		{"delete", "delete", "", func() {
			require.NoError(b, s.Delete(ctx, "delete", Moderator{}))
			gone("delete")
			redistest.Eventually(b, "the definition to go", func() error {
				_, err := s.housekeepDue(ctx)
				return errors.Join(err, s.Define(ctx, definition.Set{Boards: boards[:1]}))
			})
		}},
		{"keep", "keep", hour.Format("2006-01-02T15Z"), func() { gone("keep") }},
		{"retain", "retain:1", "", func() { gone("retain:1") }},
		{"ends", "ends", "", func() { gone("ends") }},
	} {
		b.Run(way.name, func(b *testing.B) {
			var turns []holding
			for b.Loop() {
				if way.instance != "" {
					have(way.instance, way.period)
				}
				h := held(b, r, way.retire)
				turns = append(turns, h)
			}
			report := func(of func(holding) time.Duration, unit string) {
				all := make([]time.Duration, len(turns))
				for i, h := range turns {
					all[i] = of(h)
				}
				slices.Sort(all)
				b.ReportMetric(float64(all[len(all)/2].Microseconds())/1e3, unit)
				b.ReportMetric(float64(all[0].Microseconds())/1e3, "calm-"+unit)
			}
			b.ReportMetric(0, "ns/op")
			report(func(h holding) time.Duration { return h.ping }, "ping-ms")
			report(func(h holding) time.Duration { return h.busy }, "held-ms")
			report(func(h holding) time.Duration { return h.call }, "redis-ms/call")
		})
	}
}

// fillBig makes a sorted set of a million members, and two hashes: data of each, and
// request ids.
func fillBig(b *testing.B, rdb redis.UniversalClient, keys []string) {
	const members, chunk = 1_000_000, 10_000
	for i := 0; i < members; i += chunk {
		pipe := rdb.Pipeline()
		rows, data, ids := make([]redis.Z, chunk), make([]any, 0, 2*chunk), make([]any, 0, 2*chunk)
		for j := range chunk {
			member := fmt.Sprintf("member-%07d", i+j)
			rows[j] = redis.Z{Score: -float64((i+j)*7919%members) - 0.5, Member: member}
			data = append(data, member, fmt.Sprintf(`{"name":"Member %d"}`, i+j))
			ids = append(ids, fmt.Sprintf("request-%07d", i+j), strings.Repeat("d", 11)+fmt.Sprintf("2026-W47 %d %d - -", i, j))
		}
		pipe.ZAdd(context.Background(), keys[0], rows...)
		pipe.HSet(context.Background(), keys[1], data...)
		pipe.HSet(context.Background(), keys[2], ids...)
		must(pipe.Exec(context.Background()))(b)
	}
}

// held calls do, and measures until Redis has freed what do left behind.
func held(b *testing.B, r *redistest.Redis, do func()) (h holding) {
	ctx := context.Background()
	admin := r.Admin()
	require.NoError(b, admin.ConfigSet(ctx, "slowlog-log-slower-than", "100").Err())
	require.NoError(b, admin.ConfigSet(ctx, "slowlog-max-len", "10000").Err())
	require.NoError(b, admin.SlowLogReset(ctx).Err())
	stop := make(chan struct{})
	var pinging sync.WaitGroup
	pinging.Go(func() {
		if err := h.pingAll(r, stop); err != nil {
			b.Error(err)
		}
	})
	do()
	redistest.Eventually(b, "Redis to have freed all", func() error {
		info, err := admin.Info(ctx, "memory").Result()
		if err == nil && !strings.Contains(info, "lazyfree_pending_objects:0\r\n") {
			err = errors.New("not yet")
		}
		return err
	})
	close(stop)
	pinging.Wait()
	for _, l := range must(admin.SlowLogGet(ctx, 10000).Result())(b) {
		if l.Args[0] != "config" && l.Args[0] != "keys" && l.Args[0] != "info" {
			h.call = max(h.call, l.Duration)
		}
	}
	return h
}
