package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
)

// allDocs parses all pages of the documentation.
func allDocs(t *testing.T) (all []*doc) {
	for _, slug := range docSlugs {
		d, err := readDoc(source, slug)
		require.NoError(t, err)
		all = append(all, d)
	}
	return all
}

// The pages hold nothing that GitHub and the site would show in two ways, and each heading has one anchor.
func TestDocsAreOfOneForm(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(source, "docs/*")
	require.NoError(t, err)
	require.Len(t, names, len(docSlugs), "each file is a page of the menu")
	for _, d := range allDocs(t) {
		level, anchors := 1, make(map[string]bool)
		for i, h := range d.headings {
			require.NotEmpty(t, h.Anchor, "%s: %q", d.slug, h.Text)
			require.False(t, anchors[h.Anchor], "%s: the heading %q stands there twice", d.slug, h.Text)
			anchors[h.Anchor] = true
			require.Equal(t, i == 0, h.node.Level == 1, "%s: the heading %q is a second title", d.slug, h.Text)
			require.LessOrEqual(t, h.node.Level, min(level+1, 3), "%s: the heading %q is too deep", d.slug, h.Text)
			level = h.node.Level
			require.Equal(t, d.tree, h.node.Parent(), "%s: the heading %q is inside a list or a quotation", d.slug, h.Text)
			inspect(h.node, func(n ast.Node) {
				require.NotContains(t, []ast.NodeKind{ast.KindLink, ast.KindAutoLink}, n.Kind(),
					"%s: the heading %q has a link, but is one itself", d.slug, h.Text)
			})
		}
		d.inspect(func(n ast.Node) {
			switch n := n.(type) {
			case *ast.HTMLBlock, *ast.RawHTML:
				t.Errorf("%s: raw HTML; write tags as `code`", d.slug)
			case *ast.CodeBlock:
				t.Errorf("%s: indented code; write it between ``` lines: %s", d.slug, n.Lines().Value(d.source))
			case *ast.Image:
				t.Errorf("%s: the image %s", d.slug, n.Destination)
			case *ast.AutoLink:
				require.Regexp(t, "^https?://", string(n.URL(d.source)), "%s: it becomes a link; write it as `code`", d.slug)
			}
		})
	}
	_, err = parseDoc("boards", []byte("Text\n\n# Boards\n"))
	require.ErrorContains(t, err, "the first line is not the title")
}

