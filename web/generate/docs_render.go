package main

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	tableast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// render renders the page.
func (d *doc) render() ([]byte, error) {
	var b bytes.Buffer
	err := newMarkdown().Renderer().Render(&b, d.source, d.tree)
	return b.Bytes(), err
}

// docRenderer renders the kinds of nodes that need more than goldmark's own HTML.
type docRenderer struct{}

// RegisterFuncs is called by goldmark.
func (docRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, renderHeading)
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindCodeSpan, renderCodeSpan)
	r.Register(ast.KindLink, renderLink)
	r.Register(tableast.KindTable, renderTable)
	r.Register(tableast.KindTableHeader, renderTableHeader)
}

// renderHeading makes each heading but the title a link to itself.
func renderHeading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Heading)
	id, _ := n.AttributeString("id")
	switch {
	case n.Level == 1 && entering:
		fmt.Fprintf(w, `<h1 id="%s">`, id)
	case n.Level == 1:
		fmt.Fprint(w, "</h1>\n")
	case entering:
		fmt.Fprintf(w, `<h%d id="%s"><a href="#%s">`, n.Level, id, id)
	default:
		fmt.Fprintf(w, "</a></h%d>\n", n.Level)
	}
	return ast.WalkContinue, nil
}

// repositoryRoot begins the link of a page to a file of the repository.
const repositoryRoot = "../../"

// elsewhere matches the beginning of a link to another page, and to a document of the contract, as GitHub needs them.
var elsewhere = regexp.MustCompile(`^(?:[a-z-]+\.md|\.\./contract/)`)

// siteLink returns the address of a link on the site: boards.md#periods is boards#periods there, and the documents of the
// contract stand at the root.
func siteLink(to string) string {
	return elsewhere.ReplaceAllStringFunc(to, func(start string) string {
		if slug, isPage := strings.CutSuffix(start, ".md"); isPage {
			return slug
		}
		return "../"
	})
}

// renderLink renders a link. The site has no files of the repository: of a link to one it shows the path,
// if the text is the path or the end of it, and else the text alone.
func renderLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Link)
	path, isFile := strings.CutPrefix(string(n.Destination), repositoryRoot)
	switch {
	case isFile && entering && strings.HasSuffix(path, (&doc{source: source}).plainText(n)):
		fmt.Fprintf(w, "<code>%s</code>", wrapping(path))
		return ast.WalkSkipChildren, nil
	case isFile: // its text alone
	case entering:
		fmt.Fprintf(w, `<a href="%s">`, util.EscapeHTML(util.URLEscape([]byte(siteLink(string(n.Destination))), true)))
	default:
		fmt.Fprint(w, "</a>")
	}
	return ast.WalkContinue, nil
}

// codeCaptions are the captions of blocks by the word of the info string that says what they are, with
// the kind that the style sheet knows. Of the other words of an info string, one with a dot or a slash is
// the name of a file; the rest is for the test that runs the examples.
var codeCaptions = map[string]struct{ kind, caption string }{
	"output": {"output", "Output"}, "page": {"output", "On the page"},
	"receive": {"receive", "Received"}, "send": {"send", "Sent"}, "frame": {"frame", "Frame"},
}

// renderCode renders a block of code: its title, and the name of its copy button if readers may want
// to copy the block.
func renderCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.FencedCodeBlock)
	var language, kind, title string
	if n.Info != nil {
		var words string
		language, words, _ = strings.Cut(string(n.Info.Segment.Value(source)), " ")
		for word := range strings.FieldsSeq(words) {
			if known, is := codeCaptions[word]; is {
				kind, title = known.kind, known.caption
			} else if strings.ContainsAny(word, "./") {
				title = word
			}
		}
	}
	copies := "Copy the code"
	switch {
	case kind == "output", kind == "receive", kind == "frame", kind == "" && title == "" && language == "text":
		copies = "" // results and diagrams
	case kind == "" && title != "":
		copies = "Copy " + title
	case language == "sh":
		copies = "Copy the command"
	}
	fmt.Fprint(w, `<figure class="code"`)
	for _, attribute := range [][2]string{{"data-kind", kind}, {"data-copy", copies}} {
		if name, value := attribute[0], attribute[1]; value != "" {
			fmt.Fprintf(w, ` %s="%s"`, name, html.EscapeString(value))
		}
	}
	fmt.Fprint(w, ">")
	if title != "" {
		fmt.Fprintf(w, "<figcaption>%s</figcaption>", html.EscapeString(title))
	}
	code := string(n.Lines().Value(source))
	if language == "sh" || language == "json" {
		code = wrappingLines(code)
	} else {
		code = html.EscapeString(code)
	}
	fmt.Fprintf(w, "<pre><code>%s</code></pre></figure>\n", code)
	return ast.WalkContinue, nil
}
