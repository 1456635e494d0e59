package pages

import (
	"bytes"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// maxDepth is how many folders an address may be below the root to be answered with a
// page: the root is named in it by as many steps, and nobody types so many.
const maxDepth = 64

// notFoundPage is what a person gets who asks for a page that there is not, in each locale.
type notFoundPage []*template.Template

// newNotFoundPage makes it ready. It fails as renderPage does.
func newNotFoundPage(files fs.FS) (notFoundPage, error) {
	m := make(notFoundPage, len(locales))
	for i, l := range locales {
		var err error
		if m[i], _, err = parsePage(files, "missing.html", l); err != nil {
			return nil, err
		}
		if _, err := m.render(i, "./", "./"); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m notFoundPage) render(locale int, root, home string) ([]byte, error) {
	var b bytes.Buffer
	err := m[locale].Execute(&b, page{Lang: locales[locale].name, LangTag: locales[locale].tag, Root: root, Home: home})
	return b.Bytes(), err
}

// ServeNotFound answers a request for a page that there is not, and reports whether it did: it
// leaves to the caller what no page can have been meant by, or no person asks for. The answer has
// no entity tag: an answer 404 is never "not modified".
func (s *Site) ServeNotFound(c echo.Context) (served bool, err error) {
	if !mayBePage(c.Request()) {
		return false, nil
	}
	c.Response().Header().Set("Vary", "Accept, Accept-Language")
	if !acceptsHTML(c.Request().Header.Values("Accept")) {
		return false, nil
	}
	err = s.notFound.serve(c)
	return err == nil || c.Response().Committed, err
}

// serve answers with the page.
func (m notFoundPage) serve(c echo.Context) error {
	r, h := c.Request(), c.Response().Header()
	i := localeOf(r)
	root := strings.Repeat("../", depthOf(r))
	if root == "" {
		root = "./"
	}
	home := root
	if l := locales[i].name; r.URL.Query().Get("lang") == l { // no script of the page keeps it
		home += "?lang=" + l
	}
	b, err := m.render(i, root, home)
	if err != nil {
		return err
	}
	maps.Copy(h, headerOf(contentTypes[".html"]))
	h.Set("Content-Language", locales[i].tag)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	return c.Blob(http.StatusNotFound, h.Get("Content-Type"), b)
}

// depthOf is how many folders a request's address is below the root, wherever that is: a
// proxy has taken a prefix away from all addresses alike.
func depthOf(r *http.Request) int { return max(0, strings.Count(r.URL.EscapedPath(), "/")-1) }

// mayBePage reports whether a person may have meant a page by an address: there are none
// where programs and pages themselves ask.
func mayBePage(r *http.Request) bool {
	top, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	return get && top != "v1" && top != "kit" && top != "assets" && depthOf(r) <= maxDepth
}

// acceptsHTML reports whether Accept names HTML, as browsers do for what a person is to see.
// Programs, and the scripts of pages, say that they take anything, or JSON.
func acceptsHTML(accept []string) bool {
	for kind := range strings.SplitSeq(strings.ToLower(strings.Join(accept, ",")), ",") {
		if name, params, _ := strings.Cut(kind, ";"); strings.TrimSpace(name) == "text/html" && weight(params) > 0 {
			return true
		}
	}
	return false
}
