package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"rankcast/server/internal/problem"
)

// anyOrigin allows all origins, also the opaque one of pages from files ("null").
const anyOrigin = "*"

// corsOrigins are the origins of other sites whose pages may read and watch.
type corsOrigins []string

var hostname = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$`)

// CheckOrigin returns an error for a value that Config.Origins does not accept: one that is not an
// origin, or that no browser would send in that form.
func CheckOrigin(origin string) error {
	if origin == anyOrigin {
		return nil
	}
	u, err := url.Parse(strings.ToLower(origin))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("want http:// or https:// and a host, or * for all origins")
	}
	if u.Scheme+"://"+u.Host != strings.ToLower(origin) {
		return errors.New("want a scheme, a host and an optional port, and nothing after them")
	}
	host, port := u.Hostname(), u.Port()
	if strings.HasPrefix(u.Host, "[") {
		if ip, err := netip.ParseAddr(host); err != nil || ip.Zone() != "" || ip.String() != host {
			return fmt.Errorf("%q is not an IPv6 address in the form that browsers send", host)
		}
	} else if !hostname.MatchString(host) {
		return fmt.Errorf("%q is not a host name; want one without wildcards, international names as xn--…", host)
	}
	if strings.HasSuffix(u.Host, ":") {
		return errors.New("has a colon without a port")
	}
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port) {
		return fmt.Errorf("port %s is not valid; want 1 to 65535", port)
	}
	if port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		return fmt.Errorf("leave out :%s, as browsers do", port)
	}
	return nil
}

// privateReads are the reads that no page of another site may do: moderation, and whole boards.
var privateReads = map[string]bool{
	"/v1/audit": true, "/v1/hidden/:kind": true, "/v1/boards/:board/hidden": true, "/v1/boards/:board/export": true, "/v1/members/:kind/:member/erasure": true,
}

// allowReads sets the CORS headers that let pages of these origins read answers. It admits no
// request: rejectCrossOrigin decides on those.
func (o corsOrigins) allowReads(next echo.HandlerFunc) echo.HandlerFunc {
	if len(o) == 0 {
		return next
	}
	all := slices.Contains(o, anyOrigin)
	return func(c echo.Context) error {
		r, h := c.Request(), c.Response().Header()
		if r.Method != http.MethodGet && r.Method != http.MethodHead || !strings.HasPrefix(r.URL.Path, "/v1/") || privateReads[c.Path()] {
			return next(c)
		}
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		is := func(known string) bool { return strings.EqualFold(known, origin) }
		switch {
		case origin == "":
		case all:
			h.Set("Access-Control-Allow-Origin", anyOrigin)
		case slices.ContainsFunc(o, is):
			h.Set("Access-Control-Allow-Origin", origin)
		}
		return next(c)
	}
}

// rejectCrossOrigin refuses requests that change something and that a browser sends for a page of
// another site (CSRF). Requests of programs carry no origin and pass.
func rejectCrossOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	protection := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		if err := protection.Check(c.Request()); err != nil {
			return problem.ErrCrossOrigin
		}
		return next(c)
	}
}
