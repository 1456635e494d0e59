// Package remote is the connection of a command to a server: its flag, its client, and the
// words for what goes wrong.
package remote

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"

	"rankcast/cmd/rankcast/internal/term"
	"rankcast/server/client"
)

// DefaultAddr is where serve listens, and where the other commands look for it. The flags name it
// as the variable addr.
const DefaultAddr = "127.0.0.1:8080"

// The codes of refusals of a caller. A frame of a WebSocket has them too, and no status.
const (
	codeUnauthorized = "unauthorized"
	codeForbidden    = "forbidden"
)

// Server are the flags that name the server, and the key for it. Commands embed it.
type Server struct {
	URL     string `name:"server" default:"http://${addr}" env:"RANKCAST_SERVER" placeholder:"URL" help:"Server to connect to (default ${default})."`
	KeyFile string `env:"RANKCAST_KEY_FILE" placeholder:"FILE" help:"File that holds the key for the server, or a token. The command reads it again when it changes. RANKCAST_KEY may hold the key itself instead."`
}

// Dial returns a client of the server. The client reports the start of an outage on the
// standard error, once. The caller closes it.
func (s Server) Dial() (*client.Client, error) {
	return s.DialWith(client.Config{})
}

// DialWith is Dial with a configuration, whose OnRetry it sets.
func (s Server) DialWith(cfg client.Config) (*client.Client, error) {
	var reported atomic.Bool
	cfg.OnRetry = func(why error) {
		if reported.CompareAndSwap(false, true) {
			fmt.Fprintln(os.Stderr, s.RetryLine(ForAMinute, why))
		}
	}
	return s.Client(cfg)
}

// Client returns a client of the server with the key for it. The caller closes it.
func (s Server) Client(cfg client.Config) (*client.Client, error) {
	var err error
	if cfg.Credentials, err = s.credentials(); err != nil {
		return nil, err
	}
	return client.New(s.URL, cfg)
}

// Redacted returns the URL of the server without its password.
func (s Server) Redacted() string {
	if u, err := url.Parse(s.URL); err == nil {
		return u.Redacted()
	}
	return s.URL
}

// How long a client tries again, for RetryLine.
const (
	ForAMinute  = "for a minute" // the default of client.Config.RetryFor
	UntilItDoes = "until it does"
)

// remedy is what a user can do about a server that does not answer.
const remedy = ". Is the server running, and is this its address?"

// RetryLine reports that the server does not answer, why, and for how long the client tries again.
func (s Server) RetryLine(howLong string, why error) string {
	cause := term.Cause(why)
	line := fmt.Sprintf("rankcast: %s does not answer, trying again %s: %s", s.Redacted(), howLong, term.Printable(cause.Error()))
	if _, answered := errors.AsType[*client.Error](cause); !answered {
		line += remedy
	}
	return line
}

// Explain returns the error of a request without the words of the client around it, where the server has answered, and
// adds what the user can do. It names an answer that no Rankcast server gives, a server that is not there, and one whose
// certificate is not trusted.
func (s Server) Explain(err error) error {
	answer, answered := errors.AsType[*client.Error](err)
	certificate, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	isNotSent := errors.Is(err, client.ErrNotSent)
	switch {
	case answered:
		return s.explainAnswer(answer)
	case untrusted:
		err = fmt.Errorf("the certificate of %s is not trusted: %w", s.Redacted(), certificate.Err)
		if _, unknown := errors.AsType[x509.UnknownAuthorityError](certificate.Err); unknown {
			err = fmt.Errorf("%w. If it is yours, trust the authority that signed it: SSL_CERT_FILE=ca.pem", err)
		}
		if isNotSent {
			err = fmt.Errorf("%w: %w", client.ErrNotSent, err)
		}
	case isNotSent:
		return fmt.Errorf("%s does not answer: %w; %w%s", s.Redacted(), term.Cause(err), client.ErrNotSent, remedy)
	}
	return err
}

// explainAnswer adds to the refusal of a key what the user can do. The definition of an event decides on fields, and the
// backend that signed it on a token: no access file helps there.
func (s Server) explainAnswer(answer *client.Error) error {
	key := cmp.Or(s.KeyFile, KeyVariable)
	switch {
	case answer.Status == http.StatusNotFound && answer.Code == "":
		return fmt.Errorf("no Rankcast server answers at %s (404)", s.Redacted())
	case answer.Code == codeUnauthorized && s.KeyFile == "" && os.Getenv(KeyVariable) == "":
		return fmt.Errorf("%w; give a key: --key-file FILE, or the variable %s", answer, KeyVariable)
	case answer.Code == codeUnauthorized:
		return fmt.Errorf("%w; the server does not accept the key of %s", answer, key)
	case answer.Code == codeForbidden && answer.Field == "" && s.hasKey():
		return fmt.Errorf("%w; the access file of the server decides what the key of %s may do", answer, key)
	}
	return answer
}
