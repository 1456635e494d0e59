package pages

import (
	"compress/gzip"
	"fmt"
	"html/template"
	"io/fs"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v5"

	"rankcast/web"
)

// docPage is a page of the documentation, which is in English only: an entry of docs/pages.json, with what docs.html shows
// besides; see package web.
type docPage struct {
	page           `json:"-"`
	Slug           string        `json:"slug"`
	Title          string        `json:"title"`
	Contents       []docHeading  `json:"contents"`
	Body           template.HTML `json:"-"`
	Menu           []docLink     `json:"-"`
	Previous, Next *docLink      `json:"-"`
}

// docHeading is a heading of a page, with those of the next level below it.
type docHeading struct {
	Text   string       `json:"text"`
	Anchor string       `json:"anchor"`
	Below  []docHeading `json:"below"`
}

// docLink is a link to a page of the documentation.
type docLink struct {
	Slug, Title string
	Current     bool
}

// newDocs returns the pages of the documentation, in the order of the menu.
func newDocs(files fs.FS) (all []docPage, err error) {
	list, err := fs.ReadFile(files, "dist/docs/pages.json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, fmt.Errorf("docs/pages.json: %w", err)
	}
	return all, nil
}

// newDoc renders a page for a choice of settings.
func newDoc(files fs.FS, all []docPage, i int, chosen settings) (*asset, error) {
	const root = "../"
	english := locales[0]
	t, _, err := parsePage(files, "docs.html", english)
	if err != nil {
		return nil, err
	}
	d := all[i]
	body, err := fs.ReadFile(files, "dist/docs/"+d.Slug+".html")
	if err != nil {
		return nil, err
	}
	d.Body = template.HTML(body)
	d.page = page{Lang: english.name, LangTag: english.tag, Root: root, Home: root, Settings: chosen}
	for j, other := range all {
		d.Menu = append(d.Menu, docLink{other.Slug, other.Title, j == i})
	}
	if i > 0 {
		d.Previous = &d.Menu[i-1]
	}
	if i+1 < len(all) {
		d.Next = &d.Menu[i+1]
	}
	a, err := renderAsset(t, english, d, gzip.BestCompression)
	if err == nil {
		a.addVary("Cookie")
	}
	return a, err
}

func (s *Site) addDocs() {
	for i, d := range s.docs {
		s.get("/docs/"+d.Slug, func(c *echo.Context) error {
			look := lookOf(c.Request())
			a, err := s.fixed.Get(c.Request().Context(), optionsOf(d.Slug, look), func() (*asset, error) {
				return newDoc(web.Files, s.docs, i, look)
			})
			if err != nil {
				return err
			}
			return a.serve(c)
		})
		s.get("/docs/"+d.Slug+"/*", redirectTrailingSlashes)
	}
	first := s.docs[0].Slug
	s.get("/docs", func(c *echo.Context) error { return redirectForGood(c, "./docs/"+first) })
	s.get("/docs/", func(c *echo.Context) error { return redirectForGood(c, "./"+first) })
}
