package pages

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tableast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	markdownhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// newMarkdown makes a parser and renderer of GitHub's Markdown.
func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.Table),
		// The first renderer of a kind of node is the one that counts.
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(docRenderer{}, 1))),
	)
}

// doc is a page of the documentation: a syntax tree, the source that the tree points into, and the
// headings. resolveLinks rewrites the links in the tree.
type doc struct {
	slug     string
	source   []byte
	tree     ast.Node
	headings []docHeading // the first one is the title
	faults   []error
}

// docHeading is a heading of a page.
type docHeading struct {
	Level  int
	Text   string
	Anchor string
	Below  []docHeading // headings of the next level; only contents fills it
	node   *ast.Heading
}

// docSection is what the search box knows of a heading and the text below it, up to the next heading.
type docSection struct {
	Page    string `json:"page"`    // slug
	Title   string `json:"title"`   // of the page
	Heading string `json:"heading"` // the title, for the text above the first heading
	Anchor  string `json:"anchor"`
	// Keywords are words that readers may search for, though the section has others.
	Keywords string `json:"keywords,omitempty"`
	Text     string `json:"text"`
	Code     string `json:"code,omitempty"` // the blocks of code
	// Reference marks a section of a reference, which a search lists after all others.
	Reference bool `json:"reference,omitempty"`
}

// parseDoc parses a page. Its faults are the parts that the pages don't allow.
func parseDoc(slug string, source []byte) *doc {
	d := &doc{slug: slug, source: source, tree: newMarkdown().Parser().Parse(text.NewReader(source))}
	d.inspect(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Heading:
			d.addHeading(n)
		case *tableast.Table:
			d.labelCells(n)
		case *ast.HTMLBlock, *ast.RawHTML:
			d.fault("raw HTML is not allowed; write tags as `code`")
		case *ast.CodeBlock:
			d.fault("the code %q is indented; write it between ``` lines", firstLine(n.Lines().Value(source)))
		case *ast.Image:
			d.fault("the image %q is not allowed", n.Destination)
		}
	})
	if len(d.headings) == 0 || d.headings[0].Level != 1 || d.headings[0].node != d.tree.FirstChild() {
		d.fault("the first line is not the title: # Title")
	}
	return d
}

func (d *doc) addHeading(n *ast.Heading) {
	h := docHeading{Level: n.Level, Text: d.plainText(n), node: n}
	h.Anchor = anchorOf(h.Text)
	switch {
	case h.Level == 1 && len(d.headings) > 0:
		d.fault("the heading %q is a second title; use ##", h.Text)
	case n.Parent() != d.tree:
		d.fault("the heading %q is inside a list or a quotation", h.Text)
	case h.Level > 3:
		d.fault("the heading %q is below ###", h.Text)
	case h.Level == 3 && !slices.ContainsFunc(d.headings, func(h docHeading) bool { return h.Level == 2 }):
		d.fault("the heading %q has no ## above it", h.Text)
	case h.Anchor == "":
		d.fault("the heading %q has no letters for an anchor", h.Text)
	case slices.ContainsFunc(d.headings, func(other docHeading) bool { return other.Anchor == h.Anchor }):
		d.fault("the heading %q stands there twice", h.Text)
	}
	for inner := n.FirstChild(); inner != nil; inner = inner.NextSibling() {
		if k := inner.Kind(); k == ast.KindLink || k == ast.KindAutoLink {
			d.fault("the heading %q has a link, but is one itself", h.Text)
		}
	}
	n.SetAttributeString("id", h.Anchor)
	d.headings = append(d.headings, h)
}

func (d *doc) fault(format string, args ...any) {
	d.faults = append(d.faults, fmt.Errorf(format, args...))
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}

// inspect calls visit for each node, in the order of the source.
func (d *doc) inspect(visit func(ast.Node)) { inspect(d.tree, visit) }

