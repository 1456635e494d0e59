package server

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/labstack/echo/v4"

	"rankcast/web"
)

// policy keeps pages to what this server gives them.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pages are the templates that are served, and how each is reached. Paths in them are
// relative, so that all of this may be served below any prefix: root leads back to it.
var pages = []struct{ path, file, root string }{
	{"/", "dashboard.html", "./"},
	{"/boards/:board", "dashboard.html", "../"},
	{"/overlay/:board", "overlay.html", "../"},
	{"/stars", "stars.html", "./"},
}

// servePages serves the embedded pages and what they load, and gives the one for those that
// there are not. All is made ready here: what is wrong with a file shows when a server is made,
// and not to a reader.
func servePages(get func(path string, h echo.HandlerFunc), writes bool) missing {
	// The files are part of the binary.
	for _, p := range pages {
		variants := make([]*document, len(locales))
		for i, l := range locales {
			var err error
			if variants[i], err = renderPage(web.Files, p.file, l, p.root, writes); err != nil {
				panic(err)
			}
		}
		get(p.path, func(c echo.Context) error { return variants[localeOf(c.Request())].serve(c) })
		if p.path != "/" {
			get(p.path+"/*", withoutSlashes)
		}
	}
	get("/boards", func(c echo.Context) error { return moved(c, "./") })
	get("/boards/", func(c echo.Context) error { return moved(c, "../") })
	for _, folder := range []string{"assets", "kit"} {
		if err := serveFolder(get, web.Files, folder); err != nil {
			panic(err)
		}
	}
	m, err := newMissing(web.Files)
	if err != nil {
		panic(err)
	}
	return m
}

// withoutSlashes leads from a page's address with slashes behind it to the page, whose paths
// lead nowhere from there. Anything else below a page is none.
func withoutSlashes(c echo.Context) error {
	if strings.Trim(c.Param("*"), "/") != "" {
		return echo.ErrNotFound
	}
	address := c.Request().URL.EscapedPath()
	page := strings.TrimRight(address, "/")
	return moved(c, strings.Repeat("../", len(address)-len(page))+path.Base(page))
}

// moved leads to another address with the same query. It is relative to the one asked for,
// which may be below a prefix, and begins with a dot, so that no name in it passes for a host.
func moved(c echo.Context, to string) error {
	if query := c.Request().URL.RawQuery; query != "" {
		to += "?" + query
	}
	c.Response().Header().Set("Cache-Control", "no-cache") // as pages: else browsers keep it for good
	return c.Redirect(http.StatusPermanentRedirect, to)
}

// page is what a template is given; see the package web.
type page struct {
	Lang, LangTag string
	Root, Home    string
	Writes        bool
	Texts         map[string]string
	Preloads      []string
}

// parsePage makes the template of a page in one language, and the texts of that. To execute
// it fails where the page asks for a text that there is not.
func parsePage(files fs.FS, file string, l locale) (*template.Template, map[string]string, error) {
	texts, err := l.readTexts(files)
	if err != nil {
		return nil, nil, err
	}
	text := func(key string) (string, error) {
		if text, there := texts[key]; there {
			return text, nil
		}
		return "", fmt.Errorf("texts/%s.json has no %q", l.name, key)
	}
	t, err := template.New(file).Funcs(template.FuncMap{"text": text}).ParseFS(files, "pages/"+file, "pages/shared.html")
	return t, texts, err
}

// renderPage makes a page in one language.
func renderPage(files fs.FS, file string, l locale, root string, writes bool) (*document, error) {
	t, texts, err := parsePage(files, file, l)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(file, ".html")
	script := path.Join("assets", name, name+".js")
	preloads, err := modulesOf(files, script)
	if err != nil {
		return nil, err
	}
	for i := range preloads {
		preloads[i] = root + preloads[i]
	}
	var b bytes.Buffer
	if err := t.Execute(&b, page{l.name, l.tag, root, root, writes, texts, preloads}); err != nil {
		return nil, err
	}
	d, err := newDocument(file, b.Bytes())
	if err != nil {
		return nil, err
	}
	d.header.Set("Content-Language", l.tag)
	d.varyBy("Accept-Language")
	return d, nil
}

// serveFolder serves each file of a folder under its own path.
func serveFolder(get func(path string, h echo.HandlerFunc), files fs.FS, folder string) error {
	return fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		d, err := newDocument(name, content)
		if err != nil {
			return err
		}
		if strings.HasPrefix(name, "kit/") {
			// It is there for pages of other sites.
			d.header.Set("Access-Control-Allow-Origin", "*")
			d.header.Set("Cross-Origin-Resource-Policy", "cross-origin")
		}
		get("/"+name, d.serve)
		return nil
	})
}
