package process

import (
	"context"
	"crypto/tls"
	"crypto/x509"
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

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/certificate/certificatetest"
)

// tlsRedis starts redis-server with a configuration, on a port that speaks TLS only, and returns a client.
func tlsRedis(t *testing.T, c *certificatetest.Certificate, port int, config string, args ...string) *redis.Client {
	dir := t.TempDir()
	certFile, keyFile := c.Write(t, dir)
	file := filepath.Join(dir, "redis.conf") // a Sentinel writes it too
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `port 0
tls-port %d
bind 127.0.0.1
dir %s
tls-cert-file %s
tls-key-file %s
tls-ca-cert-file %[3]s
tls-auth-clients no
tls-replication yes
%[5]s`, port, dir, certFile, keyFile, config), 0o600))
	cmd := exec.Command("redis-server", append([]string{file}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	roots := x509.NewCertPool()
	roots.AddCert(c.X509)
	rdb := redis.NewClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", port), Protocol: 2, TLSConfig: &tls.Config{RootCAs: roots}})
	t.Cleanup(func() { rdb.Close() })
	redistest.Eventually(t, "redis-server to answer", func() error { return rdb.Ping(context.Background()).Err() })
	return rdb
}

// A node speaks TLS to one Redis, to the nodes of a cluster, and to Sentinels and their master. It trusts the
// authority of --redis, and no other one.
func TestRedisByTLS(t *testing.T) {
	t.Parallel()
	c := certificatetest.Valid(t)
	ca, _ := c.Write(t, t.TempDir())
	for name, start := range map[string]func(t *testing.T) (url string){
		"one": func(t *testing.T) string {
			port := redistest.FreePort(t)
			tlsRedis(t, c, port, "")
			return fmt.Sprintf("rediss://127.0.0.1:%d", port)
		},
		"cluster": func(t *testing.T) string {
			port := redistest.FreePort(t)
			rdb := tlsRedis(t, c, port, "cluster-enabled yes\ntls-cluster yes\ncluster-announce-ip 127.0.0.1\n")
			require.NoError(t, rdb.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
			return fmt.Sprintf("rediss-cluster://127.0.0.1:%d", port)
		},
		"sentinel": func(t *testing.T) string {
			port, sentinel := redistest.FreePort(t), redistest.FreePort(t)
			tlsRedis(t, c, port, "")
			tlsRedis(t, c, sentinel, fmt.Sprintf("sentinel monitor mymaster 127.0.0.1 %d 1\n", port), "--sentinel")
			return fmt.Sprintf("rediss-sentinel://127.0.0.1:%d/mymaster", sentinel)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := start(t)
			p := e2etest.Launch(t, "--redis", url+"?ca="+ca)
			p.Ready()
			require.Equal(t, 200, p.Post("stars", `{"member":"ana","score":1}`).Status)
			stranger := e2etest.Launch(t, "--redis", url)
			redistest.Eventually(t, "the node to say why it is not ready", func() error {
				answer := stranger.PostOnce("stars", `{"member":"ana","score":1}`)
				if log := stranger.Output(); answer.Status != 503 || !strings.Contains(log, "certificate signed by unknown authority") {
					return errors.New(answer.Body + log)
				}
				return nil
			})
		})
	}
}
