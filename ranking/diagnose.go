package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/diagnosis"
	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/internal/script"
)

// pings is the number of pings whose median is the round trip.
const pings = 7

// DiagnoseSettings checks the settings of Redis that a node depends on: version, eviction,
// persistence, output buffers and clock; in a cluster, those of each master. It takes one round trip to
// each server. It returns ErrUnavailable when a server does not answer.
func (s *Store) DiagnoseSettings(ctx context.Context) ([]diagnosis.Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	inspection := inspection{user: redisUser(s.rdb), endpoint: endpointOf(s.rdb)}
	if err := s.eachServer(ctx, inspection.inspect); err != nil {
		return nil, fmt.Errorf("%w: check Redis: %w", ErrUnavailable, err)
	}
	if name, err := inspection.firstError(); err != nil {
		return nil, fmt.Errorf("%w: check Redis %s: %w", ErrUnavailable, name, err)
	}
	return diagnosis.Settings(inspection.servers()), nil
}

// Diagnose makes all checks of Redis: those of DiagnoseSettings, the rights of the user, the role,
// memory, expiry, round trip, slots of a cluster, and the definitions. It leaves nothing behind in Redis.
// Where a server does not answer, a finding says so. Where none answers, there is no other finding.
func (s *Store) Diagnose(ctx context.Context) []diagnosis.Finding {
	// The gate of the rights observes no command of a check. The user may lack PING.
	ctx = context.WithValue(ctx, trialKey{}, true)
	answers, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	endpoint := endpointOf(s.rdb)
	inspection := inspection{user: redisUser(s.rdb), endpoint: endpoint}
	err := s.eachServer(answers, func(ctx context.Context, name string, rdb redis.Cmdable) {
		trips, err := measureRoundTrips(ctx, rdb)
		if err != nil {
			inspection.fail(name, err)
			return
		}
		inspection.inspect(ctx, name, rdb)
		inspection.measured(name, trips)
	})
	switch {
	case script.RefusalIn(err) == script.RefusedCommand: // only CLUSTER SLOTS ends here
		return []diagnosis.Finding{{Check: diagnosis.Rights, Level: diagnosis.Problem, Found: fmt.Sprintf("redis user %q may not run CLUSTER SLOTS, which finds the masters", inspection.user),
			Fix: fmt.Sprintf("%s%s ACL SETUSER %s '+cluster|slots'", diagnosis.OnEachNode, endpoint.cli(""), inspection.user)}}
	case err != nil:
		return []diagnosis.Finding{endpoint.noAnswer("", err)}
	}
	var all []diagnosis.Finding
	for _, name := range inspection.failed() {
		all = append(all, endpoint.noAnswer(name, inspection.errs[name]))
	}
	servers := inspection.servers()
	switch {
	case len(servers) == 0 && len(all) == 0: // a cluster without a master
		return []diagnosis.Finding{diagnosis.Shards(nil, "")}
	case len(servers) == 0:
		return all
	}
	if f, no := diagnosis.NoRedis(servers); no {
		return append(all, f)
	}
	all = append(all, diagnosis.Full(servers)...)
	all = append(all, s.diagnoseCluster(ctx, servers)...)
	all = append(all, s.diagnoseRights(ctx)...)
	return append(all, s.diagnoseDefinitions(ctx)...)
}

// eachServer calls do for Redis, or side by side for each master of a cluster with its address as the
// name. It returns an error when it does not find the masters.
func (s *Store) eachServer(ctx context.Context, do func(ctx context.Context, name string, rdb redis.Cmdable)) error {
	cluster := pipeline.ClusterOf(s.rdb)
	if cluster == nil {
		do(ctx, "", s.rdb)
		return nil
	}
	return cluster.ForEachMaster(ctx, func(ctx context.Context, rdb *redis.Client) error {
		do(ctx, rdb.Options().Addr, rdb)
		return nil
	})
}

