package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// slots is the number of slots of a cluster.
const slots = 16384

// Shard is a range of slots of a cluster, and the nodes that hold them.
type Shard struct {
	First, Last int
	Master      string // host:port; "" for none
	Replicas    int    // that could take over; CLUSTER SLOTS names none that is still synchronising
}

// Shards checks that masters hold all slots, and that each of them has a replica that is ready. state is the
// cluster_state of CLUSTER INFO, or "" where Redis refuses to tell.
func Shards(shards []Shard, state string) Finding {
	covered := 0
	var masters, alone []string // in the order of their slots
	seen := make(map[string]bool)
	for _, s := range shards {
		if s.Master == "" {
			continue
		}
		covered += s.Last - s.First + 1
		if !seen[s.Master] {
			seen[s.Master] = true
			masters = append(masters, s.Master)
			if s.Replicas == 0 {
				alone = append(alone, s.Master)
			}
		}
	}
	f := Finding{Check: Cluster, Found: fmt.Sprintf("%d masters hold all %d slots", len(masters), slots)}
	switch {
	case covered < slots:
		f.Level, f.Found = Problem, fmt.Sprintf("no master holds %d of the %d slots: boards in these slots get 503", slots-covered, slots)
		f.Fix = "redis-cli --cluster fix " + first(masters)
		if len(masters) == 0 {
			f.Fix = "make a cluster of the nodes: redis-cli --cluster create HOST:PORT … --cluster-replicas 1"
		}
	case state != "" && state != "ok":
		f.Level, f.Found = Problem, "the state of the cluster is "+state+": boards get 503"
		f.Fix = "find the cause: redis-cli --cluster check " + first(masters)
	case len(alone) > 0:
		f.Level, f.Found = Warning, f.Found+"; without a replica that is ready: "+strings.Join(alone, ", ")+": the end of such a master takes its boards away"
		f.Fix = "if a replica is still synchronising, wait and check again; otherwise add one to each: redis-cli --cluster add-node NEW_HOST:PORT " + alone[0] + " --cluster-slave"
	}
	return f
}

func first(masters []string) string {
	if len(masters) == 0 {
		return "HOST:PORT"
	}
	return masters[0]
}

// mode is standalone, cluster or sentinel, or "" where Redis refuses to tell.
func (s *Server) mode() string { return cmp.Or(s.Info["redis_mode"], s.Info["server_mode"]) } // the second is of Valkey

// NoRedis reports whether a server is a Sentinel, which no other check fits, and the problem.
func NoRedis(servers []*Server) (f Finding, no bool) {
	return Finding{Check: Connection, Level: Problem, Found: "this is a Sentinel, which holds no boards", Fix: "give --redis the scheme redis-sentinel:// and the name of the master: redis-sentinel://HOST:PORT/NAME"},
		slices.ContainsFunc(servers, func(s *Server) bool { return s.mode() == "sentinel" })
}

// NoCluster returns a problem where a Redis that a node uses by itself is a node of a cluster, and
// else nothing.
func NoCluster(s *Server) []Finding {
	if s.mode() != "cluster" {
		return nil
	}
	return []Finding{{Check: Cluster, Level: Problem, Found: "this Redis is a node of a cluster, and holds a part of the slots only", Fix: "give --redis the scheme redis-cluster://"}}
}
