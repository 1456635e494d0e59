// Package remote is the connection of a command to a server: its flag, its client, and the
// words for what goes wrong.
package remote

import (
	"errors"
	"fmt"
	"net/http"
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
	var reported atomic.Bool
	return s.Client(client.Config{OnRetry: func(why error) {
		if reported.CompareAndSwap(false, true) {
			fmt.Fprintln(os.Stderr, term.RetryLine(s.URL, term.ForAMinute, why))
		}
	}})
}

// Client returns a client of the server with the key for it. The caller closes it.
func (s Server) Client(cfg client.Config) (*client.Client, error) {
	var err error
	if cfg.Credentials, err = s.credentials(); err != nil {
		return nil, err
	}
	return client.New(s.URL, cfg)
}

// Explain returns the error of a request without the words of the client around it, where the
// server has answered. An answer that no Rankcast server gives is named as such, and so is a server
// that is not there.
func (s Server) Explain(err error) error {
	var answer *client.Error
	if errors.As(err, &answer) && answer.Status == http.StatusNotFound && answer.Code == "" {
		return fmt.Errorf("no Rankcast server answers at %s (404)", term.Redacted(s.URL))
	}
	if errors.Is(err, client.ErrNotSent) {
		return term.NotSent(s.URL, err)
	}
	return s.Refusal(err)
}

// Refusal returns the server's answer in err without the words of the client around it, or err where the server
// gave no answer. To a refusal of the key, or of the server's certificate, it adds what the user can do. The
// definition of an event decides on fields, and the backend that signed it on a token: no access file helps there.
func (s Server) Refusal(err error) error {
	var answer *client.Error
	if !errors.As(err, &answer) {
		if wrong := term.Untrusted(s.URL, err); wrong != nil {
			return wrong
		}
		return err
	}
	key := KeyVariable
	if s.KeyFile != "" {
		key = s.KeyFile
	}
	switch {
	case answer.Code == codeUnauthorized && s.KeyFile == "" && os.Getenv(KeyVariable) == "":
		return fmt.Errorf("%w; give a key: --key-file FILE, or the variable %s", answer, KeyVariable)
	case answer.Code == codeUnauthorized:
		return fmt.Errorf("%w; the server does not accept the key of %s", answer, key)
	case answer.Code == codeForbidden && answer.Field == "" && s.hasKey():
		return fmt.Errorf("%w; the access file of the server decides what the key of %s may do", answer, key)
	}
	return answer
}
