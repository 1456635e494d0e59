package ranking

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/redisconn"
)

// Master is the state of one Redis that takes writes. A field is nil where Redis does not tell it: the embedded store tells
// hardly any.
type Master struct {
	Address    *string  `json:"address"`    // host:port, or the path of a socket; nil behind Sentinels
	Fault      *string  `json:"fault"`      // why this Redis does not answer, as Outage.Reason; then no other field is known
	Version    *string  `json:"version"`    // Redis 7.2.4, or Valkey 8.1.0
	Ping       *float64 `json:"ping"`       // time of a round trip, in ms
	Operations *int64   `json:"operations"` // commands a second
	Memory     *int64   `json:"memory"`     // bytes in use
	MaxMemory  *int64   `json:"max_memory"` // bytes; nil: no bound
	Eviction   *string  `json:"eviction"`   // maxmemory-policy
	Clients    *int64   `json:"clients"`
	MaxClients *int64   `json:"max_clients"`
	AOF        *bool    `json:"aof"`    // there is an append-only file
	AOFOK      *bool    `json:"aof_ok"` // the last write to it succeeded; nil without one
	RDBOK      *bool    `json:"rdb_ok"` // the last snapshot succeeded, or there was none yet
	// Replicas are those that are connected. None where Redis does not tell them.
	Replicas []Replica `json:"replicas"`
}

// Replica is a replica of a Master.
type Replica struct {
	Address string `json:"address"`
	Online  bool   `json:"online"` // it gets the writes; else it connects, or loads the data
	Behind  int64  `json:"behind"` // bytes that it has not confirmed
	Silent  *int64 `json:"silent"` // seconds since it last confirmed any; nil: it never has
}

// Masters reads the state of each master of a cluster, or of the one Redis, in the order of their addresses. A master that
// does not answer has its Fault. Masters returns ErrUnavailable where it finds no master.
func (s *Store) Masters(ctx context.Context) ([]Master, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	var mu sync.Mutex
	var all []Master
	err := redisconn.EachMaster(ctx, s.rdb, func(ctx context.Context, address string, master redis.UniversalClient) error {
		m, err := readMaster(ctx, master)
		if err != nil {
			m = Master{Fault: new(cmp.Or(OutageOf(err).Reason, "the log has the reason"))}
		}
		if address = cmp.Or(address, redisconn.Address(master)); address != "" {
			m.Address = &address
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, m)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: read the state of Redis: %w", definition.ErrUnavailable, err)
	}
	slices.SortFunc(all, func(a, b Master) int {
		return cmp.Compare(*cmp.Or(a.Address, new(string)), *cmp.Or(b.Address, new(string)))
	})
	return all, nil
}

// readMaster reads the state of one Redis, and then measures a round trip on a connection that is open by then.
func readMaster(ctx context.Context, rdb redis.UniversalClient) (Master, error) {
	sections, err := rdb.InfoMap(ctx).Result()
	if err != nil {
		return Master{}, err
	}
	began := time.Now()
	if err := rdb.Ping(ctx).Err(); err != nil {
		return Master{}, err
	}
	ping := time.Since(began)
	info := make(info)
	for _, section := range sections {
		for name, value := range section {
			info[name] = value
		}
	}
	m := Master{
		Ping: new(float64(ping.Microseconds()) / 1000), Operations: info.number("instantaneous_ops_per_sec"),
		Memory: info.number("used_memory"), MaxMemory: info.number("maxmemory"), Eviction: info.text("maxmemory_policy"),
		Clients: info.number("connected_clients"), MaxClients: info.number("maxclients"),
		AOF: info.is("aof_enabled", "1"), RDBOK: info.is("rdb_last_bgsave_status", "ok"), Replicas: info.replicas(),
	}
	for _, program := range []struct{ name, field string }{{"Redis ", "redis_version"}, {"Valkey ", "valkey_version"}} {
		if version := info.text(program.field); version != nil {
			m.Version = new(program.name + *version)
		}
	}
	if m.AOF != nil && *m.AOF {
		m.AOFOK = info.is("aof_last_write_status", "ok")
	}
	if m.MaxMemory != nil && *m.MaxMemory == 0 {
		m.MaxMemory = nil
	}
	return m, nil
}

// info is the answer to INFO. Its methods return nil for a field that it does not have.
type info map[string]string

func (i info) text(field string) *string {
	if value, ok := i[field]; ok {
		return &value
	}
	return nil
}

func (i info) number(field string) *int64 {
	if n, err := strconv.ParseInt(i[field], 10, 64); err == nil {
		return &n
	}
	return nil
}

func (i info) is(field, word string) *bool {
	if value, ok := i[field]; ok {
		return new(value == word)
	}
	return nil
}

// replicas parses the lines of replicas, such as slave0:ip=10.0.0.2,port=6379,state=online,offset=1400,lag=1.
func (i info) replicas() []Replica {
	count, offset := i.number("connected_slaves"), i.number("master_repl_offset")
	if count == nil || offset == nil {
		return nil
	}
	all := make([]Replica, 0, *count)
	for n := range *count {
		of := make(map[string]string)
		for pair := range strings.SplitSeq(i[fmt.Sprint("slave", n)], ",") {
			name, value, _ := strings.Cut(pair, "=")
			of[name] = value
		}
		r := Replica{Address: net.JoinHostPort(of["ip"], of["port"]), Online: of["state"] == "online", Silent: info(of).number("lag")}
		if confirmed := info(of).number("offset"); confirmed != nil {
			r.Behind = max(0, *offset-*confirmed)
		}
		if r.Silent != nil && *r.Silent < 0 {
			r.Silent = nil
		}
		all = append(all, r)
	}
	return all
}
