package doctor

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

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/internal/redisconn"
	"rankcast/ranking/internal/script"
)

// timeout bounds the answers of Redis.
const timeout = 2 * time.Second

// Rules are the ACL rules of a user with all the rights that a node needs. prefix is that of the Store. In a cluster
// the user also needs +cluster|slots.
func Rules(prefix string) string {
	return "~" + prefix + ":* &" + prefix + ":* +@read +@write +@pubsub +@scripting +@connection +time -@dangerous +info"
}

// Settings checks the settings of the Redis at a URL of ranking.Open, on which a node depends: version, eviction,
// persistence, memory, output buffers and clock; in a cluster, those of each master. It returns definition.ErrUnavailable
// when a master does not answer, and the error of ranking.Open for a URL that is not valid.
func Settings(ctx context.Context, url string) ([]Finding, error) {
	servers, err := askAll(ctx, url)
	if err != nil {
		return nil, err
	}
	return judge(servers), nil
}

// askAll asks each master, and returns the answers in the order of the masters' addresses.
func askAll(ctx context.Context, url string) ([]*server, error) {
	rdb, err := redisconn.Open(url)
	if err != nil {
		return nil, err
	}
	defer rdb.Close()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var mu sync.Mutex
	var servers []*server
	err = redisconn.EachMaster(ctx, rdb, func(ctx context.Context, address string, master redis.UniversalClient) error {
		s, err := ask(ctx, address, master)
		mu.Lock()
		defer mu.Unlock()
		servers = append(servers, s)
		return err
	})
	if err == nil && len(servers) == 0 {
		err = errors.New("this cluster has no master")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: check Redis: %w", definition.ErrUnavailable, err)
	}
	slices.SortFunc(servers, func(a, b *server) int { return cmp.Compare(a.name, b.name) })
	return servers, nil
}

// ask asks one server for all that the checks use, in one round trip.
func ask(ctx context.Context, name string, rdb redis.Cmdable) (*server, error) {
	s := &server{name: name, info: make(map[string]string), config: make(map[string]string)}
	pipe := rdb.Pipeline()
	clock, info := pipe.Time(ctx), pipe.InfoMap(ctx)
	var values []*redis.MapStringStringCmd
	for _, parameter := range []string{bufferLimits, fsyncPolicy, savePoints} {
		values = append(values, pipe.ConfigGet(ctx, parameter))
	}
	before := time.Now()
	if err := redisconn.ExecEach(ctx, pipe); err != nil {
		return nil, err
	}
	after := time.Now()
	for _, value := range values {
		maps.Copy(s.config, value.Val())
	}
	s.configErr, s.infoErr, s.timeErr = values[0].Err(), info.Err(), clock.Err()
	for _, err := range []error{s.configErr, s.infoErr, s.timeErr} {
		if err != nil && script.Refusal(err) == "" {
			return nil, err
		}
	}
	for _, section := range info.Val() {
		maps.Copy(s.info, section)
	}
	if s.timeErr == nil {
		s.least, s.most = clock.Val().Sub(after), clock.Val().Sub(before)
	}
	return s, nil
}

// Redis makes all checks of the Redis of a Store: those of Settings, the trial of what a node needs on each master, and
// the definitions. It leaves nothing behind in Redis. Where Redis does not answer, the only finding says so.
func Redis(ctx context.Context, url, prefix string, store *ranking.Store) []Finding {
	servers, err := askAll(ctx, url)
	if err != nil {
		return []Finding{{Check: Connection, Level: Problem, Found: err.Error(),
			Fix: "start Redis, or correct --redis: its scheme, its host, its user or the name of its master"}}
	}
	return append(append(judge(servers), rights(ctx, prefix, store)), definitions(ctx, store, len(servers))...)
}

// rights tries what a node needs.
func rights(ctx context.Context, prefix string, store *ranking.Store) Finding {
	err := store.CheckRights(ctx)
	missing, refused := errors.AsType[*definition.MissingRightsError](err)
	switch {
	case err == nil:
		return Finding{Check: Rights, Found: "Redis takes writes, and its user may do all that a node needs"}
	case !refused:
		return Finding{Check: Rights, Level: Unknown, Found: err.Error(), Fix: "check again when the other problems are gone"}
	}
	f := Finding{Check: Rights, Level: Problem, Server: strings.Join(missing.Masters, ", "), Found: missing.Reason,
		Fix: "give the user these rights, and rename no command: " + Rules(prefix)}
	if writes, _ := script.RefusesWrites(missing.Reason); writes {
		f.Fix = "change what Redis names: it refuses the writes of every user"
	}
	return f
}

// definitions checks that this version can read all definitions, and that their shards have several masters.
func definitions(ctx context.Context, store *ranking.Store, masters int) []Finding {
	broken, err := store.BrokenDefinitions(ctx)
	if layout, ok := errors.AsType[*ranking.LayoutError](err); ok {
		return []Finding{{Check: Definitions, Level: Problem, Found: layout.Problem(), Fix: layout.Fix()}}
	}
	var all []Finding
	for _, b := range broken {
		all = append(all, Finding{Check: Definitions, Level: Problem, Found: b.Error(),
			Fix: "run the newest version on all nodes, or define it again"})
	}
	if len(all) > 0 {
		return all
	}
	boards, boardsErr := store.Boards(ctx)
	events, eventsErr := store.Events(ctx)
	if err := cmp.Or(err, boardsErr, eventsErr); err != nil {
		return []Finding{{Check: Definitions, Level: Unknown, Found: err.Error(), Fix: "check again when the other problems are gone"}}
	}
	all = []Finding{{Check: Definitions, Found: Counted(len(boards), "board") + ", " + Counted(len(events), "event")}}
	return append(all, shards(boards, masters)...)
}

// shards finds boards with shards where one Redis does the work of all shards.
func shards(boards []definition.Board, masters int) []Finding {
	var names []string
	for _, b := range boards {
		if b.Shards > 0 {
			names = append(names, b.Name)
		}
	}
	if len(names) == 0 || masters > 1 {
		return nil
	}
	return []Finding{{Check: Shards, Level: Warning,
		Found: strings.Join(names, ", ") + ": shards gain nothing on one Redis, and cost CPU",
		Fix:   "run a Redis Cluster with several masters, or define these boards without shards"}}
}
