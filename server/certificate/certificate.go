// Package certificate holds the TLS certificate of a node, and reads it again when its files change.
package certificate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"rankcast/server/internal/filewatch"
)

// Config configures Files.
type Config struct {
	// CertFile and KeyFile are the paths of the certificate, with its chain, and of its private key, in PEM.
	// Both are required. A file has 1 MiB at most.
	CertFile, KeyFile string
	// Log gets messages for operators. Default slog.Default.
	Log *slog.Logger
}

// Files are the certificate and the key of a node. New makes them, Run keeps them up to date. All methods may
// be called concurrently.
type Files struct {
	cfg   Config
	files *filewatch.Watch[pair]
}

// pair is a certificate in force, with the content of its files.
type pair struct {
	certificate tls.Certificate
	cert, key   []byte
}

// New reads the files. It returns an error for a file that is missing or not valid, for a key of another
// certificate, and for a certificate that is not valid now. The error names the flag.
func New(cfg Config) (*Files, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	f := &Files{cfg: cfg}
	var err error
	if f.files, err = filewatch.New(filewatch.Config[pair]{Name: "certificate", Load: f.load, Log: cfg.Log}); err != nil {
		return nil, err
	}
	return f, nil
}

// TLS is the configuration of a server. Each handshake takes the certificate that is then in force. The least
// version is TLS 1.2.
func (f *Files) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return &f.files.Current().certificate, nil
		},
	}
}

// Status is the state of the certificate, for an operator.
type Status struct {
	filewatch.Status
	Expires time.Time // when the certificate in force expires
}

// Status returns the state of the certificate.
func (f *Files) Status() Status {
	return Status{f.files.Status(), f.files.Current().certificate.Leaf.NotAfter}
}

// Reload makes Run read the files now, and put them into force at once.
func (f *Files) Reload() { f.files.Reload() }

// Run reads the files again when they change, until ctx ends: a change comes into force within two seconds. Files
// that are not valid, or that do not fit, leave the last good ones in force.
func (f *Files) Run(ctx context.Context) {
	f.files.Run(ctx, func(p *pair) {
		f.cfg.Log.Info("a new certificate is in force", "expires", p.certificate.Leaf.NotAfter.UTC().Format(time.RFC3339))
	})
}

// load reads the files. It returns what is in force if nothing has changed.
func (f *Files) load(read filewatch.ReadFile, before *pair) (*pair, error) {
	cert, err := read(f.cfg.CertFile)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %w", err)
	}
	key, err := read(f.cfg.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("--tls-key: %w", err)
	}
	if before != nil && bytes.Equal(before.cert, cert) && bytes.Equal(before.key, key) {
		return before, nil
	}
	p := &pair{cert: cert, key: key}
	if p.certificate, err = tls.X509KeyPair(cert, key); err != nil {
		return nil, fmt.Errorf("--tls-cert %s and --tls-key %s: %w", f.cfg.CertFile, f.cfg.KeyFile, err)
	}
	if err := checkTime(p.certificate.Leaf, time.Now()); err != nil {
		return nil, fmt.Errorf("--tls-cert %s: %w", f.cfg.CertFile, err)
	}
	return p, nil
}

var (
	errExpired     = errors.New("the certificate has expired")
	errNotYetValid = errors.New("the certificate is not valid yet")
)

// checkTime refuses a certificate that no client accepts now.
func checkTime(c *x509.Certificate, now time.Time) error {
	switch {
	case now.After(c.NotAfter):
		return fmt.Errorf("%w: it was valid until %s", errExpired, c.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(c.NotBefore):
		return fmt.Errorf("%w: it is valid from %s on", errNotYetValid, c.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}
