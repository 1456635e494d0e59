package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rankcast/ranking/internal/redisconn"
)

// The parameters of CONFIG GET that the checks use.
const (
	bufferLimits = "client-output-buffer-limit"
	fsyncPolicy  = "appendfsync"
	savePoints   = "save"
)

// server holds the answers of one Redis.
type server struct {
	name        string // host:port of a master of a cluster; "" without a cluster
	info        map[string]string
	config      map[string]string // a parameter that Redis does not tell is missing
	least, most time.Duration     // bounds of how far the clock of Redis is ahead of that of this machine

	infoErr, configErr, timeErr error // by which Redis refuses to tell
}

// judge makes all checks of the answers of Redis.
func judge(servers []*server) []Finding {
	var all []Finding
	for _, check := range []func(*server) Finding{version, eviction, persistence, memory, outputBuffers, clock} {
		all = append(all, perServer(servers, check)...)
	}
	return append(all, clocksApart(servers)...)
}

// unknown is the finding of a check whose command Redis refuses, or answers in an unknown form.
func unknown(check, command string, err error) Finding {
	if err == nil {
		err = fmt.Errorf("%s does not tell it", command)
	}
	return Finding{Check: check, Level: Unknown, Found: err.Error(), Fix: "look as another user: redis-cli " + command}
}

// set is a fix that changes a setting.
func set(name, value string) string {
	return fmt.Sprintf("redis-cli CONFIG SET %s '%s', and in redis.conf: %s %s", name, value, name, value)
}

func version(s *server) Finding {
	is := s.info["redis_version"]
	first, _, _ := strings.Cut(is, ".")
	major, err := strconv.Atoi(first)
	if err != nil {
		return unknown(Version, "INFO server", s.infoErr)
	}
	f, valkey := Finding{Check: Version, Found: "Redis " + is}, s.info["valkey_version"]
	if valkey != "" {
		f.Found = "Valkey " + valkey
	}
	switch {
	case major < redisconn.LeastMajor:
		f.Level, f.Found, f.Fix = Problem, f.Found+" is too old: Rankcast needs Redis 7.0 or later, or Valkey", "update Redis"
	case valkey == "":
		f.Found += "; in Valkey 9 a member takes a third less memory" // measured.md, "Newer stores"
	}
	return f
}

const noEviction = "noeviction"

func eviction(s *server) Finding {
	switch policy := s.info["maxmemory_policy"]; policy {
	case "":
		return unknown(Eviction, "INFO memory", s.infoErr)
	case noEviction:
		return Finding{Check: Eviction, Found: policy}
	default:
		return Finding{Check: Eviction, Level: Problem,
			Found: policy + ": when its memory is full, Redis deletes boards, locks or tickets", Fix: set("maxmemory-policy", noEviction)}
	}
}

func persistence(s *server) Finding {
	f := Finding{Check: Persistence, Found: "append-only file"}
	aof := s.info["aof_enabled"]
	if aof == "" {
		return unknown(Persistence, "INFO persistence", s.infoErr)
	}
	saves, known := s.config[savePoints]
	for _, status := range []struct {
		field string
		level Level
		used  bool
	}{
		{"aof_last_write_status", Problem, aof == "1"},
		{"rdb_last_bgsave_status", Problem, saves != "" || !known}, // without save points Redis goes on
		{"aof_last_bgrewrite_status", Warning, aof == "1"},
	} {
		if is := s.info[status.field]; status.used && is != "" && is != "ok" {
			return Finding{Check: Persistence, Level: status.level, Found: status.field + " is " + is,
				Fix: "look into the log of Redis, and make room on its disk"}
		}
	}
	switch policy := s.config[fsyncPolicy]; {
	case aof != "1":
		f.Level, f.Found = Warning, "no append-only file: a crash of Redis loses the scores since its last snapshot, or all"
		// With the line in redis.conf alone, Redis would start with an empty file in place of its snapshot.
		f.Fix = "redis-cli CONFIG SET appendonly yes, and only then in redis.conf: appendonly yes"
	case policy != "":
		f.Found += ", appendfsync " + policy
	}
	return f
}

// fullShare is the part of a limit, in percent, from which on memory is a warning: an operator needs the time to react
// that a fifth of the memory gives.
const fullShare = 80

