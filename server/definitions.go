package server

import (
	"context"
	"sync/atomic"

	"rankcast/server/internal/gate"
	"rankcast/server/internal/readable"
	"rankcast/server/internal/respond"

	"github.com/labstack/echo/v5"
	"golang.org/x/sync/singleflight"
)

// definitionsCache keeps the encoded list of all boards, or of all events. A list may have 2 MB, so the server
// encodes it once for each version of the definitions.
type definitionsCache struct {
	latest atomic.Pointer[encodedDefinitions]
	reads  singleflight.Group // by version
}

type encodedDefinitions struct {
	version string
	list    readable.List
}

// list returns the list of a version of the definitions: that which the cache has, or that which read makes.
func (d *definitionsCache) list(ctx context.Context, version string,
	read func(ctx context.Context, to *readable.List) error) (*readable.List, error) {
	latest := func() *readable.List {
		if all := d.latest.Load(); all != nil && all.version == version {
			return &all.list
		}
		return nil
	}
	if all := latest(); all != nil {
		return all, nil
	}
	v, err, _ := d.reads.Do(version, func() (any, error) {
		if all := latest(); all != nil { // another request has read it since
			return all, nil
		}
		all := &encodedDefinitions{version: version}
		if err := read(context.WithoutCancel(ctx), &all.list); err != nil { // others wait for it too
			return nil, err
		}
		all.list.Close()
		d.latest.Store(all)
		return &all.list, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*readable.List), nil
}

// okDefinitions answers with a field that holds what the caller may read of the list of a cache.
func (s *Server) okDefinitions(c *echo.Context, cache *definitionsCache, field string,
	read func(ctx context.Context, to *readable.List) error) error {
	version, err := s.store.DefinitionsVersion(c.Request().Context())
	if err != nil {
		return err
	}
	all, err := cache.list(c.Request().Context(), version, read)
	if err != nil {
		return err
	}
	list := all.For(gate.Caller(c)) // may have 2 MB, which Marshal would check and copy
	b := make([]byte, 0, len(list)+len(field)+6)
	b = append(append(append(b, `{"`...), field...), `":`...)
	return respond.Encoded(c, append(append(b, list...), '}', '\n'))
}
