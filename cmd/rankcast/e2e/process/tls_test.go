package process

import (
	"crypto/tls"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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
	redistest.Eventually(t, "the line about the new certificate", func() error {
		if !strings.Contains(p.Output(), "a new certificate is in force") {
			return errors.New(p.Output())
		}
		return nil
	})
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
		require.Equal(t, c.code, got.Code, got.Stderr)
		require.Contains(t, got.Stderr, c.says)
	}
}
