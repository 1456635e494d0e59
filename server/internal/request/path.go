package request

import (
	"net/url"

	"github.com/labstack/echo/v5"
)

// PathValue returns a decoded parameter of the path. Echo does not decode a path with an escaped
// slash.
func PathValue(c *echo.Context, name string) string {
	s := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return s
	}
	if decoded, err := url.PathUnescape(s); err == nil {
		return decoded
	}
	return s
}
