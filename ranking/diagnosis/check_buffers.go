package diagnosis

import (
	"fmt"
	"strconv"
	"strings"
)

// pubsubLimit bounds what waits in Redis for a node that reads its changes slowly.
type pubsubLimit struct {
	hard, soft int64 // bytes; 0: no limit
	seconds    int64 // that more than soft may wait
}

// defaultLimit is the default of Redis and Valkey.
var defaultLimit = pubsubLimit{32 << 20, 8 << 20, 60}

const (
	defaultLimitText = "pubsub 32mb 8mb 60"
	// burst is what the changes of a second may take: 5,000 updates of 200 bytes each. A limit below
	// it disconnects a node that stands still for a second, as during a collection of garbage on a
	// busy machine.
	burst = 1 << 20
)

// parsePubsubLimit finds the limit of subscribers in the value of client-output-buffer-limit:
// "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60".
func parsePubsubLimit(value string) (l pubsubLimit, ok bool) {
	words := strings.Fields(value)
	for i := 0; i+3 < len(words); i += 4 {
		if words[i] != "pubsub" {
			continue
		}
		for at, to := range []*int64{&l.hard, &l.soft, &l.seconds} {
			n, err := strconv.ParseInt(words[i+1+at], 10, 64)
			if err != nil {
				return l, false
			}
			*to = n
		}
		return l, true
	}
	return l, false
}

func (l pubsubLimit) String() string {
	size := func(n int64) string {
		if n == 0 {
			return "no limit"
		}
		return bytes(n)
	}
	if l.soft == 0 || l.seconds == 0 {
		return "pubsub " + size(l.hard)
	}
	return fmt.Sprintf("pubsub %s, or %s for %d s", size(l.hard), size(l.soft), l.seconds)
}

func outputBuffers(s *Server) Finding {
	value, known := s.Config[bufferLimits]
	if !known {
		return s.noConfig(OutputBuffers, bufferLimits)
	}
	l, ok := parsePubsubLimit(value)
	if !ok {
		return Finding{Check: OutputBuffers, Level: Unknown, Found: "Redis answers an unknown form", Fix: "look yourself: " + s.cli() + " CONFIG GET " + bufferLimits}
	}
	f := Finding{Check: OutputBuffers, Found: l.String()}
	below := func(limit, least int64) bool { return limit > 0 && limit < least }
	softApplies := l.seconds > 0
	switch {
	case below(l.hard, burst):
		f.Level = Problem
		f.Found += ": a burst of changes disconnects each node, and its clients see their boards late"
	case below(l.hard, defaultLimit.hard), softApplies && below(l.soft, defaultLimit.soft), softApplies && l.soft > 0 && l.seconds < defaultLimit.seconds:
		f.Level = Warning
		f.Found += ", less than the default: Redis disconnects a slow node sooner, and the node reads its boards again"
	}
	if f.Level != OK {
		f.Fix = s.set(bufferLimits, defaultLimitText)
	}
	return f
}