// The site shows what GitHub shows, with links of its own.
func TestDocsRendering(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, html string }{
		{"## A `b_c`, d & e-f: 星 1.5!",
			`<h2 id="a-b_c-d--e-f-星-15"><a href="#a-b_c-d--e-f-星-15">A <code class="whole">b_c</code>, d &amp; e-f: 星 1.5!</a></h2>`},
		{"[x](#boards)", `<p><a href="#boards">x</a></p>`},
		{"[x](start.md) [y](start.md#two)", `<p><a href="start">x</a> <a href="start#two">y</a></p>`},
		{"[x](boards.md#boards)", `<p><a href="boards#boards">x</a></p>`},
		{"[x](https://a.example/?b=1&c=2#d)", `<p><a href="https://a.example/?b=1&amp;c=2#d">x</a></p>`},
		{"<http://127.0.0.1:8080/stars>", `<p><a href="http://127.0.0.1:8080/stars">http://127.0.0.1:8080/stars</a></p>`},
		{"[`ranking/doc.go`](../../ranking/doc.go) [the *view*](../../hub/view)",
			`<p><code>ranking/<wbr class="narrow">doc.go</code> the <em>view</em></p>`},
		{"[doc.go](../../ranking/feed/doc.go) [its `README`](../../README.md)",
			`<p><code>ranking/<wbr class="narrow">feed/<wbr class="narrow">doc.go</code> its <code class="whole">README</code></p>`},
		{"```sh\na <b>\n  c\n```", `<figure class="code" data-copy="Copy the command"><pre><code><span class="line">a &lt;b&gt;` +
			"\n" + `</span><span class="line">  c` + "\n" + `</span></code></pre></figure>`},
		{"```sh server\na\n```", `<figure class="code" data-copy="Copy the command"><pre><code><span class="line">a` + "\n" +
			`</span></code></pre></figure>`},
		{"```json output\n1\n```", `<figure class="code" data-kind="output"><figcaption>Output</figcaption><pre><code><span class="line">1` +
			"\n" + `</span></code></pre></figure>`},
		{"```json receive\n1\n```", `<figure class="code" data-kind="receive"><figcaption>Received</figcaption><pre><code><span class="line">1` +
			"\n" + `</span></code></pre></figure>`},
		{"```json frame\n1\n```", `<figure class="code" data-kind="frame"><figcaption>Frame</figcaption><pre><code><span class="line">1` + "\n" +
			`</span></code></pre></figure>`},
		{"```json send\n1\n```",
			`<figure class="code" data-kind="send" data-copy="Copy the code"><figcaption>Sent</figcaption><pre><code><span class="line">1` + "\n" +
				`</span></code></pre></figure>`},
		{"```text page\n1\n```", `<figure class="code" data-kind="output"><figcaption>On the page</figcaption><pre><code>1` + "\n" +
			`</code></pre></figure>`},
		{"```html page.html file\n1\n```", `<figure class="code" data-copy="Copy page.html"><figcaption>page.html</figcaption><pre><code>1` +
			"\n" + `</code></pre></figure>`},
		{"```html page.html\n1\n```", `<figure class="code" data-copy="Copy page.html"><figcaption>page.html</figcaption><pre><code>1` + "\n" +
			`</code></pre></figure>`},
		{"```text\n1\n```", `<figure class="code"><pre><code>1` + "\n" + `</code></pre></figure>`},
		{"```\n1\n```", `<figure class="code" data-copy="Copy the code"><pre><code>1` + "\n" + `</code></pre></figure>`},
		{"```sh\ncurl --no-buffer -d '{\"a\":-1,\"b\":2}' http://a.example/v1\n```",
			`<figure class="code" data-copy="Copy the command"><pre><code><span class="line">curl <span ` +
				`class="whole">--no-buffer</span> <span class="whole">-d</span> &#39;{&#34;a&#34;<span class="whole">:-1</span>,` +
				`<wbr>&#34;b&#34;:2}&#39; http://a.example/<wbr class="narrow">v1` + "\n" + `</span></code></pre></figure>`},
		{"`--two words`", `<p><code class="whole">--two words</code></p>`},
		{"`" + strings.Repeat("x", 31) + "\n--origins`",
			`<p><code>` + strings.Repeat("x", 31) + ` <span class="whole">--origins</span></code></p>`},
		{"|a|b|c|\n|-|-|-|\n|`" + strings.Repeat("x", 23) + "`|`" + strings.Repeat("x", 22) + "`|`" + strings.Repeat("x", 23) + "`|",
			"<div class=\"table stack\">\n<table role=\"table\">\n<thead role=\"rowgroup\">\n<tr role=\"row\">\n" +
				"<th role=\"columnheader\">a</th>\n<th role=\"columnheader\">b</th>\n<th " +
				"role=\"columnheader\">c</th>\n</tr>\n</thead>\n<tbody role=\"rowgroup\">\n<tr role=\"row\">\n" +
				"<td role=\"cell\"><code class=\"whole\">" + strings.Repeat("x",
				23) + "</code></td>\n<td role=\"cell\" data-label=\"b\"><code class=\"whole\">" + strings.Repeat("x", 22) + "</code></td>\n" +
				"<td role=\"cell\" data-label=\"c\"><code>" + strings.Repeat("x", 23) + "</code></td>\n</tr>\n</tbody>\n</table>\n</div>"},
		{"`x-" + strings.Repeat("x", 31) + "`", `<p><code>x-` + strings.Repeat("x", 31) + `</code></p>`},
		{"|a||\n|-|-|\n|1|2|",
			"<div class=\"table\">\n<table>\n<thead>\n<tr>\n<th>a</th>\n<th role=\"cell\"></th>\n</tr>\n</thead>" +
				"\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>\n</div>"},
		{"|||\n|-|-|\n|1|2|", "<div class=\"table\">\n<table>\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>\n</div>"},
		{"|a|b|\n|-|-:|\n|1|2|",
			"<div class=\"table\">\n<table>\n<thead>\n<tr>\n<th>a</th>\n<th " +
				"align=\"right\">b</th>\n</tr>\n</thead>" +
				"\n<tbody>\n<tr>\n<td>1</td>\n<td align=\"right\">2</td>\n</tr>\n</tbody>\n</table>\n</div>"},
		// Three columns, and a long first cell: on a phone, each row becomes a block.
		{"|a|`b`|c|\n|-|-|-|\n|1||3|",
			"<div class=\"table stack\">\n<table role=\"table\">\n<thead role=\"rowgroup\">\n<tr role=\"row\">\n<th role=\"columnheader\">a</th>\n" +
				"<th role=\"columnheader\"><code class=\"whole\">b</code></th>\n<th " +
				"role=\"columnheader\">c</th>\n</tr>\n</thead>\n<tbody role=\"rowgroup\">\n<tr role=\"row\">\n" +
				"<td role=\"cell\">1</td>\n<td role=\"cell\" data-label=\"b\"></td>\n<td role=\"cell\" " +
				"data-label=\"c\">3</td>\n</tr>\n</tbody>\n</table>\n</div>"},
		{"|||\n|-|-|\n|" + strings.Repeat("x", 25) + "|2|",
			"<div class=\"table stack\">\n<table role=\"table\">\n<tbody role=\"rowgroup\">\n<tr role=\"row\">\n" +
				"<td role=\"cell\">" + strings.Repeat("x", 25) + "</td>\n<td role=\"cell\">2</td>\n</tr>\n</tbody>\n</table>\n</div>"},
	} {
		d, err := parseDoc("boards", []byte("# Boards\n\n"+c.text+"\n"))
		require.NoError(t, err)
		html, err := d.render()
		require.NoError(t, err)
		require.Equal(t, "<h1 id=\"boards\">Boards</h1>\n"+c.html, strings.TrimSpace(string(html)), c.text)
	}
}

