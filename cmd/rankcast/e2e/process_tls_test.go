package e2e

import (
	"crypto/tls"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
	p := launch(t, "--tls-cert", certFile, "--tls-key", keyFile)
	require.Contains(t, p.output(), "page=https://"+p.addr)
	send := []string{"send", "stars", "ana", "40", "--server", "https://" + p.addr}
	require.Contains(t, p.output(), strings.Join(send, " "), "the command of the log")
	got := runWith(t, []string{"SSL_CERT_FILE=" + certFile}, "", send...)
	got.is(t, 0, "stars: ana has 40, rank 1 (new)\n", "")
	got = runWith(t, []string{"SSL_CERT_FILE=" + certFile}, "", "watch", "nowhere", "--json", "--server", "https://"+p.addr)
	require.Contains(t, got.stderr, "unknown_board", "the answer came over a WebSocket")
	const untrusted = " is not trusted: x509: certificate signed by unknown authority. If it is yours, trust the authority " +
		"that signed it: SSL_CERT_FILE=ca.pem"
	run(t, "", send...).is(t, 1, "", "rankcast: nothing was sent: the certificate of https://"+p.addr+untrusted+"\n")
	got = run(t, "", "watch", "stars", "--json", "--server", "https://"+p.addr)
	require.Equal(t, 1, got.code)
	require.Equal(t, "rankcast: the certificate of https://"+p.addr+untrusted+"\n", got.stderr)
	got = run(t, "", "send", "stars", "ana", "40", "--server", "http://"+p.addr)
	got.is(t, 1, "", "rankcast: the server answered 400: this server speaks https; write https:// in its URL\n")
	got = run(t, "", "watch", "stars", "--json", "--server", "http://"+p.addr)
	require.Contains(t, got.stderr, "this server speaks https")

	next.Write(t, dir)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	redistest.Eventually(t, "the new certificate", func() error {
		conn, err := tls.Dial("tcp", p.addr, certificatetest.Trust(next))
		if err != nil {
			return err
		}
		return conn.Close()
	})
	redistest.Eventually(t, "the line about the new certificate", func() error {
		if !strings.Contains(p.output(), "a new certificate is in force") {
			return errors.New(p.output())
		}
		return nil
	})
	p.terminate()
	require.Zero(t, p.ended())
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
		got := run(t, "", append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)...)
		require.Equal(t, c.code, got.code, got.stderr)
		require.Contains(t, got.stderr, c.says)
	}
}