// inspection holds the answers of all servers. Its methods may be called concurrently while the servers
// answer.
type inspection struct {
	user     string // ACL user that asks
	endpoint endpoint

	mu    sync.Mutex
	found map[string]*diagnosis.Server
	errs  map[string]error
}

// fail notes a server that does not answer.
func (i *inspection) fail(name string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.errs == nil {
		i.errs = make(map[string]error)
	}
	i.errs[name] = err
}

// measured adds the round trips to a server that has answered.
func (i *inspection) measured(name string, trips []time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if server := i.found[name]; server != nil {
		server.RoundTrips = trips
	}
}

// inspect asks one server for all that the checks use, in one round trip.
func (i *inspection) inspect(ctx context.Context, name string, rdb redis.Cmdable) {
	pipe := rdb.Pipeline()
	shown := pipe.Time(ctx)
	info := pipe.Info(ctx)
	values := make(map[string]*redis.MapStringStringCmd)
	for _, parameter := range diagnosis.Parameters {
		values[parameter] = pipe.ConfigGet(ctx, parameter)
	}
	before := time.Now()
	refused := execEach(ctx, pipe)
	after := time.Now()
	if refused != nil {
		i.fail(name, refused)
		return
	}
	for _, err := range []error{shown.Err(), info.Err()} {
		if err != nil && script.RefusalIn(err) == 0 {
			i.fail(name, err)
			return
		}
	}
	server := &diagnosis.Server{Name: name, User: i.user, CLI: i.endpoint.cli(name), Config: make(map[string]string)}
	if shown.Err() == nil {
		server.Clock = diagnosis.NewOffset(shown.Val(), before, after)
	}
	if info.Err() == nil {
		server.Info = diagnosis.ParseInfo(info.Val())
	}
	for parameter, value := range values {
		if text, ok := value.Val()[parameter]; ok {
			server.Config[parameter] = text
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.found == nil {
		i.found = make(map[string]*diagnosis.Server)
	}
	i.found[name] = server
}

// failed returns the names of the servers that do not answer, sorted.
func (i *inspection) failed() []string {
	return slices.Sorted(maps.Keys(i.errs))
}

// firstError returns the error of the first server that does not answer, or nil.
func (i *inspection) firstError() (name string, err error) {
	for _, name := range i.failed() {
		return name, i.errs[name]
	}
	return "", nil
}

// servers returns the servers that have answered, by name.
func (i *inspection) servers() []*diagnosis.Server {
	byName := func(a, b *diagnosis.Server) int { return cmp.Compare(a.Name, b.Name) }
	return slices.SortedFunc(maps.Values(i.found), byName)
}

// measureRoundTrips measures some pings, after one that opens the connection. It measures none where
// the user may not run PING.
func measureRoundTrips(ctx context.Context, rdb redis.Cmdable) (trips []time.Duration, err error) {
	for i := range pings + 1 {
		began := time.Now()
		err := rdb.Ping(ctx).Err()
		switch {
		case script.RefusalIn(err) != 0:
			return nil, nil
		case err != nil:
			return nil, err
		case i > 0:
			trips = append(trips, time.Since(began))
		}
	}
	return trips, nil
}

// diagnoseCluster checks the slots of a cluster. Without a cluster it checks that Redis is no node of one.
func (s *Store) diagnoseCluster(ctx context.Context, servers []*diagnosis.Server) []diagnosis.Finding {
	cluster := pipeline.ClusterOf(s.rdb)
	if cluster == nil {
		return diagnosis.NoCluster(servers[0])
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	//lint:ignore SA1019 the client itself sends CLUSTER SLOTS, so the user has that right; it may lack CLUSTER SHARDS
	ranges, err := cluster.ClusterSlots(ctx).Result()
	if err != nil {
		return []diagnosis.Finding{{Check: diagnosis.Cluster, Level: diagnosis.Unknown, Found: err.Error(), Fix: "ask a node of the cluster: " + endpointOf(s.rdb).cli("") + " CLUSTER SLOTS"}}
	}
	state := ""
	if info, err := cluster.ClusterInfo(ctx).Result(); err == nil {
		state = diagnosis.ParseInfo(info)["cluster_state"]
	}
	var shards []diagnosis.Shard
	for _, r := range ranges {
		shard := diagnosis.Shard{First: r.Start, Last: r.End}
		if len(r.Nodes) > 0 {
			shard.Master, shard.Replicas = r.Nodes[0].Addr, len(r.Nodes)-1
		}
		shards = append(shards, shard)
	}
	return []diagnosis.Finding{diagnosis.Shards(shards, state)}
}

// diagnoseRights tries each command that the node needs.
func (s *Store) diagnoseRights(ctx context.Context) []diagnosis.Finding {
	role := diagnosis.Finding{Check: diagnosis.Role, Found: "takes writes"}
	rights := diagnosis.Finding{Check: diagnosis.Rights, Found: fmt.Sprintf("redis user %q may do all that a node needs", redisUser(s.rdb))}
	missing, err := s.tryRights(ctx)
	if err != nil {
		for _, f := range []*diagnosis.Finding{&role, &rights} {
			f.Level, f.Found, f.Fix = diagnosis.Unknown, "a trial failed: "+unavailableReason(err), "check again when the other problems are gone"
		}
		return []diagnosis.Finding{role, rights}
	}
	call := func(masters []string) string { // of redis-cli
		switch at := endpointOf(s.rdb); {
		case len(masters) == 1:
			return at.cli(masters[0])
		case pipeline.ClusterOf(s.rdb) != nil:
			return diagnosis.OnEachNode + at.cli("")
		default:
			return at.cli("")
		}
	}
	var refused []diagnosis.Finding
	for _, fault := range rightsFaults(missing, redisUser(s.rdb), s.cfg.Prefix) {
		f := diagnosis.Finding{Check: diagnosis.Rights, Server: strings.Join(fault.masters, ", "), Level: diagnosis.Problem, Found: fault.found, Fix: fault.fix}
		if fault.command != "" {
			f.Fix += ": " + call(fault.masters) + " " + fault.command
		}
		if _, all := fault.refusal.AllWrites(); all {
			f.Check = diagnosis.Role
			role = f
			continue
		}
		if fault.refusal == script.NoCommand {
			f.Found, f.Fix = fault.found+": "+fault.fix, "remove the line rename-command of each from redis.conf, and restart Redis"
		}
		refused = append(refused, f)
	}
	if len(refused) == 0 {
		refused = []diagnosis.Finding{rights}
	}
	return append([]diagnosis.Finding{role}, refused...)
}

// diagnoseDefinitions checks that this version can read all definitions.
func (s *Store) diagnoseDefinitions(ctx context.Context) []diagnosis.Finding {
	d, err := s.catalog.readFresh(ctx)
	var other *LayoutError
	if errors.As(err, &other) {
		return []diagnosis.Finding{{Check: diagnosis.Definitions, Level: diagnosis.Problem, Found: other.Problem(), Fix: other.Fix()}}
	}
	if err != nil {
		return []diagnosis.Finding{{Check: diagnosis.Definitions, Level: diagnosis.Unknown, Found: unavailableReason(err), Fix: "check again when the other problems are gone"}}
	}
	var all []diagnosis.Finding
	for _, field := range slices.Sorted(maps.Keys(d.broken)) {
		all = append(all, diagnosis.Finding{Check: diagnosis.Definitions, Level: diagnosis.Problem, Found: unavailableReason(d.broken[field]), Fix: "run the newest version on all nodes, or define it again"})
	}
	if len(all) == 0 {
		all = append(all, diagnosis.Finding{Check: diagnosis.Definitions, Found: diagnosis.Counted(len(d.boardsAfter(nil)), "board") + ", " + diagnosis.Counted(len(d.events), "event")})
	}
	return all
}

// unavailableReason returns the text of an error without the words of ErrUnavailable.
func unavailableReason(err error) string {
	return strings.Replace(err.Error(), ErrUnavailable.Error()+": ", "", 1)
}
