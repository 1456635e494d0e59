package diagnosis

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// fsyncLoss words what a power cut loses, by appendfsync. Linux writes dirty pages after 30 seconds.
var fsyncLoss = map[string]string{
	"always":   "loses no acknowledged update",
	"everysec": "loses the last second or two of scores",
	"no":       "loses about 30 seconds of scores",
}

// onDisk is the fix of a Redis without an append-only file. With the line in redis.conf alone, Redis
// would start with an empty append-only file in place of its snapshot.
func (s *Server) onDisk() string {
	return s.cli() + " CONFIG SET appendonly yes, and only then in redis.conf: appendonly yes"
}

func persistence(s *Server) Finding {
	f := Finding{Check: Persistence}
	aof := s.Info["aof_enabled"]
	saves, savesKnown := s.Config[savePoints]
	switch {
	case aof == "":
		return s.noInfo(Persistence, "persistence")
	case s.failed("aof_last_write_status") && aof == "1":
		f.Level, f.Found = Problem, "the last write to the append-only file failed, so Redis refuses updates"
		f.Fix = "look into the log of Redis, and free space on its disk (dir in redis.conf)"
	case s.failed("rdb_last_bgsave_status") && (saves != "" || !savesKnown): // without save points Redis goes on
		f.Level, f.Found = Problem, "the last snapshot failed, so Redis may refuse updates (stop-writes-on-bgsave-error)"
		f.Fix = "look into the log of Redis, free space on its disk, and then: " + s.cli() + " BGSAVE"
	case s.failed("aof_last_bgrewrite_status") && aof == "1":
		f.Level, f.Found = Warning, "the last rewrite of the append-only file failed, so the file grows"
		f.Fix = "look into the log of Redis, free space on its disk, and then: " + s.cli() + " BGREWRITEAOF"
	case aof == "1":
		f.Found = "append-only file"
		if policy := s.Config[fsyncPolicy]; policy != "" {
			f.Found += fmt.Sprintf(", appendfsync %s: a power cut %s", policy, fsyncLoss[policy])
		}
	case !savesKnown:
		f.Level, f.Found, f.Fix = Warning, "no append-only file: a crash of Redis loses the scores since its last snapshot, or all", s.onDisk()
	case saves == "":
		f.Level, f.Found, f.Fix = Warning, "Redis writes nothing to disk: its end loses all scores", s.onDisk()
	default:
		f.Level, f.Fix = Warning, s.onDisk()
		f.Found = "snapshots only: a crash of Redis loses " + snapshotLoss(saves)
	}
	return f
}

// failed reports whether INFO has a status that is not ok.
func (s *Server) failed(field string) bool {
	status := s.Info[field]
	return status != "" && status != "ok"
}

// snapshotLoss words what a crash loses at most, by the setting save: pairs of seconds and changes.
// Redis writes a snapshot when one of the pairs has passed, so the longest time bounds the loss.
func snapshotLoss(saves string) string {
	longest := 0
	words := strings.Fields(saves)
	for i := 0; i < len(words); i += 2 {
		if seconds, err := strconv.Atoi(words[i]); err == nil {
			longest = max(longest, seconds)
		}
	}
	if longest == 0 {
		return "the scores since the last one"
	}
	return fmt.Sprintf("up to %v of scores (save %s)", time.Duration(longest)*time.Second, saves)
}
