package script

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Refusal says why Redis refuses a command for as long as nobody changes its configuration. The zero
// value means that it does not.
type Refusal int

const (
	_              Refusal = iota
	RefusedCommand         // the user may not run the command
	RefusedKeys            // the user may not use the keys
	RefusedChannel         // the user may not use the channel
	NoCommand              // Redis has no such command: it is renamed, or disabled
	ReadOnly               // Redis is a read-only replica, and the command writes
	NotStored              // Redis cannot write to its disk, and the command writes
	NoReplicas             // Redis has fewer replicas than min-replicas-to-write, and the command writes
	NoMemory               // Redis is at its maxmemory, and the command may take memory
)

// reasons tell the operator of the refusals of all writes.
var reasons = map[Refusal]string{
	ReadOnly:   "this Redis is a read-only replica: point --redis at its primary, or make it the primary (REPLICAOF NO ONE)",
	NotStored:  "this Redis cannot write to its disk, so it accepts no writes: make room on the disk, or find the reason in the log of Redis",
	NoReplicas: "this Redis has fewer replicas than min-replicas-to-write, so it accepts no writes: if it belongs to a node with --data, the disk is full, so make room there",
	NoMemory:   "this Redis is at its maxmemory, so it accepts no updates: raise maxmemory",
}

// AllWrites reports whether Redis refuses every write of every user, and the reason in words for the operator. At its
// maxmemory Redis refuses every write that may take memory.
func (r Refusal) AllWrites() (reason string, all bool) {
	reason, all = reasons[r]
	return reason, all
}

// RefusalOf returns what Redis refuses, by the text of its error: that of Redis 7.0, or that of
// later versions and of Valkey. Redis words an error within a script in another way.
func RefusalOf(text string) Refusal {
	text = strings.ToLower(text)
	switch {
	case strings.HasPrefix(text, "noperm "), strings.HasPrefix(text, "err the user executing the script can't "), strings.HasPrefix(text, "err acl failure in script: "):
		switch {
		case strings.Contains(text, " run the "), strings.Contains(text, " run this "):
			return RefusedCommand
		case strings.Contains(text, " channel"):
			return RefusedChannel
		}
		return RefusedKeys
	case strings.HasPrefix(text, "noright "):
		return RefusedCommand
	case strings.HasPrefix(text, "err unknown command"), strings.HasPrefix(text, "err invalid command passed to redis.acl_check_cmd"), strings.HasPrefix(text, "err invalid command passed to server.acl_check_cmd"):
		return NoCommand
	case strings.HasPrefix(text, "err unknown redis command called from script"), strings.HasPrefix(text, "err unknown valkey command called from script"):
		return NoCommand
	case strings.HasPrefix(text, "readonly "):
		return ReadOnly
	case strings.HasPrefix(text, "misconf "):
		return NotStored
	case strings.HasPrefix(text, "noreplicas "):
		return NoReplicas
	case strings.HasPrefix(text, "oom "):
		return NoMemory
	}
	return 0
}

// RefusalIn is RefusalOf of an error of the Redis client. Other errors are no refusals.
func RefusalIn(err error) Refusal {
	var answer redis.Error
	if !errors.As(err, &answer) {
		return 0
	}
	return RefusalOf(answer.Error())
}

// refusedBefore reports whether Redis has refused a script before it changed anything, and the
// reason.
func refusedBefore(err error) (reason string, before bool) {
	refusal := RefusalIn(err)
	if refusal == 0 {
		return "", false
	}
	if reason, all := refusal.AllWrites(); all { // Redis decides that before the first write of a script
		return reason, true
	}
	text := err.Error()
	switch {
	case strings.HasPrefix(text, "NORIGHT "):
		return strings.TrimPrefix(text, "NORIGHT "), true
	case strings.Contains(text, ".acl_check_cmd"):
		return "this Redis has no PUBLISH or no HSET", true
	case strings.HasPrefix(text, "ERR unknown command"):
		return "this Redis has no EVALSHA or no EVAL", true
	case strings.HasPrefix(text, "NOPERM ") && !strings.Contains(text, "in script"): // the call as a whole
		return strings.TrimPrefix(text, "NOPERM "), true
	}
	return "", false
}
