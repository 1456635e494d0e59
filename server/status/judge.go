package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
)

// Problem is one thing that is not well.
type Problem struct {
	Code    string `json:"code"`           // stable, for programs
	Node    string `json:"node,omitzero"`  // id of the node that has it
	Redis   string `json:"redis,omitzero"` // address of the Redis that has it, where it is known
	Message string `json:"message"`        // what is not well
	Advice  string `json:"advice"`         // what to do
}

// The bounds beyond which something is not well. Those of latency and resyncs are those of the alerts for Prometheus.
const (
	silence        = 10 * time.Second // five reports are missing
	certificateEnd = 14 * 24 * time.Hour
	lateFrames     = 1000.0 // ms
	manyResyncs    = 120    // in ten minutes: 0.2 a second
	manySlowBuilds = 3      // in ten minutes: a single one may have been the first of a large union
	longQueue      = 60.0   // s
	fullMemory     = 85     // percent
	fullClients    = 85     // percent
	slowPing       = 250.0  // ms: a single ping may wait for a large command, or for a busy machine
	replicaSilence = 10     // s
)

// nodeLimits are the limits of a whole node. A client that exceeds its own limit is no problem of the node.
var nodeLimits = []access.Limit{access.Sockets, access.Connections, access.Handshakes, access.Requests, access.WatchedBoards,
	access.WaitingBytes}

// Judge returns the problems at a time: first those of Redis, on which all nodes depend, then those of nodes.
func Judge(now time.Time, nodes []Node, masters []ranking.Master) []Problem {
	all := []Problem{}
	for _, m := range masters {
		all = append(all, judgeMaster(m)...)
	}
	for _, n := range nodes {
		all = append(all, n.judge(now)...)
	}
	return append(all, judgeVersions(nodes, now)...)
}

// judgeOutage says that Redis is away, unless the state of a master says so.
func judgeOutage(err error, masters []ranking.Master) []Problem {
	if err == nil || slices.ContainsFunc(masters, func(m ranking.Master) bool { return m.Fault != nil }) {
		return nil
	}
	return []Problem{redisAway("", ranking.OutageOf(err).Reason)}
}

func redisAway(address, reason string) Problem {
	p := Problem{Code: "redis_away", Redis: address, Message: "Redis is away", Advice: "Start Redis, or repair the way to it, or the " +
		"rights of its user: until then updates get 503, watchers see old boards, and of all nodes only the one that you asked is known."}
	if reason != "" {
		p.Message += ": " + reason
	}
	return p
}

func (n Node) isSilent(now time.Time) bool { return !n.At.IsZero() && now.Sub(n.At) > silence }

// findings collects the problems of a node or of a Redis.
type findings struct {
	of  Problem // what they have in common
	all []Problem
}

func (f *findings) add(is bool, code, advice, message string, args ...any) {
	if is {
		p := f.of
		p.Code, p.Message, p.Advice = code, fmt.Sprintf(message, args...), advice
		f.all = append(f.all, p)
	}
}

func (n Node) judge(now time.Time) []Problem {
	f := findings{of: Problem{Node: n.ID}}
	if n.isSilent(now) {
		f.add(true, "node_silent", "Look whether its process and its machine run. A node that was taken away without a stop leaves the list "+
			"an hour after its last report.", "has reported nothing for %s", now.Sub(n.At).Round(time.Second))
		return f.all
	}
	f.add(n.Reason != nil, "node_not_ready", "Load balancers send nobody to it. Its log has more.", "is not ready: %s", text(n.Reason))
	n.judgeFiles(&f, now)
	for _, limit := range nodeLimits {
		met := n.Limits[limit.String()]
		f.add(met > 0, "limit_met", "Add a node, or raise the limit.", "has refused clients %s in ten minutes, by the limit %s", times(met),
			limit)
	}
	lost := n.Resyncs["gap"] + n.Resyncs["seq_check"] + n.Resyncs["unreadable"]
	f.add(lost >= manyResyncs, "resyncs", "Changes are lost between Redis and the node: check the network, and client-output-buffer-limit "+
		"pubsub of Redis.", "has read boards again %s in ten minutes", times(lost))
	f.add(n.Resyncs["verification"] > 0, "view_differed", "The node has repaired it. Please report it, with the line of its log.",
		"has shown a board that differed from Redis")
	f.add(n.SlowBuilds >= manySlowBuilds, "slow_builds", "Give these boards a longer refresh, or fewer sources; or Redis more CPU.",
		"has built unions or windows for over %d seconds, %s in ten minutes", slowBuild, times(n.SlowBuilds))
	f.add(n.Webhooks["failed"] > 0 && n.Webhooks["delivered"] == 0, "webhooks_fail",
		"Look at the receiver: the nodes try each message for a day.", "delivers no webhook: it failed %s in ten minutes",
		times(n.Webhooks["failed"]))
	f.add(n.Webhooks["given_up"] > 0, "webhooks_lost", "Its log names the boards and the periods: hand these results over by hand.",
		"has given up webhook messages, %s in ten minutes", times(n.Webhooks["given_up"]))
	if q := n.Queue; q != nil {
		f.add(q.Lag > longQueue, "queue_lags", "Look whether Redis takes writes. After a peak, --rate bounds how fast the process catches up.",
			"applies entries %.0f seconds late: %d wait", q.Lag, q.Entries)
		f.add(q.DeadLetters > 0, "dead_letters", "Their field detail says why. Once the reason is gone, rankcast ingest --replay-dead "+
			"applies them.", "has %d dead letters", q.DeadLetters)
	}
	if n.P99 != nil {
		f.add(*n.P99 > lateFrames, "frames_late", "Its CPU, or Redis, may be busy: add a node, or raise --interval.",
			"shows one score in a hundred over %.1f seconds late", *n.P99/1000)
	}
	return f.all
}

