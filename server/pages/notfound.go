package pages

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"rankcast/ranking"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"

	"github.com/labstack/echo/v5"
)

// maxDepth bounds the depth of a path for which the server answers with the page: the page refers to
// the root by as many "../".
const maxDepth = 64

// maxBoard bounds the name of a board on the page, in bytes.
const maxBoard = 300

// notFoundPage answers a person's request for an unknown page, or for a page of an unknown board.
type notFoundPage struct {
	templates []*template.Template // for each locale
	style     template.CSS
	styleHash string
}

// newNotFoundPage parses the page and renders it once, so that no later request finds an error.
func newNotFoundPage(files fs.FS) (notFoundPage, error) {
	m := notFoundPage{templates: make([]*template.Template, len(locales))}
	var err error
	if m.style, m.styleHash, err = readStyle(files, "", []string{"shared/base.css", settingsStyle}); err != nil {
		return m, err
	}
	for i, l := range locales {
		if m.templates[i], _, err = parsePage(files, "missing.html", l); err != nil {
			return m, err
		}
		if _, err := m.render(i, page{Root: "./", Home: "./", Board: "board"}); err != nil {
			return m, err
		}
	}
	return m, nil
}

func (m notFoundPage) render(locale int, data page) ([]byte, error) {
	var b bytes.Buffer
	data.Lang, data.LangTag, data.Style = locales[locale].name, locales[locale].tag, m.style
	err := m.templates[locale].Execute(&b, data)
	return b.Bytes(), err
}

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
	err = s.serveNotFound(c, "")
	return err == nil || respond.HasBegun(c), err
}

// checkBoard returns an error if a request is for a page of a board, and there is no such board.
func checkBoard(c *echo.Context, check func(ctx context.Context, name string) error) error {
	if check == nil || !isBoardPage(c) {
		return nil
	}
	return check(c.Request().Context(), request.PathValue(c, "board"))
}

// isBoardPage reports whether a request is for a page of a board.
func isBoardPage(c *echo.Context) bool { return strings.Contains(c.Path(), "/:board") }

// serveMissingBoard answers a request for a page of a board that does not exist. A program gets err. A
// person gets a page with the name of the board.
//
// The page asked for serves better in two cases, with the same status. An overlay, or a page in a frame, says so in
// the picture that it is part of, and shows the board once there is one. The page of an unknown period links the
// periods that there are.
func (s *Site) serveMissingBoard(c *echo.Context, path string, asked func() *asset, err error) error {
	c.Response().Header().Add("Vary", "Accept, Accept-Language")
	switch {
	case !acceptsHTML(c.Request().Header.Values("Accept")):
		return err
	case path == overlayPath, path == embedPath, errors.Is(err, ranking.ErrUnknownPeriod):
		return asked().serveNotFound(c)
	default:
		return s.serveNotFound(c, request.PathValue(c, "board"))
	}
}

func (s *Site) serveNotFound(c *echo.Context, board string) error {
	m := s.notFound()
	c.Response().Header().Set(policyField, policyOf(s.cfg.AvatarOrigins, nil, m.styleHash))
	return m.serve(c, board)
}

// serve answers with the page. It names a board, if that is what does not exist; "" is none.
func (m notFoundPage) serve(c *echo.Context, board string) error {
	r, h := c.Request(), c.Response().Header()
	i := localeOf(r)
	root := strings.Repeat("../", depth(r))
	if root == "" {
		root = "./"
	}
	home := root
	if l := locales[i].name; r.URL.Query().Get("lang") == l { // the link in the text, which no script changes
		home += "?lang=" + l
	}
	b, err := m.render(i, page{Root: root, Home: home, Board: printable(board), Settings: lookOf(r)})
	if err != nil {
		return err
	}
	maps.Copy(h, newHeader(contentTypes[".html"]))
	h.Set("Content-Language", locales[i].tag)
	h.Add("Vary", "Cookie") // beside what the callers have added
	h.Set("Content-Length", strconv.Itoa(len(b)))
	return c.Blob(http.StatusNotFound, h.Get("Content-Type"), b)
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
