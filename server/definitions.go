package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"
	"golang.org/x/sync/singleflight"

	"rankcast/server/access"
)

// definitionsCache keeps the encoded list of all boards, or of all events. A list may have 2 MB, so the server
// encodes it once for each version of the definitions.
type definitionsCache struct {
	latest atomic.Pointer[encodedDefinitions]
	reads  singleflight.Group // by version
}

type encodedDefinitions struct {
	version string
	list    namedList
}

// namedList is a list of an answer, encoded by item, so that an answer may leave items out.
type namedList struct {
	items []namedJSON
	whole []byte // all items, as a JSON list
}

// namedJSON is an encoded item about a resource.
type namedJSON struct {
	resource access.Resource
	json     []byte
	also     []access.Resource // that json tells of too
	bare     []byte            // in place of json for callers that may not read all of those
}

// add encodes one item more.
func (l *namedList) add(r access.Resource, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	l.items = append(l.items, namedJSON{resource: r, json: b})
	return nil
}

// addWith adds an item that also shows other resources. Callers that may not read all of these get bare in its place.
func (l *namedList) addWith(r access.Resource, v any, also []access.Resource, bare any) error {
	b, err := json.Marshal(bare)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	if err := l.add(r, v); err != nil {
		return err
	}
	last := &l.items[len(l.items)-1]
	last.also, last.bare = also, b
	return nil
}

// close encodes the whole list. No item follows.
func (l *namedList) close() { l.whole = l.join(func(access.Resource) bool { return true }) }

// join encodes the items that shows picks.
func (l *namedList) join(shows func(access.Resource) bool) []byte {
	b := []byte{'['}
	for _, item := range l.items {
		if !shows(item.resource) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		if slices.ContainsFunc(item.also, func(r access.Resource) bool { return !shows(r) }) {
			b = append(b, item.bare...)
		} else {
			b = append(b, item.json...)
		}
	}
	return append(b, ']')
}

// readableBy encodes the items that a caller may read.
func (l *namedList) readableBy(c *access.Caller) []byte {
	if c.MayAll() {
		return l.whole
	}
	return l.join(func(r access.Resource) bool { return c.May(access.ScopeRead, r) })
}

// okDefinitions answers with a field that holds the list that read makes, or the cache has: what the caller may
// read of it.
func (s *Server) okDefinitions(c echo.Context, cache *definitionsCache, field string, read func(ctx context.Context, to *namedList) error) error {
	version, err := s.store.DefinitionsVersion(c.Request().Context())
	if err != nil {
		return err
	}
	all := cache.latest.Load()
	if all == nil || all.version != version {
		v, err, _ := cache.reads.Do(version, func() (any, error) {
			if all := cache.latest.Load(); all != nil && all.version == version { // another request has read it since
				return all, nil
			}
			all := &encodedDefinitions{version: version}
			if err := read(context.WithoutCancel(c.Request().Context()), &all.list); err != nil { // others wait for it too
				return nil, err
			}
			all.list.close()
			cache.latest.Store(all)
			return all, nil
		})
		if err != nil {
			return err
		}
		all = v.(*encodedDefinitions)
	}
	list := all.list.readableBy(callerOf(c))
	b := make([]byte, 0, len(list)+len(field)+6)
	b = append(append(append(b, `{"`...), field...), `":`...)
	b = append(append(b, list...), '}', '\n')
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, b)
}