// The index has the words of a section as a reader sees them.
func TestDocsSections(t *testing.T) {
	t.Parallel()
	d, err := parseDoc("boards",
		[]byte("# Boards\n\nAn *a* \\* &amp; \\&lt; &amp;#42; `b`\n[c](start.md)\n\n- one\n- two\n\n## `Keys`\n|x|y|\n|-|-|\n|1|2|\n\n### "+
			"Deep\ntext\n```sh\necho <1>\n```\n## Last\n"))
	require.NoError(t, err)
	require.Equal(t, []docSection{
		{"boards", "Boards", "Boards", "boards", "", "An a * & &lt; &#42; b c one two", "", false},
		{"boards", "Boards", "Keys", "keys", "", "x y 1 2", "", false},
		{"boards", "Boards", "Deep", "deep", "", "text", "echo <1>", false},
		{"boards", "Boards", "Last", "last", "", "", "", false},
	}, d.sections())
	reference, err := parseDoc("http-reference", []byte("# Reference\n"))
	require.NoError(t, err)
	require.True(t, reference.sections()[0].Reference)
	require.Equal(t, []string{"Keys", "Last"}, []string{d.contents()[0].Text, d.contents()[1].Text})
	require.Equal(t, "deep", d.contents()[0].Below[0].Anchor)
}

// Each line of keywords is of a section that there is.
func TestDocsKeywords(t *testing.T) {
	t.Parallel()
	var keywords map[string]string
	require.NoError(t, json.Unmarshal(docKeywords, &keywords))
	for _, d := range allDocs(t) {
		for _, h := range d.headings {
			delete(keywords, d.slug+"#"+h.Anchor)
		}
	}
	require.Empty(t, keywords)
}

// README and the pages lead to headings, pages and files that the repository has. The site has the pages and the contract.
func TestLinksOfTheRepository(t *testing.T) {
	t.Parallel()
	const root = "../../"
	pages := map[string]*doc{}
	for _, d := range allDocs(t) {
		pages["web/docs/"+d.slug+".md"] = d
	}
	text, err := os.ReadFile(root + "README.md")
	require.NoError(t, err)
	pages["README.md"], err = parseDoc("README", text)
	require.NoError(t, err)
	check := func(file, to string) {
		if strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://") {
			return
		}
		path, anchor, hasAnchor := strings.Cut(to, "#")
		if path == "" {
			path = file
		} else {
			path = filepath.ToSlash(filepath.Join(filepath.Dir(file), path))
		}
		_, err := os.Stat(root + path)
		require.NoError(t, err, "%s: %s", file, to)
		if hasAnchor {
			require.Contains(t, pages, path, "%s: %s", file, to)
			require.True(t, slices.ContainsFunc(pages[path].headings, func(h docHeading) bool { return h.Anchor == anchor }), "%s: %s", file, to)
		}
		onSite := pages[path] != nil && path != "README.md" || strings.HasPrefix(path, "web/contract/")
		require.True(t, onSite || file == "README.md" || strings.HasPrefix(to, repositoryRoot), "%s: %s would be a link of the site", file, to)
	}
	for file, d := range pages {
		d.inspect(func(n ast.Node) {
			switch n := n.(type) {
			case *ast.Link:
				check(file, string(n.Destination))
			case *ast.Image:
				check(file, string(n.Destination))
			}
		})
	}
	// The pictures of README may be HTML.
	withoutCode := regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(string(text), "")
	for _, link := range regexp.MustCompile(`(?:href|src|srcset)="([^"]+)"`).FindAllStringSubmatch(withoutCode, -1) {
		check("README.md", link[1])
	}
}