func memory(s *server) Finding {
	number := func(field string) int64 {
		n, _ := strconv.ParseInt(s.info[field], 10, 64)
		return n
	}
	used, limit, machine := number("used_memory"), number("maxmemory"), number("total_system_memory")
	if used == 0 {
		return unknown(Memory, "INFO memory", s.infoErr)
	}
	const mib = 1 << 20
	f := Finding{Check: Memory, Found: fmt.Sprintf("%d MiB used", used/mib)}
	share := int64(0)
	for _, of := range []struct {
		name string
		size int64
	}{{"maxmemory", limit}, {"the machine", machine}} {
		if of.size > 0 {
			f.Found += fmt.Sprintf(", %d%% of %s (%d MiB)", used*100/of.size, of.name, of.size/mib)
			share = max(share, used*100/of.size)
		}
	}
	const fix = "give Redis more memory; or delete boards, or shorten keep and retain"
	switch {
	case limit > 0 && used-number("mem_not_counted_for_evict") >= limit && s.info["maxmemory_policy"] == noEviction:
		f.Level, f.Found, f.Fix = Problem, f.Found+": Redis refuses updates", fix
	case share >= fullShare:
		f.Level, f.Fix = Warning, fix
	}
	return f
}

const (
	// defaultBuffers is the default of Redis and Valkey for what may wait in Redis for a subscriber.
	defaultBuffers = "pubsub 32mb 8mb 60"
	// burst is what the changes of a second may take, in bytes: 5,000 updates of 200 bytes each. A limit below
	// it disconnects a node that stands still for a second, as during a collection of garbage on a
	// busy machine.
	burst = 1 << 20
)

// outputBuffers judges the value of client-output-buffer-limit: "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432
// 8388608 60", for each class the hard limit and the soft limit in bytes, and the seconds that more than the soft limit
// may wait.
func outputBuffers(s *server) Finding {
	_, limits, _ := strings.Cut(s.config[bufferLimits]+" ", "pubsub ")
	var hard, soft, seconds int64
	if n, _ := fmt.Sscan(limits, &hard, &soft, &seconds); n < 3 {
		return unknown(OutputBuffers, "CONFIG GET "+bufferLimits, s.configErr)
	}
	f := Finding{Check: OutputBuffers, Found: fmt.Sprintf("pubsub %d %d %d", hard, soft, seconds)}
	below := func(limit, least int64) bool { return limit > 0 && limit < least }
	switch {
	case below(hard, burst):
		f.Level, f.Found = Problem, f.Found+": a burst of changes disconnects each node"
	case below(hard, 32<<20), seconds > 0 && below(soft, 8<<20), soft > 0 && below(seconds, 60):
		f.Level, f.Found = Warning, f.Found+": Redis disconnects a slow node sooner than by default"
	}
	if f.Level != OK {
		f.Fix = set(bufferLimits, defaultBuffers)
	}
	return f
}

const (
	// clockWarning is the distance of Redis's clock from this machine's that is a warning.
	clockWarning = time.Second
	// clocksProblem is the distance of the clocks of two masters that is a problem: from three seconds
	// on the lease of definitions refuses updates, and clocks drift.
	clocksProblem = 2 * time.Second

	synchronize = "synchronize the clocks of all machines by NTP"
)

func clock(s *server) Finding {
	if s.timeErr != nil {
		return unknown(Clock, "TIME", s.timeErr)
	}
	f := Finding{Check: Clock, Found: "Redis's clock agrees with this machine's to a second"}
	for direction, apart := range map[string]time.Duration{"ahead of": s.least, "behind": -s.most} {
		if apart > clockWarning {
			f.Level, f.Fix = Warning, synchronize
			f.Found = fmt.Sprintf("Redis's clock is %.1f s %s this machine's: Redis decides the periods, this machine when tokens expire",
				apart.Seconds(), direction)
		}
	}
	return f
}

// clocksApart compares the clocks of all servers with each other. The order of arrival in two shards of a board is no more exact than
// these agree.
func clocksApart(servers []*server) (all []Finding) {
	servers = slices.DeleteFunc(slices.Clone(servers), func(s *server) bool { return s.timeErr != nil })
	if len(servers) < 2 {
		return nil
	}
	// The clocks that show the earliest and the latest time.
	first := slices.MinFunc(servers, func(a, b *server) int { return cmp.Compare(a.most, b.most) })
	last := slices.MaxFunc(servers, func(a, b *server) int { return cmp.Compare(a.least, b.least) })
	if last.least-first.most <= clocksProblem {
		latest := slices.MaxFunc(servers, func(a, b *server) int { return cmp.Compare(a.most, b.most) })
		earliest := slices.MinFunc(servers, func(a, b *server) int { return cmp.Compare(a.least, b.least) })
		return []Finding{{Check: Clock, Found: fmt.Sprintf(
			"the clocks of %d masters are at most %.1f ms apart: the order of arrival in two shards of a board is no more exact than that",
			len(servers), float64(latest.most-earliest.least)/float64(time.Millisecond))}}
	}
	return []Finding{{Check: Clock, Level: Problem, Fix: synchronize,
		Found: fmt.Sprintf("%s is %.1f s ahead of %s: from three seconds on, updates to its boards get 503", last.name,
			(last.least - first.most).Seconds(), first.name)}}
}
