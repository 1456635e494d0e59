package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// docSlugs are the pages of the documentation, in the order of the menu. The page SLUG is the file
// docs/SLUG.md, and the first line of the file is the page's title.
var docSlugs = []string{
	"start", "boards", "events", "ingest", "http", "http-reference", "live", "live-reference", "pages", "terminal",
	"security", "deploy", "well", "show", "final", "operations", "monitoring", "capacity", "hot", "measured", "changes", "how",
}

// docKeywords are words that readers may search for, by PAGE#ANCHOR of a section. The words of the section itself need
// not be here. Where Rankcast lacks what a word means, the section says what to do instead.
//
//go:embed keywords.json
var docKeywords []byte

// docPage is what package server/pages knows of a page, besides its body.
type docPage struct {
	Slug     string       `json:"slug"`
	Title    string       `json:"title"`
	Contents []docHeading `json:"contents"`
}

// docsFiles returns the documentation: the list of the pages, the body of each, and the index that the search box searches.
func docsFiles(web fs.FS) (map[string][]byte, error) {
	var keywords map[string]string
	if err := json.Unmarshal(docKeywords, &keywords); err != nil {
		return nil, fmt.Errorf("keywords.json: %w", err)
	}
	files := make(map[string][]byte)
	var list []docPage
	var index [][]byte // a line for each section, so that a change of one is a change of its line
	for _, slug := range docSlugs {
		d, err := readDoc(web, slug)
		if err != nil {
			return nil, err
		}
		if files["docs/"+slug+".html"], err = d.render(); err != nil {
			return nil, fmt.Errorf("docs/%s.md: %w", slug, err)
		}
		list = append(list, docPage{slug, d.title(), d.contents()})
		for _, s := range d.sections() {
			s.Keywords = keywords[slug+"#"+s.Anchor]
			line, err := json.Marshal(s)
			if err != nil {
				return nil, err
			}
			index = append(index, line)
		}
	}
	files["docs/search.json"] = fmt.Appendf(nil, "[%s]\n", bytes.Join(index, []byte(",\n")))
	var err error
	files["docs/pages.json"], err = json.Marshal(list, jsontext.WithIndent("\t"))
	return files, err
}

func readDoc(web fs.FS, slug string) (*doc, error) {
	name := "docs/" + slug + ".md"
	source, err := fs.ReadFile(web, name)
	if err != nil {
		return nil, err
	}
	d, err := parseDoc(slug, source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}
