package main

import (
	"errors"
	"log/slog"

	"rankcast/server/certificate"
)

// serveTLS are the flags of TLS.
type serveTLS struct {
	Cert string `name:"tls-cert" env:"RANKCAST_TLS_CERT" placeholder:"FILE" help:"Certificate of the server, with its chain (PEM): the server speaks TLS, with HTTP/2. The server reads it again when it changes, and on SIGHUP. Needs --tls-key."`
	Key  string `name:"tls-key" env:"RANKCAST_TLS_KEY" placeholder:"FILE" help:"Private key of the certificate (PEM, not encrypted)."`
}

// Validate checks the flags.
func (s *serveTLS) Validate() error {
	switch {
	case s.Cert == "" && s.Key != "":
		return errors.New("--tls-key needs --tls-cert")
	case s.Cert != "" && s.Key == "":
		return errors.New("--tls-cert needs --tls-key")
	}
	return nil
}

// given reports whether the server speaks TLS.
func (s *serveTLS) given() bool { return s.Cert != "" }

// files reads the certificate; nil without TLS.
func (s *serveTLS) files(log *slog.Logger) (*certificate.Files, error) {
	if !s.given() {
		return nil, nil
	}
	return certificate.New(certificate.Config{CertFile: s.Cert, KeyFile: s.Key, Log: log})
}
