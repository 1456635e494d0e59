package diagnosis

import (
	"fmt"
	"time"
)

const (
	// clockWarning is the distance of Redis's clock from this machine's that is a warning.
	clockWarning = time.Second
	// clocksProblem is the distance of the clocks of two masters that is a problem: from three seconds
	// on the lease of definitions refuses updates, and clocks drift.
	clocksProblem = 2 * time.Second
	// roundTripWarning is the median round trip that is a warning. Redis within one data centre answers
	// in less than a millisecond.
	roundTripWarning = 5 * time.Millisecond
)

const synchronize = "synchronize the clocks of all machines by NTP, with chrony or systemd-timesyncd"

// clocks compares the clocks of all servers with this machine's, and with each other.
func clocks(servers []*Server) []Finding {
	all := perServer(servers, clock)
	var first, last *Server // the clocks that show the earliest and the latest time
	for _, s := range servers {
		if s.Clock == nil {
			continue
		}
		if first == nil || s.Clock.Most < first.Clock.Most {
			first = s
		}
		if last == nil || s.Clock.Least > last.Clock.Least {
			last = s
		}
	}
	if first == nil {
		return all
	}
	if apart := first.Clock.apart(*last.Clock); apart > clocksProblem {
		all = append(all, Finding{Check: Clock, Level: Problem, Fix: synchronize,
			Found: fmt.Sprintf("%s is %s ahead of %s: from three seconds on, updates to its boards get 503", last.Name, seconds(apart), first.Name)})
	}
	return all
}

func clock(s *Server) Finding {
	if s.Clock == nil {
		return Finding{Check: Clock, Level: Unknown, Found: fmt.Sprintf("redis user %q may not run TIME", s.User), Fix: s.ask("+time", "TIME")}
	}
	size := s.Clock.size()
	if size <= clockWarning {
		return Finding{Check: Clock, Found: "Redis's clock agrees with this machine's to a second"}
	}
	direction := "ahead of"
	if s.Clock.Most < 0 {
		direction = "behind"
	}
	return Finding{Check: Clock, Level: Warning, Fix: synchronize,
		Found: fmt.Sprintf("Redis's clock is %s %s this machine's: Redis decides the periods, this machine when tokens expire", seconds(size), direction)}
}

// seconds words a distance of clocks in tenths of a second.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func roundTrip(s *Server) Finding {
	median, known := s.medianRoundTrip()
	if !known {
		return Finding{Check: RoundTrip, Level: Unknown, Found: "Redis answers no PING", Fix: s.ask("+ping", "PING")}
	}
	f := Finding{Check: RoundTrip, Found: fmt.Sprintf("%.2f ms", float64(median.Microseconds())/1000)}
	if median >= roundTripWarning {
		f.Level = Warning
		f.Found += ": each update and each read waits for it at least once"
		f.Fix = "run the nodes in the data centre of Redis; with one at hand: " + s.cli() + " --latency tells whether Redis or the network is slow"
	}
	return f
}
