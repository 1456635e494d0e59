package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
)

// Profile is the name and avatar that all boards of a kind show beside a member's entry.
type Profile struct {
	// Name is 1 to 128 bytes of UTF-8 by the rule of Update.Member; "" for none.
	Name string `json:"name,omitzero"`
	// Avatar is an http or https URL, or a path of the site that shows it, up to 512
	// bytes; "" for none.
	Avatar string `json:"avatar,omitzero"`
}

// SetProfile replaces the profile of a member of a kind, such as "user". The member need not be on a
// board. SetProfile retries and fails like Update.
func (c *Client) SetProfile(ctx context.Context, kind, member string, p Profile) error {
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("set the profile of %q: %w", member, err)
	}
	_, err = call[Profile](ctx, c, http.MethodPut, c.profileURL(kind, member), body, "set the profile of %q", member)
	return err
}

// Profile reads the profile of a member of a kind. It retries like Update. Its error wraps an *Error if
// the server refused: unknown_member for a member without a profile.
func (c *Client) Profile(ctx context.Context, kind, member string) (Profile, error) {
	return get[Profile](ctx, c, c.profileURL(kind, member), nil, "read the profile of %q", member)
}

// Reindexed is what Reindex has done.
type Reindexed struct {
	Profiles int64 // that the kind has
	Changed  int64 // texts that were missing in the index of names, or that belonged to no profile
}

// Reindex builds the index of names of a kind anew, from the profiles of its members: searches need it only where another
// program has changed the index. It takes minutes for a million profiles. It retries and fails like Update: it may be repeated.
func (c *Client) Reindex(ctx context.Context, kind string) (all Reindexed, err error) {
	type piece struct {
		Profiles int64  `json:"profiles"`
		Changed  int64  `json:"changed"`
		Cursor   string `json:"cursor"`
	}
	for cursor := ""; ; {
		at := c.base + "/v1/reindex/" + url.PathEscape(kind) + "?cursor=" + url.QueryEscape(cursor)
		done, err := call[piece](ctx, c, http.MethodPost, at, nil, "build the index of names of kind %q", kind)
		if err != nil {
			return all, err
		}
		all.Profiles += done.Profiles
		all.Changed += done.Changed
		if cursor = done.Cursor; cursor == "" {
			return all, nil
		}
	}
}

func (c *Client) profileURL(kind, member string) string {
	return c.base + "/v1/members/" + url.PathEscape(kind) + "/" + url.PathEscape(member)
}
