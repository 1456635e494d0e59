package main

import (
	"bufio"
	"bytes"
	"errors"
	"html"
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
		// By default goldmark aligns a cell by a style, which the content security policy forbids.
		goldmark.WithExtensions(extension.Linkify, extension.Strikethrough,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		// The first renderer of a kind of node is the one that counts.
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(docRenderer{}, 1))),
	)
}

// doc is a page of the documentation: a syntax tree, the source that the tree points into, and the headings.
type doc struct {
	slug     string
	source   []byte
	tree     ast.Node
	headings []docHeading // the first one is the title
}

// docHeading is a heading of a page.
type docHeading struct {
	Text   string       `json:"text"`
	Anchor string       `json:"anchor"`
	Below  []docHeading `json:"below,omitzero"` // headings of the next level; only contents fills it
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

// parseDoc parses a page.
func parseDoc(slug string, source []byte) (*doc, error) {
	d := &doc{slug: slug, source: source, tree: newMarkdown().Parser().Parse(text.NewReader(source))}
	d.inspect(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Heading:
			h := docHeading{Text: d.plainText(n), node: n}
			h.Anchor = anchorOf(h.Text)
			n.SetAttributeString("id", h.Anchor)
			d.headings = append(d.headings, h)
		case *tableast.Table:
			d.labelCells(n)
		}
	})
	if len(d.headings) == 0 || d.headings[0].node.Level != 1 || d.headings[0].node != d.tree.FirstChild() {
		return nil, errors.New("the first line is not the title: # Title")
	}
	return d, nil
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

func (d *doc) title() string { return d.headings[0].Text }

// contents are the headings of level 2, each with the headings of level 3 below it.
func (d *doc) contents() (found []docHeading) {
	for _, h := range d.headings {
		switch n := len(found); {
		case h.node.Level == 2:
			found = append(found, h)
		case h.node.Level == 3 && n > 0:
			found[n-1].Below = append(found[n-1].Below, h)
		}
	}
	return found
}

// sections splits the text of the page at its headings.
func (d *doc) sections() (found []docSection) {
	for n, i := d.tree.FirstChild(), 0; n != nil; n = n.NextSibling() {
		if i < len(d.headings) && d.headings[i].node == n {
			h := d.headings[i]
			found = append(found, docSection{
				Page: d.slug, Title: d.title(), Heading: h.Text, Anchor: h.Anchor, Reference: strings.HasSuffix(d.slug, "-reference"),
			})
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
	markdownhtml.DefaultWriter.Write(w, value) // in one pass: what it has resolved is no escape or entity again
	if n.SoftLineBreak() || n.HardLineBreak() {
		w.WriteByte(' ')
	}
	w.Flush() // a buffer returns no error
	return html.UnescapeString(b.String())
}
