package access

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"

	"rankcast/ranking/definition"
)

// tokenClaims are the claims of a token that count. The parser fills them by UnmarshalJSON, and validates them
// by the methods of jwt.RegisteredClaims. A claim that is null is left out.
type tokenClaims struct {
	jwt.RegisteredClaims
	ID       jsontext.Value `json:"jti,omitempty"`      // any value: it does not count
	Rankcast jsontext.Value `json:"rankcast,omitempty"` // a grantClaim
}

// grantClaim is the claim rankcast. Without it the viewer has the rights of anonymous alone.
type grantClaim struct {
	Boards []string `json:"boards,omitempty"` // patterns
	Events []string `json:"events,omitempty"` // patterns
}

// claimFault says what is wrong with the claims of a token.
type claimFault struct{ reason string }

func (f *claimFault) Error() string { return f.reason }

// UnmarshalJSON decodes all claims in place of the parser's own decoder. It refuses names that occur twice, and matches
// names with their case: another reader of the same token must not find other claims in it. Its error is a claimFault.
func (c *tokenClaims) UnmarshalJSON(b []byte) error {
	type plain tokenClaims // without this method
	if err := json.Unmarshal(b, (*plain)(c), readDate); err != nil {
		return newClaimFault("", err)
	}
	return nil
}

// newClaimFault words an error of the decoder, which quotes the claims. path is the claim that was decoded, or "".
func newClaimFault(path string, err error) *claimFault {
	claim := func(p jsontext.Pointer) string {
		for name := range p.Tokens() {
			path = definition.FieldPath(path, name)
		}
		return path
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	syntactic, _ := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, json.ErrUnknownName) && ok:
		return &claimFault{fmt.Sprintf("has the unknown field %s; want boards and events", claim(semantic.JSONPointer))}
	case errors.Is(err, jsontext.ErrDuplicateName) && syntactic != nil:
		return &claimFault{fmt.Sprintf("has the claim %s twice", claim(syntactic.JSONPointer))}
	case ok:
		switch name := claim(semantic.JSONPointer); name {
		case "":
		case "exp", "nbf", "iat":
			return &claimFault{fmt.Sprintf("has a claim %s that is not valid; want a number, seconds since 1970", name)}
		default:
			return &claimFault{fmt.Sprintf("has a claim %s that is not valid", name)}
		}
	}
	return &claimFault{"has claims that are not valid"}
}

// viewer is the viewer of valid claims, without the key. The error is a claimFault.
func (c *tokenClaims) viewer() (*Viewer, error) {
	switch {
	case c.ExpiresAt == nil:
		return nil, &claimFault{"lacks the claim exp"}
	case c.Subject == "":
		return nil, &claimFault{"lacks the claim sub"}
	}
	if reason := definition.TextFault(c.Subject, definition.MaxIDBytes); reason != "" {
		return nil, &claimFault{"has a claim sub that is no member: it " + reason}
	}
	var g grantClaim
	if c.Rankcast != nil && c.Rankcast.Kind() != 'n' {
		if err := json.Unmarshal(c.Rankcast, &g, json.RejectUnknownMembers(true)); err != nil {
			return nil, newClaimFault("rankcast", err)
		}
	}
	for _, list := range []struct {
		name     string
		patterns []string
	}{{"boards", g.Boards}, {"events", g.Events}} {
		if reason := patternsFault("rankcast."+list.name, list.patterns); reason != "" {
			return nil, &claimFault{"has a claim that is not valid: " + reason}
		}
	}
	return &Viewer{Sub: c.Subject, Boards: g.Boards, Events: g.Events, Expires: c.ExpiresAt.Add(tokenLeeway)}, nil
}

// patternsFault says what is wrong with a list of patterns at a path; "" for nothing.
func patternsFault(path string, list []string) string {
	if len(list) > maxPatterns {
		return fmt.Sprintf("%s has %d patterns; want at most %d", path, len(list), maxPatterns)
	}
	for i, pattern := range list {
		if reason := patternFault(pattern); reason != "" {
			return definition.ItemPath(path, i) + " " + reason
		}
	}
	return ""
}

// maxDate is in the year 6325. Times far beyond it overflow, or cannot be written as text.
const maxDate = 1 << 37

// readDate reads a time as a token has it: seconds since 1970, maybe with a fraction, which it drops (RFC 7519,
// section 2). The decoder of jwt.NumericDate also takes text, and any number.
var readDate = json.WithUnmarshalers(json.UnmarshalFunc(func(b []byte, d *jwt.NumericDate) error {
	seconds, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !(0 <= seconds && seconds <= maxDate) {
		return errors.New("want seconds since 1970")
	}
	d.Time = time.Unix(int64(seconds), 0)
	return nil
}))
