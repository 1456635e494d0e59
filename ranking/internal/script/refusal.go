package script

import (
	"errors"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ownRefusal is the code of the error by which a script says that the Redis user may not publish.
const ownRefusal = "NORIGHT"

// writeRefusals are the codes of Redis for a write that it refuses to every user: as a read-only replica, while it cannot
// write to its disk, while it has too few replicas, and at its maxmemory. Redis decides that before the first write of a
// script.
var writeRefusals = []string{"READONLY", "MISCONF", "NOREPLICAS", fullMemory}

const fullMemory = "OOM"

// code returns the first word of an error of Redis, which is of the protocol.
func code(text string) string {
	code, _, _ := strings.Cut(text, " ")
	return code
}

// RefusesWrites reports whether the text of an error says that Redis refuses the writes of every user. full reports that
// it refuses only those that may take memory.
func RefusesWrites(text string) (refuses, full bool) {
	return slices.Contains(writeRefusals, code(text)), code(text) == fullMemory
}

// Refuses reports whether the text of an error says that Redis may refuse a command until somebody changes its
// configuration. A command that Redis does not have gets ERR, and in a script so does a command that the user may not
// run.
func Refuses(text string) bool {
	return slices.Contains(writeRefusals, code(text)) || slices.Contains([]string{"NOPERM", "ERR", ownRefusal}, code(text))
}

// Refusal returns the text of an error that Refuses, and "" for any other error.
func Refusal(err error) string {
	if answer, ok := errors.AsType[redis.Error](err); ok && Refuses(answer.Error()) {
		return answer.Error()
	}
	return ""
}

// refusedBefore returns the words of a refusal that came before the script changed anything, and "" for any other error.
// (NOPERM may also concern a command in the middle of a script.)
func refusedBefore(err error) string {
	text := Refusal(err)
	if refuses, _ := RefusesWrites(text); refuses {
		return text
	}
	words, own := strings.CutPrefix(text, ownRefusal+" ")
	if !own {
		return ""
	}
	return words
}