func inspect(tree ast.Node, visit func(ast.Node)) {
	// Walk fails only if the function fails.
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// anchorOf returns the anchor that GitHub gives a heading: its letters, digits, hyphens and
// underscores in lower case, with a hyphen for each space.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

func (d *doc) title() string {
	if len(d.headings) == 0 {
		return d.slug // a fault
	}
	return d.headings[0].Text
}

// anchors are the anchors of all headings.
func (d *doc) anchors() map[string]bool {
	found := make(map[string]bool)
	for _, h := range d.headings {
		found[h.Anchor] = true
	}
	return found
}

// contents are the headings of level 2, each with the headings of level 3 below it.
func (d *doc) contents() (found []docHeading) {
	for _, h := range d.headings {
		switch {
		case h.Level == 2:
			found = append(found, h)
		case h.Level == 3:
			last := &found[len(found)-1]
			last.Below = append(last.Below, h)
		}
	}
	return found
}

// sections splits the text of the page at its headings.
func (d *doc) sections() (found []docSection) {
	for n, i := d.tree.FirstChild(), 0; n != nil; n = n.NextSibling() {
		if i < len(d.headings) && d.headings[i].node == n {
			h := d.headings[i]
			found = append(found, docSection{Page: d.slug, Title: d.title(), Heading: h.Text, Anchor: h.Anchor, Reference: strings.HasSuffix(d.slug, "-reference")})
			i++
			continue
		}
		last := &found[len(found)-1]
		last.Text = strings.TrimSpace(last.Text + " " + d.plainText(n))
		last.Code = strings.TrimSpace(last.Code + " " + d.codeOf(n))
	}
	return found
}

// plainText is the text of a node as a reader sees it, in one line, with spaces between blocks. It has no
// blocks of code.
func (d *doc) plainText(n ast.Node) string {
	var words strings.Builder
	inspect(n, func(n ast.Node) {
		if n.Type() == ast.TypeBlock {
			words.WriteByte(' ')
		}
		switch n := n.(type) {
		case *ast.Text:
			words.WriteString(d.textOf(n))
		case *ast.AutoLink:
			words.Write(n.Label(d.source))
		}
	})
	return strings.Join(strings.Fields(words.String()), " ")
}

// codeOf is the code of the blocks of a node, in one line.
func (d *doc) codeOf(n ast.Node) string {
	var words []string
	inspect(n, func(n ast.Node) {
		if block, isCode := n.(*ast.FencedCodeBlock); isCode {
			words = append(words, strings.Fields(string(block.Lines().Value(d.source)))...)
		}
	})
	return strings.Join(words, " ")
}

// textOf is the text of a node without Markdown's escapes and entities.
func (d *doc) textOf(n *ast.Text) string {
	value := n.Segment.Value(d.source)
	if n.Parent().Kind() == ast.KindCodeSpan {
		return string(value)
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	markdownhtml.DefaultWriter.Write(w, value)
	if n.SoftLineBreak() || n.HardLineBreak() {
		w.WriteByte(' ')
	}
	w.Flush() // a buffer returns no error
	return html.UnescapeString(b.String())
}

// errNoTarget is why a link to a page fails.
var errNoTarget = errors.New("there is no such page or heading")

// resolveLinks turns links as GitHub needs them into links of the site: boards.md#periods becomes
// boards#periods. It returns an error for each link that leads nowhere. anchors are those of all pages.
func (d *doc) resolveLinks(anchors map[string]map[string]bool) (faults []error) {
	d.inspect(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			to, err := resolveLink(string(n.Destination), d.slug, anchors)
			if err != nil {
				faults = append(faults, fmt.Errorf("the link %q: %w", n.Destination, err))
			}
			n.Destination = []byte(to)
		case *ast.AutoLink:
			if to := n.URL(d.source); !isWebAddress(string(to)) {
				faults = append(faults, fmt.Errorf("%q becomes a link; write it as `code`", to))
			}
		}
	})
	return faults
}

// repositoryRoot begins the link of a page to a file of the repository.
const repositoryRoot = "../../"

// contractFolder begins the link of a page to a document of the contract, which the site has at its root.
const contractFolder = "../contract/"

// resolveLink returns the address of a link on the site. A link to a file of the repository stays as it is.
func resolveLink(to, from string, anchors map[string]map[string]bool) (string, error) {
	switch {
	case isWebAddress(to), strings.HasPrefix(to, repositoryRoot):
		return to, nil
	}
	if contract, ok := strings.CutPrefix(to, contractFolder); ok && slices.Contains(contractFiles, contract) {
		return "../" + contract, nil
	}
	name, anchor, hasAnchor := strings.Cut(to, "#")
	slug, isPage := from, true
	if name != "" {
		slug, isPage = strings.CutSuffix(name, ".md")
	}
	if found, known := anchors[slug]; !isPage || !known || hasAnchor && !found[anchor] {
		return "", errNoTarget
	}
	switch {
	case name == "":
		return to, nil
	case hasAnchor:
		return slug + "#" + anchor, nil
	}
	return slug, nil
}

func isWebAddress(to string) bool {
	return strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://")
}
