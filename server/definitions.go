package server

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"
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
	json    []byte
}

// okDefinitions answers with the list that read reads, from the cache if the cache has it.
func (s *Server) okDefinitions(c echo.Context, cache *definitionsCache, read func(ctx context.Context) (any, error)) error {
	version, err := s.store.DefinitionsVersion(c.Request().Context())
	if err != nil {
		return err
	}
	list := cache.latest.Load()
	if list == nil || list.version != version {
		v, err, _ := cache.reads.Do(version, func() (any, error) {
			if list := cache.latest.Load(); list != nil && list.version == version { // another request has read it since
				return list, nil
			}
			v, err := read(context.WithoutCancel(c.Request().Context())) // others wait for it too
			if err != nil {
				return nil, err
			}
			b, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("encode the definitions: %w", err)
			}
			list := &encodedDefinitions{version, append(b, '\n')}
			cache.latest.Store(list)
			return list, nil
		})
		if err != nil {
			return err
		}
		list = v.(*encodedDefinitions)
	}
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, list.json)
}
