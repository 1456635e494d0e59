// Package certificatetest makes certificates for tests.
package certificatetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Certificate is a certificate for localhost and 127.0.0.1, which is its own authority. Cert and Key are PEM.
type Certificate struct {
	X509      *x509.Certificate
	Cert, Key []byte
}

// New makes a certificate that is valid from a time until another.
func New(t testing.TB, from, until time.Time) *Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	of := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "rankcast"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	require.NoError(t, err)
	c := &Certificate{}
	c.X509, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	c.Cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	c.Key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	return c
}

// Valid makes a certificate that is valid for a day.
func Valid(t testing.TB) *Certificate {
	now := time.Now()
	return New(t, now.Add(-time.Hour), now.Add(24*time.Hour))
}

// Write writes the certificate and the key into files of a folder, and returns their paths.
func (c *Certificate) Write(t testing.TB, dir string) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(certFile, c.Cert, 0o600))
	require.NoError(t, os.WriteFile(keyFile, c.Key, 0o600))
	return certFile, keyFile
}

// Trust is the configuration of a client that trusts these certificates alone.
func Trust(all ...*Certificate) *tls.Config {
	pool := x509.NewCertPool()
	for _, c := range all {
		pool.AddCert(c.X509)
	}
	return &tls.Config{RootCAs: pool}
}
