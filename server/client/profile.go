package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
)

// Profile is what is shown beside a member's entries on all boards of its kind.
type Profile struct {
	// Name is 1 to 128 bytes of UTF-8 without control characters; "" for none.
	Name string `json:"name,omitzero"`
	// Avatar is an http or https URL, or a path of the site that shows it, up to 512
	// bytes; "" for none.
	Avatar string `json:"avatar,omitzero"`
}

// SetProfile sets the profile of a member of a kind, such as "user", in place of the one
// it had. It need be on no board. It is tried again as Update is; an error is an *Error
// where the server refused, or an ErrOutcomeUnknown.
func (c *Client) SetProfile(ctx context.Context, kind, member string, p Profile) error {
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("set the profile of %q: %w", member, err)
	}
	err = c.retry(ctx, func(ctx context.Context) error {
		var set Profile
		return c.do(ctx, http.MethodPut, c.profileURL(kind, member), body, &set)
	})
	if err != nil {
		return fmt.Errorf("set the profile of %q: %w", member, outcome(err))
	}
	return nil
}

// Profile reads the profile of a member of a kind. It is tried again as Update is. An
// error is an *Error where the server refused, unknown_member for one that has none.
func (c *Client) Profile(ctx context.Context, kind, member string) (Profile, error) {
	var p Profile
	if err := c.get(ctx, c.profileURL(kind, member), &p); err != nil {
		return Profile{}, fmt.Errorf("read the profile of %q: %w", member, err)
	}
	return p, nil
}

func (c *Client) profileURL(kind, member string) string {
	return c.base + "/v1/members/" + url.PathEscape(kind) + "/" + url.PathEscape(member)
}
