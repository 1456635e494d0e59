package certificate_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/certificate"
	"rankcast/server/certificate/certificatetest"
)

// serve accepts TLS connections with the certificate of files, and writes a byte to each.
func serve(t *testing.T, files *certificate.Files) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var conns sync.WaitGroup
	t.Cleanup(func() { l.Close(); redistest.Wait(t, "the end of conns", conns.Wait) })
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				tls.Server(conn, files.TLS()).Write([]byte{1})
			})
		}
	})
	return l.Addr().String()
}

// handshake returns the serial number of the certificate that a client gets.
func handshake(addr string, trust *tls.Config) (string, error) {
	conn, err := tls.Dial("tcp", addr, trust)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		return "", err
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
}

// role runs the files until the end of the test.
func role(t *testing.T, files *certificate.Files) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { files.Run(ctx) })
	t.Cleanup(func() { cancel(); redistest.Wait(t, "the end of running", running.Wait) })
}

// Clients that connect all the time see no failure while the certificate is replaced, one file after the other,
// and each handshake after that gets the new one.
func TestRotationUnderLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all := []*certificatetest.Certificate{certificatetest.Valid(t), certificatetest.Valid(t), certificatetest.Valid(t)}
	trust := certificatetest.Trust(all...)
	certFile, keyFile := all[0].Write(t, dir)
	files, err := certificate.New(certificate.Config{CertFile: certFile, KeyFile: keyFile, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	role(t, files)
	addr := serve(t, files)

	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	defer load.Wait()
	defer stop()
	for range 4 {
		load.Go(func() {
			for ctx.Err() == nil {
				if _, err := handshake(addr, trust); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for _, next := range all[1:] {
		require.NoError(t, os.WriteFile(certFile, next.Cert, 0o600))
		files.Reload()
		redistest.Eventually(t, "the fault", func() error {
			if files.Status().Fault == nil {
				return errors.New("none")
			}
			return nil
		})
		require.NoError(t, os.WriteFile(keyFile, next.Key, 0o600))
		files.Reload()
		redistest.Eventually(t, "the new certificate", func() error {
			serial, err := handshake(addr, trust)
			if err == nil && serial != next.X509.SerialNumber.String() {
				err = errors.New("the old certificate")
			}
			return err
		})
		require.NoError(t, files.Status().Fault)
		require.WithinDuration(t, next.X509.NotAfter, files.Status().Expires, 0)
	}
}

// Files that are not valid leave the last good ones in force. The log has one line about that, and none while a
// program replaces one file after the other.
func TestLastGoodFilesStayInForce(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		now := time.Now()
		good, other := dated(t, now), dated(t, now)
		certFile, keyFile := good.Write(t, t.TempDir())
		log := new(redistest.Log)
		files, err := certificate.New(certificate.Config{CertFile: certFile, KeyFile: keyFile, Log: slog.New(slog.NewTextHandler(log, nil))})
		require.NoError(t, err)
		role(t, files)
		time.Sleep(100 * time.Millisecond) // from here on between two looks
		for _, c := range []struct {
			cert, key []byte
			want      string
		}{
			{other.Cert, good.Key, "private key does not match"},
			{nil, good.Key, "in certificate input"},
			{good.Cert, []byte("no key"), "in key input"},
		} {
			require.NoError(t, os.WriteFile(certFile, c.cert, 0o600))
			require.NoError(t, os.WriteFile(keyFile, c.key, 0o600))
			time.Sleep(time.Second) // one look
			require.NotContains(t, fmt.Sprint(files.Status().Fault), c.want, "a program may be writing the files")
			require.NotContains(t, log.String(), c.want)
			time.Sleep(time.Second)
			require.ErrorContains(t, files.Status().Fault, c.want)
			time.Sleep(time.Minute)
			require.Equal(t, 1, strings.Count(log.String(), c.want), log)
			require.WithinDuration(t, now, files.Status().Since, 0)
		}
		good.Write(t, strings.TrimSuffix(certFile, "cert.pem"))
		time.Sleep(2 * time.Second)
		require.NoError(t, files.Status().Fault)
		require.WithinDuration(t, now, files.Status().Since, 0) // the content is the same

		other.Write(t, strings.TrimSuffix(certFile, "cert.pem"))
		time.Sleep(2 * time.Second)
		require.NoError(t, files.Status().Fault)
		require.WithinDuration(t, time.Now(), files.Status().Since, time.Second)
		require.Contains(t, log.String(), "a new certificate is in force")
	})
}

// dated makes a certificate that is valid for a day.
func dated(t *testing.T, now time.Time) *certificatetest.Certificate {
	return certificatetest.New(t, now.Add(-time.Hour), now.Add(24*time.Hour))
}

func TestFilesThatAreNotValid(t *testing.T) {
	t.Parallel()
	now := time.Now()
	good, other := dated(t, now), dated(t, now)
	expired := certificatetest.New(t, now.Add(-48*time.Hour), now.Add(-time.Hour))
	early := certificatetest.New(t, now.Add(time.Hour), now.Add(48*time.Hour))
	for want, c := range map[string][2][]byte{
		"the certificate has expired: it was valid until ":            {expired.Cert, expired.Key},
		"the certificate is not valid yet: it is valid from ":         {early.Cert, early.Key},
		"private key does not match public key":                       {good.Cert, other.Key},
		"failed to find any PEM data in certificate input":            {[]byte("text"), good.Key},
		"failed to find any PEM data in key input":                    {good.Cert, []byte("text")},
		"found a certificate rather than a key in the PEM for the pr": {good.Cert, good.Cert},
	} {
		certFile, keyFile := (&certificatetest.Certificate{Cert: c[0], Key: c[1]}).Write(t, t.TempDir())
		_, err := certificate.New(certificate.Config{CertFile: certFile, KeyFile: keyFile})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "--tls-cert "+certFile)
	}
	certFile, keyFile := good.Write(t, t.TempDir())
	_, err := certificate.New(certificate.Config{CertFile: certFile + "x", KeyFile: keyFile})
	require.ErrorContains(t, err, "--tls-cert: open "+certFile+"x: no such file")
	require.NoError(t, os.WriteFile(certFile+"x", make([]byte, 2<<20), 0o600))
	_, err = certificate.New(certificate.Config{CertFile: certFile + "x", KeyFile: keyFile})
	require.ErrorContains(t, err, "--tls-cert: "+certFile+"x has more than 1048576 bytes")
	_, err = certificate.New(certificate.Config{CertFile: certFile, KeyFile: keyFile + "x"})
	require.ErrorContains(t, err, "--tls-key: open "+keyFile+"x: no such file")
}
