package pages

import (
	"compress/gzip"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"
)

// docSlugs are the pages of the documentation, in the order of the menu. The page SLUG is the file
// docs/SLUG.md, and the first line of the file is the page's title.
var docSlugs = []string{"start", "boards", "events", "ingest", "http", "http-reference", "live", "live-reference", "pages", "terminal", "security", "deploy", "well", "operations", "monitoring", "capacity", "measured", "changes", "how"}

// docs is the documentation, ready to send. It is in English only.
type docs struct {
	pages []map[settings]func() *asset // in the order of docSlugs
	index *asset                       // what the search box searches
}

// docPage is the data of docs.html; see package web.
type docPage struct {
	page
	Title          string
	Body           template.HTML
	Contents       []docHeading
	Menu           []docLink
	Previous, Next *docLink
}

// docLink is a link to a page of the documentation.
type docLink struct {
	Slug, Title string
	Current     bool
}

// newDocs renders the documentation. The error names all faults of all pages.
func newDocs(files fs.FS) (*docs, error) {
	all, err := parseDocs(files)
	if err != nil {
		return nil, err
	}
	english := locales[0]
	t, _, err := parsePage(files, "docs.html", english)
	if err != nil {
		return nil, err
	}
	const root = "../"
	made := new(docs)
	var index []docSection
	for i, d := range all {
		body, err := d.render()
		if err != nil {
			return nil, fmt.Errorf("render docs/%s.md: %w", d.slug, err)
		}
		menu := menuOf(all, i)
		data := docPage{
			page:  page{Lang: english.name, LangTag: english.tag, Root: root, Home: root},
			Title: d.title(), Body: template.HTML(body), Contents: d.contents(), Menu: menu,
		}
		if i > 0 {
			data.Previous = &menu[i-1]
		}
		if i+1 < len(menu) {
			data.Next = &menu[i+1]
		}
		if err := t.Execute(io.Discard, data); err != nil { // so that no later request finds an error
			return nil, err
		}
		made.pages = append(made.pages, forSettings(func(chosen settings) (*asset, error) {
			data := data
			data.Settings = chosen
			a, err := renderAsset(t, english, data, gzip.BestCompression)
			if err == nil {
				a.addVary("Cookie")
			}
			return a, err
		}))
		index = append(index, d.sections()...)
	}
	if err := addKeywords(index, docKeywords); err != nil {
		return nil, err
	}
	b, err := json.Marshal(index)
	if err != nil {
		return nil, err
	}
	made.index, err = newAsset("search.json", b)
	return made, err
}

// parseDocs reads all pages and checks them: the text of each, and then the links between them.
func parseDocs(files fs.FS) ([]*doc, error) {
	names, err := fs.Glob(files, "docs/*")
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, name := range names {
		slug, isPage := strings.CutSuffix(strings.TrimPrefix(name, "docs/"), ".md")
		if !isPage || !slices.Contains(docSlugs, slug) {
			faults = append(faults, fmt.Errorf("%s is not a page of the documentation", name))
		}
	}
	anchors := make(map[string]map[string]bool) // of each page
	var all []*doc
	for _, slug := range docSlugs {
		source, err := fs.ReadFile(files, "docs/"+slug+".md")
		if err != nil {
			faults = append(faults, err)
			continue
		}
		d := parseDoc(slug, source)
		all = append(all, d)
		anchors[slug] = d.anchors()
		for _, fault := range d.faults {
			faults = append(faults, fmt.Errorf("docs/%s.md: %w", slug, fault))
		}
	}
	for _, d := range all {
		for _, fault := range d.resolveLinks(anchors) {
			faults = append(faults, fmt.Errorf("docs/%s.md: %w", d.slug, fault))
		}
	}
	return all, errors.Join(faults...)
}

// menuOf lists all pages and marks the current one.
func menuOf(all []*doc, current int) []docLink {
	menu := make([]docLink, len(all))
	for i, d := range all {
		menu[i] = docLink{d.slug, d.title(), i == current}
	}
	return menu
}

func (s *Site) addDocs() {
	for i, slug := range docSlugs {
		s.get("/docs/"+slug, func(c echo.Context) error { return s.docs().pages[i][lookOf(c.Request())]().serve(c) })
		s.get("/docs/"+slug+"/*", redirectTrailingSlashes)
	}
	s.get("/docs/search.json", func(c echo.Context) error { return s.docs().index.serve(c) })
	s.get("/docs", func(c echo.Context) error { return redirect(c, "./docs/"+docSlugs[0]) })
	s.get("/docs/", func(c echo.Context) error { return redirect(c, "./"+docSlugs[0]) })
}
