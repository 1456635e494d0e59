package server

import (
	"cmp"
	"context"
	"time"

	"rankcast/ranking/definition"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/readable"
	"rankcast/server/internal/recent"
	"rankcast/server/internal/request"
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

// readDefinition reads the body of a request that defines a board or an event, JSON or YAML, and whether the request is a
// dry run. of is the parameter of the path that has the name.
func readDefinition[D any](c *echo.Context, of string, fromJSON, fromYAML func(name string, body []byte) (D, error)) (
	d D, dryRun bool, err error) {
	q := request.ReadQuery(c, "dry_run")
	dryRun = q.Boolean("dry_run")
	media, err := request.MediaType(c, request.JSONType, request.YAMLType)
	if err = cmp.Or(q.Err, err); err != nil {
		return d, dryRun, err
	}
	body, err := request.ReadBody(c)
	if err != nil {
		return d, dryRun, err
	}
	parse := fromJSON
	if media == request.YAMLType {
		parse = fromYAML
	}
	d, err = parse(request.PathValue(c, of), body)
	return d, dryRun, definition.Rooted("body", err)
}

// previewJSON is the answer to a dry run.
type previewJSON struct {
	Definition any                 `json:"definition"`
	YAML       string              `json:"yaml"`
	IsNew      bool                `json:"is_new"`
	Changes    []definition.Change `json:"changes"`
}

// answerPreview answers a dry run with the complete definition, and how it differs from the present one, which is nil for
// a new definition; or it returns err.
func answerPreview[D interface{ YAML() (string, error) }](c *echo.Context, was *D, now D, err error) error {
	if err != nil {
		return err
	}
	answer := previewJSON{Definition: now, IsNew: was == nil, Changes: []definition.Change{}}
	if was != nil {
		answer.Changes = definition.Changes(*was, now)
	}
	answer.YAML, err = now.YAML()
	return respond.Answer(c, answer, err)
}
