//go:build !unix

package localredis

import (
	"context"
	"errors"
)

// Server is a redis-server in a directory.
type Server struct{}

// Start fails: Redis does not run on this system.
func Start(context.Context, Config) (*Server, error) {
	return nil, errors.New("a data directory needs a redis-server, which does not run on this system: " +
		"give the node a Redis of another machine")
}

// URL returns the URL that ranking.Open takes.
func (*Server) URL() string { return "" }

// Close ends redis-server.
func (*Server) Close() {}