func (n Node) judgeFiles(f *findings, now time.Time) {
	for _, file := range []struct {
		of           *File
		code, advice string
		message      string
	}{
		{n.Access, "access_file", "Correct the file: until then the last valid one stays in force.", "does not accept its access file: %s"},
		{n.Keys, "key_set", "Look at the server of the key set: new keys are not accepted until then.", "cannot fetch the key set of tokens: %s"},
		{n.TLS, "certificate", "Correct the files: until then the last valid certificate stays in force.", "does not accept its certificate: %s"},
	} {
		if file.of != nil {
			f.add(file.of.Fault != nil, file.code, file.advice, file.message, text(file.of.Fault))
		}
	}
	if n.TLS == nil || n.TLS.Expires == nil {
		return
	}
	if ends, err := time.Parse(definition.TimeForm, *n.TLS.Expires); err == nil {
		const advice = "Put a new certificate in place of its files: the node reads them again by itself."
		left := ends.Sub(now)
		f.add(left <= 0, "certificate_ends", advice, "has a certificate that expired on %s: clients refuse it", ends.Format(time.DateOnly))
		f.add(left > 0 && left < certificateEnd, "certificate_ends", advice, "has a certificate that expires on %s", ends.Format(time.DateOnly))
	}
}

// judgeVersions says that the nodes that report are of several versions.
func judgeVersions(nodes []Node, now time.Time) []Problem {
	versions := make(map[string]bool)
	for _, n := range nodes {
		if !n.isSilent(now) {
			versions[cmp.Or(n.Version, "unknown")] = true
		}
	}
	if len(versions) < 2 {
		return nil
	}
	return []Problem{{Code: "versions_differ", Advice: "During an upgrade that is normal. Else bring all nodes to one version.",
		Message: "nodes of several versions run: " + strings.Join(slices.Sorted(maps.Keys(versions)), ", ")}}
}

func judgeMaster(m ranking.Master) []Problem {
	f := findings{of: Problem{Redis: text(m.Address)}}
	if m.Fault != nil {
		return []Problem{redisAway(f.of.Redis, *m.Fault)}
	}
	f.add(isFull(m.Memory, m.MaxMemory, fullMemory), "redis_memory", "Give Redis more memory; or delete boards, or shorten keep and retain. "+
		"At its maxmemory it refuses updates.", "Redis uses %d of %d MiB of memory", mib(m.Memory), mib(m.MaxMemory))
	f.add(m.Eviction != nil && *m.Eviction != "noeviction", "redis_evicts", "redis-cli CONFIG SET maxmemory-policy noeviction, and the "+
		"same in redis.conf.", "Redis deletes boards when its memory is full: maxmemory-policy is %s", text(m.Eviction))
	f.add(isFalse(m.AOFOK), "redis_persistence", "Look into the log of Redis, and make room on its disk.",
		"the last write to the append-only file of Redis failed")
	f.add(isFalse(m.RDBOK), "redis_persistence", "Look into the log of Redis, and make room on its disk.", "the last snapshot of Redis failed")
	f.add(isFull(m.Clients, m.MaxClients, fullClients), "redis_clients", "Raise maxclients of Redis, or find the programs that keep "+
		"connections.", "Redis has %d of %d clients", number(m.Clients), number(m.MaxClients))
	if m.Ping != nil {
		f.add(*m.Ping > slowPing, "redis_slow", "Look at the CPU of Redis, its SLOWLOG, and the network to it.",
			"Redis takes %.0f ms for a ping", *m.Ping)
	}
	for _, r := range m.Replicas {
		f.add(!r.Online, "replica_down", "Look into the log of the replica. Right after its start it loads the data.",
			"the replica %s does not follow", r.Address)
		f.add(r.Online && number(r.Silent) > replicaSilence, "replica_lags", "Look at the replica and the network to it: a failover to it "+
			"would lose updates.", "the replica %s has confirmed nothing for %d s, and is %d bytes behind", r.Address, number(r.Silent), r.Behind)
	}
	return f.all
}

// isFull reports whether at least some percent of a limit are used. A limit that is not known is not full.
func isFull(used, limit *int64, percent int64) bool {
	return used != nil && limit != nil && *limit > 0 && *used*100 >= *limit*percent
}

func isFalse(b *bool) bool { return b != nil && !*b }

func mib(bytes *int64) int64 { return number(bytes) >> 20 }

func number(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// times is a number of times in words: once, 7 times.
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
