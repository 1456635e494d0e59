package gate

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
)

// rejectDotSegments refuses a path with a segment . or .., encoded or not. Most clients and proxies resolve such a
// segment: this one was sent as it is, and would name another resource behind another proxy.
func rejectDotSegments(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		if u := c.Request().URL; strings.Contains(u.Path, "/.") {
			for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
				if name, _ := url.PathUnescape(segment); name == "." || name == ".." {
					return definition.Invalid("path", fmt.Sprintf("has the segment %s, which clients and proxies resolve", segment))
				}
			}
		}
		return next(c)
	}
}
