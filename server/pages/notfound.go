package pages

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"rankcast/ranking/definition"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"

	"github.com/labstack/echo/v5"
)

// maxDepth bounds the depth of a path for which the server answers with the page: the page refers to
// the root by as many "../".
const maxDepth = 64

// maxBoard bounds the name of a board on the page, in bytes.
const maxBoard = 300

// missing is what the page that was asked for is about, and does not exist. The zero value is another page.
type missing struct {
	Board, Event string
	AnyShow      bool // no event has a page
}

// notFoundFile is the page that answers a person's request for an unknown page, or for a page about what does not exist. How
// deep it stands depends on the request.
var notFoundFile = pageFile{file: "missing.html", styles: []string{"shared/base.css", settingsStyle}}

// ServeNotFound answers a request for an unknown page with a page, and reports whether it did. It leaves
// requests of programs, and paths that cannot be pages, to the caller. The answer has no entity tag: a
// 404 is never "not modified".
func (s *Site) ServeNotFound(c *echo.Context) (served bool, err error) {
	if !isPagePath(c.Request()) {
		return false, nil
	}
	c.Response().Header().Add("Vary", "Accept, Accept-Language") // beside Origin
	if !acceptsHTML(c.Request().Header.Values("Accept")) {
		return false, nil
	}
	err = s.serveNotFound(c, missing{})
	return err == nil || respond.HasBegun(c), err
}

// isBoardPage reports whether a request is for a page of a board.
func isBoardPage(c *echo.Context) bool { return strings.Contains(c.Path(), "/:board") }

// serveMissingBoard answers a request for a page of a board that does not exist. A program gets err. A
// person gets a page with the name of the board.
//
// The page asked for serves better in two cases, with the same status. An overlay, a wall, or a page in a frame says so in
// the picture that it is part of, and shows the board once there is one. The page of an unknown period links the
// periods that there are.
func (s *Site) serveMissingBoard(c *echo.Context, path string, asked func() (*asset, error), err error) error {
	inItsPlace := path == overlayPath || path == embedPath || path == wallPath || errors.Is(err, definition.ErrUnknownPeriod)
	if !inItsPlace || !acceptsHTML(c.Request().Header.Values("Accept")) {
		return s.serveMissing(c, missing{Board: request.PathValue(c, "board")}, err)
	}
	c.Response().Header().Add("Vary", "Accept, Accept-Language")
	page, err := asked()
	if err != nil {
		return err
	}
	return page.serveNotFound(c)
}

// serveMissing answers a request for a page about what does not exist: a program gets err, and a person the page of
// notFoundFile.
func (s *Site) serveMissing(c *echo.Context, what missing, err error) error {
	c.Response().Header().Add("Vary", "Accept, Accept-Language")
	if !acceptsHTML(c.Request().Header.Values("Accept")) {
		return err
	}
	return s.serveNotFound(c, what)
}

// serveNotFound answers with the page of notFoundFile.
func (s *Site) serveNotFound(c *echo.Context, what missing) error {
	r, h := c.Request(), c.Response().Header()
	t := s.notFound[localeOf(r)]()
	p := t.fixed
	what.Board, what.Event = printable(what.Board), printable(what.Event)
	p.Missing, p.Settings = what, lookOf(r)
	if p.Root = strings.Repeat("../", depth(r)); p.Root == "" {
		p.Root = "./"
	}
	p.Home = p.Root
	if r.URL.Query().Get("lang") == t.locale.name { // the link in the text, which no script changes
		p.Home += "?lang=" + t.locale.name
	}
	var b bytes.Buffer
	if err := t.template.Execute(&b, p); err != nil {
		return err
	}
	maps.Copy(h, newHeader(contentTypes[".html"]))
	h.Set(policyField, policyOf(s.cfg.AvatarOrigins, nil, t.styleHash, ""))
	h.Set("Content-Language", t.locale.tag)
	h.Add("Vary", "Cookie") // beside what the callers have added
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	return c.Blob(http.StatusNotFound, h.Get("Content-Type"), b.Bytes())
}

// printable shortens a name that a request holds, and makes it text.
func printable(name string) string {
	short := name[:min(len(name), maxBoard)]
	if len(short) < len(name) {
		short += "…"
	}
	return strings.ToValidUTF8(short, "\uFFFD")
}

// depth is the number of folders between a request's path and the root. A proxy may serve the root
// below a prefix, which it removes from all paths.
func depth(r *http.Request) int { return max(0, strings.Count(r.URL.EscapedPath(), "/")-1) }

// isPagePath reports whether a request may be for a page: not below /v1, /kit or /assets, which serve
// programs and pages.
func isPagePath(r *http.Request) bool {
	top, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	return get && top != "v1" && top != "kit" && top != "assets" && depth(r) <= maxDepth
}

// acceptsHTML reports whether Accept names HTML, as browsers do when a person opens an address.
// Programs and scripts accept anything, or JSON.
func acceptsHTML(accept []string) bool {
	for kind := range strings.SplitSeq(strings.ToLower(strings.Join(accept, ",")), ",") {
		if name, params, _ := strings.Cut(kind, ";"); strings.TrimSpace(name) == "text/html" && qvalue(params) > 0 {
			return true
		}
	}
	return false
}
