package ranking

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"rankcast/ranking/definition"
)

// Layout is the number of the form of the data in Redis. Raise it with each change of a key, of what a key
// holds, or of a digest, which a node of the version before would read or write in another way; also where package
// search folds names differently, or Unicode changes. No code reads an older form.
const Layout = 11

// layoutField is the field of the definitions that has the layout. define.lua writes it with the first
// definition, before there are any other data.
const layoutField = "layout"

// LayoutError reports that Redis holds data of another layout. The Store neither reads nor changes them. It
// wraps ErrUnavailable: the requests of callers are not wrong.
type LayoutError struct {
	Prefix string // of the data
	Found  string // layout of the data; "" for data of a version without layouts
}

// Error says what is in Redis, and how to come over.
func (e *LayoutError) Error() string { return e.Problem() + ": " + e.Fix() }

// Problem says what is in Redis.
func (e *LayoutError) Problem() string {
	found := "data of layout " + e.Found
	if e.Found == "" {
		found = "data of a version without layouts"
	}
	return fmt.Sprintf("Redis holds %s under the prefix %q, and this version of Rankcast uses layout %d", found, e.Prefix, Layout)
}

// Fix says how to come over.
func (e *LayoutError) Fix() string {
	return "export the boards with the version that wrote them, and import them with this one into an empty Redis or under another prefix"
}

func (e *LayoutError) Unwrap() error { return definition.ErrUnavailable }

// CheckLayout returns a LayoutError where Redis holds data of another layout, and another ErrUnavailable where
// Redis does not answer.
func (s *Store) CheckLayout(ctx context.Context) error {
	_, err := s.catalog.readFresh(ctx)
	return err
}

// BrokenDefinitions returns an error for each definition that this version cannot read, sorted by name. Its own error is
// that of CheckLayout.
func (s *Store) BrokenDefinitions(ctx context.Context) (broken []error, err error) {
	d, err := s.catalog.readFresh(ctx)
	if err != nil {
		return nil, err
	}
	for _, field := range slices.Sorted(maps.Keys(d.broken)) {
		broken = append(broken, d.broken[field])
	}
	return broken, nil
}

// checkLayout returns a LayoutError unless the layout that Redis has is that of this version. Redis without
// definitions has none.
func (c *catalog) checkLayout(found, version string) error {
	if found == strconv.Itoa(Layout) || found == "" && version == noVersion {
		return nil
	}
	return &LayoutError{Prefix: c.keys.Prefix(), Found: found}
}

// isLayout reports whether an error is a LayoutError.
func isLayout(err error) bool { return errors.As(err, new(*LayoutError)) }
