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

// Server is the flag that names the server. Commands embed it.
type Server struct {
	URL string `name:"server" default:"http://${addr}" env:"RANKCAST_SERVER" placeholder:"URL" help:"Server to connect to (default ${default})."`
}

// Dial returns a client of the server. The client reports the start of an outage on the
// standard error, once. The caller closes it.
func (s Server) Dial() (*client.Client, error) {
	var reported atomic.Bool
	return client.New(s.URL, client.Config{OnRetry: func(why error) {
		if reported.CompareAndSwap(false, true) {
			fmt.Fprintln(os.Stderr, term.RetryLine(s.URL, term.ForAMinute, why))
		}
	}})
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
	return term.Refusal(err)
}
