package diagnosis

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Settings makes the checks of a node at its start: version, eviction, persistence, output buffers
// and clock.
func Settings(servers []*Server) []Finding {
	var all []Finding
	for _, check := range []func(*Server) Finding{version, eviction, persistence, outputBuffers} {
		all = append(all, perServer(servers, check)...)
	}
	return append(all, clocks(servers)...)
}

// Full makes all checks of the answers of Redis.
func Full(servers []*Server) []Finding {
	all := Settings(servers)
	for _, check := range []func(*Server) Finding{memory, expiry, roundTrip} {
		all = append(all, perServer(servers, check)...)
	}
	return all
}

// ask is the fix of a check without an answer: the right that the user lacks, and a command for
// another user.
func (s *Server) ask(rule, command string) string {
	return fmt.Sprintf("ask as another user: %s %s; or allow it: %[1]s ACL SETUSER %[3]s %[4]s", s.cli(), command, s.User, rule)
}

// noInfo is the finding of a check that needs a field of INFO, which is missing.
func (s *Server) noInfo(check, section string) Finding {
	found := "INFO does not say it"
	if s.Info == nil {
		found = fmt.Sprintf("redis user %q may not run INFO", s.User)
	}
	return Finding{Check: check, Level: Unknown, Found: found, Fix: s.ask("+info", "INFO "+section)}
}

// noConfig is the finding of a check that needs a parameter of CONFIG GET, which is missing.
func (s *Server) noConfig(check, parameter string) Finding {
	found := fmt.Sprintf("redis user %q may not run CONFIG GET", s.User)
	return Finding{Check: check, Level: Unknown, Found: found, Fix: s.ask("'+config|get'", "CONFIG GET "+parameter)}
}

// cli is the call of redis-cli for the server.
func (s *Server) cli() string { return cmp.Or(s.CLI, "redis-cli") }

// set says how to change a setting now and for later starts.
func (s *Server) set(name, value string) string {
	argument := value
	if strings.Contains(value, " ") {
		argument = "'" + value + "'"
	}
	return fmt.Sprintf("%s CONFIG SET %s %s, and in redis.conf: %s %s", s.cli(), name, argument, name, value)
}

// LeastMajor is the first major version of Redis with all that the scripts need: redis.acl_check_cmd
// came with 7.0. Valkey reports the version of Redis that it is compatible with: 7.2.4.
const LeastMajor = 7

func version(s *Server) Finding {
	redisVersion := s.Info["redis_version"]
	first, _, _ := strings.Cut(redisVersion, ".")
	major, err := strconv.Atoi(first)
	if err != nil {
		return s.noInfo(Version, "server")
	}
	product := "Redis " + redisVersion
	if valkey := s.Info["valkey_version"]; valkey != "" {
		product = "Valkey " + valkey
	}
	if major < LeastMajor {
		return Finding{Check: Version, Level: Problem, Found: product + " is too old: Rankcast needs Redis 7.0 or later, or Valkey", Fix: "update Redis to 7.0 or later, or use Valkey"}
	}
	return Finding{Check: Version, Found: product}
}

const noEviction = "noeviction"

func eviction(s *Server) Finding {
	policy := s.Info["maxmemory_policy"]
	switch {
	case policy == "":
		return s.noInfo(Eviction, "memory")
	case policy == noEviction:
		return Finding{Check: Eviction, Found: policy}
	case strings.HasPrefix(policy, "volatile-"):
		return Finding{Check: Eviction, Level: Problem, Found: policy + ": when its memory is full, Redis deletes locks of builds and tickets", Fix: s.set("maxmemory-policy", noEviction)}
	}
	return Finding{Check: Eviction, Level: Problem, Found: policy + ": when its memory is full, Redis deletes boards", Fix: s.set("maxmemory-policy", noEviction)}
}

const (
	// fullShare is the part of its limit, in percent, from which on memory is a warning: an operator
	// needs the time to react that a fifth of the memory gives.
	fullShare = 80
	// forkShare is the part of the machine's memory, in percent, from which on a fork may find no room.
	// While Redis writes a snapshot or rewrites its append-only file, changed pages exist twice.
	forkShare = 50
)

func memory(s *Server) Finding {
	used, known := s.Info.number("used_memory")
	limit, limited := s.Info.number("maxmemory")
	if !known || !limited {
		return s.noInfo(Memory, "memory")
	}
	machine := s.Info.orZero("total_system_memory")
	found := fmt.Sprintf("%s used, no maxmemory", bytes(used))
	if limit > 0 {
		found = fmt.Sprintf("%s used of maxmemory %s (%d%%)", bytes(used), bytes(limit), percent(used, limit))
	}
	if machine > 0 {
		found += fmt.Sprintf(", %d%% of the machine's %s", percent(used, machine), bytes(machine))
	}
	f := Finding{Check: Memory, Found: found}
	moreMemory := s.cli() + " CONFIG SET maxmemory BYTES with more bytes, and in redis.conf; or delete boards, or shorten keep and retain"
	switch {
	case limit > 0 && used-s.Info.orZero("mem_not_counted_for_evict") >= limit && s.Info["maxmemory_policy"] == noEviction:
		f.Level, f.Found, f.Fix = Problem, found+", so Redis refuses updates", moreMemory
	case limit > 0 && percent(used, limit) >= fullShare:
		f.Level, f.Found, f.Fix = Warning, found+"; at maxmemory Redis refuses updates", moreMemory
	case machine > 0 && percent(used, machine) >= fullShare:
		f.Level, f.Found = Warning, found+"; the system may end Redis when the memory is full"
		f.Fix = "give the machine more memory; or delete boards, or shorten keep and retain"
	case machine > 0 && percent(used, machine) >= forkShare && s.forks():
		f.Level, f.Found = Warning, found+"; a snapshot or a rewrite of the append-only file may need as much again"
		f.Fix = "give the machine more memory; on Linux also allow the fork: sysctl vm.overcommit_memory=1"
	}
	return f
}

// expiry checks how Redis frees keys that expire. The request ids of a board are one key.
func expiry(s *Server) Finding {
	value, known := s.Config[lazyExpire]
	switch {
	case !known:
		return s.noConfig(Expiry, lazyExpire)
	case value == "no":
		const stands = " no: Redis stands still while it frees request ids that expire, 0.4 s for a million"
		return Finding{Check: Expiry, Level: Warning, Found: lazyExpire + stands, Fix: s.set(lazyExpire, "yes")}
	}
	return Finding{Check: Expiry, Found: lazyExpire + " " + value}
}

// forks reports whether Redis may fork to write to the disk.
func (s *Server) forks() bool {
	return s.Info["aof_enabled"] != "0" || s.Config[savePoints] != ""
}

// orZero returns a field that is a whole number, or 0.
func (i Info) orZero(field string) int64 {
	n, _ := i.number(field)
	return n
}

func percent(part, whole int64) int64 { return int64(100 * float64(part) / float64(whole)) }

// bytes words a number of bytes in units of 1,024.
func bytes(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return strconv.FormatFloat(float64(n*10/unit.size)/10, 'f', -1, 64) + " " + unit.name
		}
	}
	return fmt.Sprint(n, " bytes")
}
