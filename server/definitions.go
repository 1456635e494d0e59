package server

import (
	"context"
	"time"

	"rankcast/server/internal/gate"
	"rankcast/server/internal/readable"
	"rankcast/server/internal/recent"
	"rankcast/server/internal/respond"

	"github.com/labstack/echo/v5"
)

// definitionsCache keeps the encoded list of all boards, or of all events, by the version of the definitions. A list may
// have 2 MB, so the server encodes it once for each version.
type definitionsCache = recent.Cache[*readable.List]

// definitionsAge bounds how long the server keeps a list. A list never changes, because its version is the key.
const definitionsAge = 24 * time.Hour

// newDefinitionsCache makes a cache that keeps one list.
func newDefinitionsCache() *definitionsCache {
	return recent.New(definitionsAge, 1, func(*readable.List) int { return 1 })
}

// listDefinitions returns the list of a version of the definitions: that which the cache has, or that which read makes.
func listDefinitions(ctx context.Context, cache *definitionsCache, version string,
	read func(ctx context.Context, to *readable.List) error) (*readable.List, error) {
	return cache.Get(ctx, version, func() (*readable.List, error) {
		list := new(readable.List)
		if err := read(context.WithoutCancel(ctx), list); err != nil { // others wait for it too
			return nil, err
		}
		list.Close()
		return list, nil
	})
}

// okDefinitions answers with a field that holds what the caller may read of the list of a cache.
func (s *Server) okDefinitions(c *echo.Context, cache *definitionsCache, field string,
	read func(ctx context.Context, to *readable.List) error) error {
	version, err := s.store.DefinitionsVersion(c.Request().Context())
	if err != nil {
		return err
	}
	all, err := listDefinitions(c.Request().Context(), cache, version, read)
	if err != nil {
		return err
	}
	list := all.For(gate.Caller(c)) // may have 2 MB, which Marshal would check and copy
	b := make([]byte, 0, len(list)+len(field)+6)
	b = append(append(append(b, `{"`...), field...), `":`...)
	return respond.Encoded(c, append(append(b, list...), '}', '\n'))
}
