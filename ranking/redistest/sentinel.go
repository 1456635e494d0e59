package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// sentinels is the number of Sentinels. Two of them agree that the master is down.
const sentinels = 3

// sentinelMaster is the name of the master.
const sentinelMaster = "mymaster"

// Sentinel is a master, a replica, and three Sentinels that watch them.
type Sentinel struct {
	t       testing.TB
	Servers [2]*Redis // the first one is the master at the start
	ports   []string  // of the Sentinels
	clients map[string]*redis.SentinelClient
}

// StartSentinel starts all servers, and waits until each Sentinel knows the replica and the other Sentinels.
// args are further options of the two redis-servers.
func StartSentinel(t testing.TB, args ...string) *Sentinel {
	s := &Sentinel{t: t, clients: make(map[string]*redis.SentinelClient)}
	for i := range s.Servers {
		s.Servers[i], _ = startOnPort(t, args...)
	}
	master, replica := s.Servers[0], s.Servers[1]
	// By default, a primary waits for further replicas for some seconds.
	require.NoError(t, master.Admin().ConfigSet(t.Context(), "repl-diskless-sync-delay", "0").Err())
	require.NoError(t, replica.Admin().ConfigSet(t.Context(), "repl-diskless-sync-delay", "0").Err())
	host, port, _ := strings.Cut(strings.TrimPrefix(master.URL(), "redis://"), ":")
	require.NoError(t, replica.Admin().Do(t.Context(), "REPLICAOF", host, port).Err())
	master.AwaitReplica()
	for range sentinels {
		s.ports = append(s.ports, s.startSentinel(port))
	}
	for _, at := range s.ports {
		Eventually(t, "the Sentinel to know all servers", func() error {
			m, err := s.client(at).Master(t.Context(), sentinelMaster).Result()
			if err == nil && (m["num-slaves"] != "1" || m["num-other-sentinels"] != "2" || m["flags"] != "master") {
				err = fmt.Errorf("it knows %v", m)
			}
			return err
		})
	}
	return s
}

// startSentinel starts a Sentinel, and returns its port.
func (s *Sentinel) startSentinel(masterPort string) string {
	dir := tempDir(s.t)
	port := fmt.Sprint(FreePort(s.t))
	config := filepath.Join(dir, "sentinel.conf") // the Sentinel writes it too
	// After a failover that did not begin in time, as on a busy machine, a Sentinel waits for twice the timeout.
	require.NoError(s.t, os.WriteFile(config, fmt.Appendf(nil, `port %s
bind 127.0.0.1
dir %s
sentinel monitor %[3]s 127.0.0.1 %s 2
sentinel down-after-milliseconds %[3]s 3000
sentinel failover-timeout %[3]s 10000
`, port, dir, sentinelMaster, masterPort), 0o600))
	path, err := exec.LookPath("redis-server")
	require.NoError(s.t, err)
	cmd := exec.Command(path, config, "--sentinel")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	Eventually(s.t, "the Sentinel to answer", func() error { return s.client(port).Ping(context.Background()).Err() })
	// By default, a Sentinel looks at the role of a server every ten seconds.
	period := redis.NewStatusCmd(s.t.Context(), "SENTINEL", "DEBUG", "info-period", "1000")
	require.NoError(s.t, s.client(port).Process(s.t.Context(), period))
	return port
}

// client is a client of the Sentinel at a port. The end of the test closes it.
func (s *Sentinel) client(port string) *redis.SentinelClient {
	if known := s.clients[port]; known != nil {
		return known
	}
	c := redis.NewSentinelClient(&redis.Options{Addr: "127.0.0.1:" + port, Protocol: 2, MaxRetries: -1})
	s.t.Cleanup(func() { c.Close() })
	s.clients[port] = c
	return c
}

// URL returns the URL that ranking.Open takes.
func (s *Sentinel) URL() string {
	return "redis-sentinel://127.0.0.1:" + strings.Join(s.ports, ",127.0.0.1:") + "/" + sentinelMaster
}

// Master returns the server that all Sentinels take for the master.
func (s *Sentinel) Master() (*Redis, error) {
	var master *Redis
	for _, port := range s.ports {
		at, err := s.client(port).GetMasterAddrByName(context.Background(), sentinelMaster).Result()
		if err != nil {
			return nil, err
		}
		for _, server := range s.Servers {
			if server.URL() == "redis://"+strings.Join(at, ":") {
				if master != nil && master != server {
					return nil, errors.New("the Sentinels differ")
				}
				master = server
			}
		}
	}
	if master == nil {
		return nil, errors.New("the Sentinels name another server")
	}
	return master, nil
}

// AwaitMaster waits until all Sentinels take a server for the master.
func (s *Sentinel) AwaitMaster(server *Redis) {
	s.t.Helper()
	Eventually(s.t, "the promotion", func() error {
		master, err := s.Master()
		if err == nil && master != server {
			err = errors.New("another server is the master")
		}
		return err
	})
}

// Failover has the Sentinels promote the replica, though the master is up.
func (s *Sentinel) Failover() {
	s.t.Helper()
	// A Sentinel that still takes the replica for a master would make it a replica again during the failover.
	for _, at := range s.ports {
		Eventually(s.t, "the Sentinel to know the replica as one", func() error {
			replicas, err := s.client(at).Replicas(context.Background(), sentinelMaster).Result()
			if err == nil && (len(replicas) != 1 || replicas[0]["flags"] != "slave" || replicas[0]["role-reported"] != "slave") {
				err = fmt.Errorf("it knows %v", replicas)
			}
			return err
		})
	}
	Eventually(s.t, "the Sentinel to begin a failover", func() error { // it refuses while it ends another one
		return s.client(s.ports[0]).Failover(context.Background(), sentinelMaster).Err()
	})
}
