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

// anyOrigin stands for all origins, also of pages that have none, as those of files.
const anyOrigin = "*"

// corsOrigins are those of other sites whose pages may read and watch.
type corsOrigins []string

var hostname = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$`)

// CheckOrigin refuses what is no origin for Config.Origins, or what no browser would send.
func CheckOrigin(origin string) error {
	if origin == anyOrigin {
		return nil
	}
	u, err := url.Parse(strings.ToLower(origin))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("want http:// or https:// and a host, or * for all")
	}
	if u.Scheme+"://"+u.Host != strings.ToLower(origin) {
		return errors.New("want a scheme, a host and maybe a port, and nothing after them")
	}
	host, port := u.Hostname(), u.Port()
	if strings.HasPrefix(u.Host, "[") {
		if ip, err := netip.ParseAddr(host); err != nil || ip.Zone() != "" || ip.String() != host {
			return fmt.Errorf("%q is no IPv6 address as browsers write it", host)
		}
	} else if !hostname.MatchString(host) {
		return fmt.Errorf("%q is no name of a host; want one without wildcards, other letters as xn--…", host)
	}
	if strings.HasSuffix(u.Host, ":") {
		return errors.New("ends in a colon without a port")
	}
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port) {
		return fmt.Errorf("port %s is none", port)
	}
	if port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		return fmt.Errorf("leave out :%s, as browsers do", port)
	}
	return nil
}

// privateReads are the reads that are no page's of another site, whoever looks at it: what
// moderators do, and whole boards.
var privateReads = map[string]bool{
	"/v1/audit": true, "/v1/hidden/:kind": true, "/v1/boards/:board/hidden": true, "/v1/boards/:board/export": true, "/v1/members/:kind/:member/erasure": true,
}

// allowReads lets pages of these sites read the answers to what they ask. It lets no request
// through that was refused: that is rejectCrossOrigin's.
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

// rejectCrossOrigin refuses what another site's page has a browser send: nobody can ask
// for that but by a trick. Programs, which say nothing of a site, may.
func rejectCrossOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	protection := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		if err := protection.Check(c.Request()); err != nil {
			return problem.ErrCrossOrigin
		}
		return next(c)
	}
}
