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
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/certificate/certificatetest"
)

// A server with a certificate speaks TLS: its commands reach it at https://, and a new certificate is in force
// without a restart.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	old, next := certificatetest.Valid(t), certificatetest.Valid(t)
	dir := t.TempDir()
	certFile, keyFile := old.Write(t, dir)
	p := e2etest.Launch(t, "--tls-cert", certFile, "--tls-key", keyFile)
	require.Contains(t, p.Output(), "page=https://"+p.Addr)
	send := []string{"send", "stars", "ana", "40", "--server", "https://" + p.Addr}
	require.Contains(t, p.Output(), strings.Join(send, " "), "the command of the log")
	got := e2etest.RunWith(t, []string{"SSL_CERT_FILE=" + certFile}, "", send...)
	got.Is(t, 0, "stars: ana has 40, rank 1 (new)\n", "")
	got = e2etest.RunWith(t, []string{"SSL_CERT_FILE=" + certFile}, "", "watch", "nowhere", "--json", "--server", "https://"+p.Addr)
	require.Contains(t, got.Stderr, "unknown_board", "the answer came over a WebSocket")
	const untrusted = " is not trusted: x509: certificate signed by unknown authority. If it is yours, trust the authority " +
		"that signed it: SSL_CERT_FILE=ca.pem"
	e2etest.Run(t, "", send...).Is(t, 1, "", "rankcast: nothing was sent: the certificate of https://"+p.Addr+untrusted+"\n")
	got = e2etest.Run(t, "", "watch", "stars", "--json", "--server", "https://"+p.Addr)
	require.Equal(t, 1, got.Code)
	require.Equal(t, "rankcast: the certificate of https://"+p.Addr+untrusted+"\n", got.Stderr)
	got = e2etest.Run(t, "", "send", "stars", "ana", "40", "--server", "http://"+p.Addr)
	got.Is(t, 1, "", "rankcast: the server answered 400: this server speaks https; write https:// in its URL\n")
	got = e2etest.Run(t, "", "watch", "stars", "--json", "--server", "http://"+p.Addr)
	require.Contains(t, got.Stderr, "this server speaks https")

	next.Write(t, dir)
	require.NoError(t, p.Cmd.Process.Signal(syscall.SIGHUP))
	redistest.Eventually(t, "the new certificate", func() error {
		conn, err := tls.Dial("tcp", p.Addr, certificatetest.Trust(next))
		if err != nil {
			return err
		}
		return conn.Close()
	})
	p.Logs("a new certificate is in force")
	p.Terminate()
	require.Zero(t, p.Ended())
}

// A certificate that cannot be used ends the server at its start, and the message names the flag.
func TestServeWithAWrongCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := certificatetest.New(t, time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)).Write(t, dir)
	for _, c := range []struct {
		code int
		args []string
		says string
	}{
		{1, []string{"--tls-cert", certFile, "--tls-key", keyFile}, "rankcast: --tls-cert " + certFile + ": the certificate has expired"},
		{1, []string{"--tls-cert", filepath.Join(dir, "none"), "--tls-key", keyFile}, "rankcast: --tls-cert: open "},
		{1, []string{"--tls-cert", certFile, "--tls-key", filepath.Join(dir, "none")}, "rankcast: --tls-key: open "},
		{80, []string{"--tls-cert", certFile}, "--tls-cert needs --tls-key"},
		{80, []string{"--tls-key", keyFile}, "--tls-key needs --tls-cert"},
	} {
		got := e2etest.Run(t, "", append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)...)
		got.Fails(t, c.code, c.says)
	}
}

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
			p.Update("stars", `{"member":"ana","score":1}`)
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
