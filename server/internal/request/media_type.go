package request

import (
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
	"rankcast/server/internal/problem"
)

// The media types of a body that the server asks for: JSON, and YAML (RFC 9512), which a definition may be.
const (
	JSONType = "application/json"
	YAMLType = "application/yaml"
)

// RequireJSON is middleware that refuses a body that cannot be JSON in UTF-8, with 415: one that is
// compressed, and one of another media type or charset, unless it is one of the others. It accepts also what simple clients
// send with JSON: no type at all, text/plain (fetch) and application/x-www-form-urlencoded (curl). Browsers send
// these types across sites without asking; the rule for origins refuses such requests.
func RequireJSON(next echo.HandlerFunc, others ...string) echo.HandlerFunc {
	wanted := append([]string{JSONType}, others...)
	return func(c *echo.Context) error {
		if c.Request().ContentLength == 0 {
			return next(c)
		}
		if err := CheckEncoding(c); err != nil {
			return err
		}
		media, err := MediaType(c, wanted...)
		if err != nil {
			return err
		}
		if slices.Contains(others, media) {
			return next(c)
		}
		switch media {
		case "", JSONType, "text/json", "text/plain", "application/x-www-form-urlencoded":
			return next(c)
		}
		if strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json") { // RFC 6839
			return next(c)
		}
		return UnsupportedType(c, wanted...)
	}
}

// CheckEncoding refuses a compressed body, with 415. The answer says so by Accept-Encoding (RFC 7694).
func CheckEncoding(c *echo.Context) error {
	for _, encoding := range c.Request().Header.Values("Content-Encoding") {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			c.Response().Header().Set("Accept-Encoding", "identity")
			return unsupported("Content-Encoding", fmt.Sprintf("is %q; want none: the server accepts no compressed body", definition.Clip(encoding)))
		}
	}
	return nil
}

// charsets are the names of UTF-8, and of its subset ASCII, in lower case.
var charsets = map[string]bool{"": true, "utf-8": true, "utf8": true, "us-ascii": true, "ascii": true}

// MediaType returns the media type of the body, in lower case and without parameters; "" for none. An
// error, with 415, names the wanted types: the type is malformed, or its charset is not UTF-8.
func MediaType(c *echo.Context, wanted ...string) (string, error) {
	values := c.Request().Header.Values(echo.HeaderContentType)
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		return "", nil
	case len(values) > 1:
		return "", UnsupportedType(c, wanted...)
	case values[0] == JSONType:
		return JSONType, nil // most requests, without the cost of the parameters
	}
	media, parameters, err := mime.ParseMediaType(values[0])
	if err != nil || !charsets[strings.ToLower(parameters["charset"])] {
		return "", UnsupportedType(c, wanted...)
	}
	return media, nil
}

// UnsupportedType is the error, with 415, for a body of any other than the wanted types. The answer also
// names these by Accept (RFC 9110, section 15.5.16).
func UnsupportedType(c *echo.Context, wanted ...string) error {
	c.Response().Header().Set(echo.HeaderAccept, strings.Join(wanted, ", "))
	came := strings.Join(c.Request().Header.Values(echo.HeaderContentType), ", ")
	is := "is missing"
	if came != "" {
		is = fmt.Sprintf("is %q", definition.Clip(came))
	}
	return unsupported(echo.HeaderContentType, fmt.Sprintf("%s; want %s, in UTF-8", is, strings.Join(wanted, " or ")))
}

func unsupported(header, reason string) error {
	return &definition.FieldError{Field: header, Reason: reason, Kind: problem.ErrUnsupportedMediaType}
}
