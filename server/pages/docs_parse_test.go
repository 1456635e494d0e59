package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"

	"rankcast/web"
)

// docFiles returns the files of all pages, with these texts by slug.
func docFiles(texts map[string]string) fstest.MapFS {
	files := make(fstest.MapFS)
	for _, slug := range docSlugs {
		files["docs/"+slug+".md"] = &fstest.MapFile{Data: []byte("# Page " + slug + "\n")}
	}
	for slug, text := range texts {
		files["docs/"+slug+".md"] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// A page of the documentation with a fault is an error that says where.
func TestInvalidDocs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, says string }{
		{"# Boards\n\nText with `<b>`.\n\n## One\n\n### Two\n", ""},
		{"", "docs/boards.md: the first line is not the title"},
		{"Text\n\n# Boards\n", "the first line is not the title"},
		{"## Boards\n", "the first line is not the title"},
		{"# Boards\n# More\n", `the heading "More" is a second title`},
		{"# Boards\n## One\n#### Two\n", `the heading "Two" is below ###`},
		{"# Boards\n### Two\n", `the heading "Two" has no ## above it`},
		{"# Boards\n## One\n## `one`\n", `the heading "one" stands there twice`},
		{"# Boards\n## Boards\n", `the heading "Boards" stands there twice`},
		{"# Boards\n## …\n", `the heading "…" has no letters`},
		{"# Boards\n## [Start](start.md)\n", `the heading "Start" has a link`},
		{"# Boards\n- ## One\n", `the heading "One" is inside a list`},
		{"# Boards\n\nText <b>bold</b>\n", "raw HTML is not allowed"},
		{"# Boards\n\n<p>Text</p>\n", "raw HTML is not allowed"},
		{"# Boards\n\n<!-- Text -->\n", "raw HTML is not allowed"},
		{"# Boards\n\n    code\n", `the code "code" is indented`},
		{"# Boards\n\n![Stars](../pictures/stars.png)\n", `the image "../pictures/stars.png" is not allowed`},
		{"# Boards\n\n[x](#nothing)\n", `the link "#nothing": there is no such page or heading`},
		{"# Boards\n\n[x](start.md#nothing)\n", `the link "start.md#nothing"`},
		{"# Boards\n\n[x](start)\n", `the link "start"`},
		{"# Boards\n\n[x](nothing.md)\n", `the link "nothing.md"`},
		{"# Boards\n\n[x](../pictures/stars.png)\n", `the link "../pictures/stars.png"`},
		{"# Boards\n\n[x](/stars)\n", `the link "/stars"`},
		{"# Boards\n\n[x](javascript:alert())\n", `the link "javascript:alert()"`},
		{"# Boards\n\n[x][y]\n\n[y]: nothing.md\n", `the link "nothing.md"`},
		{"# Boards\n\nWrite to ann@example.com\n", `"ann@example.com" becomes a link`},
	} {
		_, err := parseDocs(docFiles(map[string]string{"boards": c.text}))
		if c.says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.says, c.text)
		require.ErrorContains(t, err, "docs/boards.md: ")
	}
	files := docFiles(nil)
	delete(files, "docs/how.md")
	files["docs/other.md"] = &fstest.MapFile{Data: []byte("# Other\n")}
	_, err := parseDocs(files)
	require.ErrorContains(t, err, "docs/how.md")
	require.ErrorContains(t, err, "docs/other.md is not a page")
}

// The site shows what GitHub shows, with links of its own.
func TestDocsRendering(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, html string }{
		{"## A `b_c`, d & e-f: 星 1.5!", `<h2 id="a-b_c-d--e-f-星-15"><a href="#a-b_c-d--e-f-星-15">A <code class="whole">b_c</code>, d &amp; e-f: 星 1.5!</a></h2>`},
		{"[x](#boards)", `<p><a href="#boards">x</a></p>`},
		{"[x](start.md) [y](start.md#two)", `<p><a href="start">x</a> <a href="start#two">y</a></p>`},
		{"[x](boards.md#boards)", `<p><a href="boards#boards">x</a></p>`},
		{"[x](https://a.example/?b=1&c=2#d)", `<p><a href="https://a.example/?b=1&amp;c=2#d">x</a></p>`},
		{"<http://127.0.0.1:8080/stars>", `<p><a href="http://127.0.0.1:8080/stars">http://127.0.0.1:8080/stars</a></p>`},
		{"[`ranking/doc.go`](../../ranking/doc.go) [the *view*](../../hub/view)", `<p><code>ranking/<wbr class="narrow">doc.go</code> the <em>view</em></p>`},
		{"[doc.go](../../ranking/feed/doc.go) [its `README`](../../README.md)", `<p><code>ranking/<wbr class="narrow">feed/<wbr class="narrow">doc.go</code> its <code class="whole">README</code></p>`},
		{"```sh\na <b>\n  c\n```", `<figure class="code" data-copy="Copy the command"><pre><code><span class="line">a &lt;b&gt;` + "\n" + `</span><span class="line">  c` + "\n" + `</span></code></pre></figure>`},
		{"```sh server\na\n```", `<figure class="code" data-copy="Copy the command"><pre><code><span class="line">a` + "\n" + `</span></code></pre></figure>`},
		{"```json output\n1\n```", `<figure class="code" data-kind="output"><figcaption>Output</figcaption><pre><code><span class="line">1` + "\n" + `</span></code></pre></figure>`},
		{"```json receive\n1\n```", `<figure class="code" data-kind="receive"><figcaption>Received</figcaption><pre><code><span class="line">1` + "\n" + `</span></code></pre></figure>`},
		{"```json frame\n1\n```", `<figure class="code" data-kind="frame"><figcaption>Frame</figcaption><pre><code><span class="line">1` + "\n" + `</span></code></pre></figure>`},
		{"```json send\n1\n```", `<figure class="code" data-kind="send" data-copy="Copy the code"><figcaption>Sent</figcaption><pre><code><span class="line">1` + "\n" + `</span></code></pre></figure>`},
		{"```text page\n1\n```", `<figure class="code" data-kind="output"><figcaption>On the page</figcaption><pre><code>1` + "\n" + `</code></pre></figure>`},
		{"```html page.html file\n1\n```", `<figure class="code" data-copy="Copy page.html"><figcaption>page.html</figcaption><pre><code>1` + "\n" + `</code></pre></figure>`},
		{"```html page.html\n1\n```", `<figure class="code" data-copy="Copy page.html"><figcaption>page.html</figcaption><pre><code>1` + "\n" + `</code></pre></figure>`},
		{"```text\n1\n```", `<figure class="code"><pre><code>1` + "\n" + `</code></pre></figure>`},
		{"```\n1\n```", `<figure class="code" data-copy="Copy the code"><pre><code>1` + "\n" + `</code></pre></figure>`},
		{"```sh\ncurl --no-buffer -d '{\"a\":-1,\"b\":2}' http://a.example/v1\n```", `<figure class="code" data-copy="Copy the command"><pre><code><span class="line">curl <span class="whole">--no-buffer</span> <span class="whole">-d</span> &#39;{&#34;a&#34;<span class="whole">:-1</span>,<wbr>&#34;b&#34;:2}&#39; http://a.example/<wbr class="narrow">v1` + "\n" + `</span></code></pre></figure>`},
		{"`--two words`", `<p><code class="whole">--two words</code></p>`},
		{"`" + strings.Repeat("x", 31) + "\n--origins`", `<p><code>` + strings.Repeat("x", 31) + ` <span class="whole">--origins</span></code></p>`},
		{"|a|b|c|\n|-|-|-|\n|`" + strings.Repeat("x", 23) + "`|`" + strings.Repeat("x", 22) + "`|`" + strings.Repeat("x", 23) + "`|", "<div class=\"table stack\">\n<table role=\"table\">\n<thead role=\"rowgroup\">\n<tr role=\"row\">\n" +
			"<th role=\"columnheader\">a</th>\n<th role=\"columnheader\">b</th>\n<th role=\"columnheader\">c</th>\n</tr>\n</thead>\n<tbody role=\"rowgroup\">\n<tr role=\"row\">\n" +
			"<td role=\"cell\"><code class=\"whole\">" + strings.Repeat("x", 23) + "</code></td>\n<td role=\"cell\" data-label=\"b\"><code class=\"whole\">" + strings.Repeat("x", 22) + "</code></td>\n" +
			"<td role=\"cell\" data-label=\"c\"><code>" + strings.Repeat("x", 23) + "</code></td>\n</tr>\n</tbody>\n</table>\n</div>"},
		{"`x-" + strings.Repeat("x", 31) + "`", `<p><code>x-` + strings.Repeat("x", 31) + `</code></p>`},
		{"|a||\n|-|-|\n|1|2|", "<div class=\"table\">\n<table>\n<thead>\n<tr>\n<th>a</th>\n<td></td>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>\n</div>"},
		{"|||\n|-|-|\n|1|2|", "<div class=\"table\">\n<table>\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>\n</div>"},
		{"|a|b|\n|-|-:|\n|1|2|", "<div class=\"table\">\n<table>\n<thead>\n<tr>\n<th>a</th>\n<th align=\"right\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td align=\"right\">2</td>\n</tr>\n</tbody>\n</table>\n</div>"},
		// Three columns, and a long first cell: on a phone, each row becomes a block.
		{"|a|`b`|c|\n|-|-|-|\n|1||3|", "<div class=\"table stack\">\n<table role=\"table\">\n<thead role=\"rowgroup\">\n<tr role=\"row\">\n<th role=\"columnheader\">a</th>\n" +
			"<th role=\"columnheader\"><code class=\"whole\">b</code></th>\n<th role=\"columnheader\">c</th>\n</tr>\n</thead>\n<tbody role=\"rowgroup\">\n<tr role=\"row\">\n" +
			"<td role=\"cell\">1</td>\n<td role=\"cell\" data-label=\"b\"></td>\n<td role=\"cell\" data-label=\"c\">3</td>\n</tr>\n</tbody>\n</table>\n</div>"},
		{"|||\n|-|-|\n|" + strings.Repeat("x", 25) + "|2|", "<div class=\"table stack\">\n<table role=\"table\">\n<tbody role=\"rowgroup\">\n<tr role=\"row\">\n" +
			"<td role=\"cell\">" + strings.Repeat("x", 25) + "</td>\n<td role=\"cell\">2</td>\n</tr>\n</tbody>\n</table>\n</div>"},
	} {
		all, err := parseDocs(docFiles(map[string]string{"boards": "# Boards\n\n" + c.text + "\n", "start": "# Start\n## Two\n"}))
		require.NoError(t, err)
		html, err := all[1].render()
		require.NoError(t, err)
		require.Equal(t, "<h1 id=\"boards\">Boards</h1>\n"+c.html, strings.TrimSpace(html), c.text)
	}
}

// The index has the words of a section as a reader sees them.
func TestDocsSections(t *testing.T) {
	t.Parallel()
	d := parseDoc("boards", []byte("# Boards\n\nAn *a* \\* &amp; `b`\n[c](start.md)\n\n- one\n- two\n\n## `Keys`\n|x|y|\n|-|-|\n|1|2|\n\n### Deep\ntext\n```sh\necho <1>\n```\n## Last\n"))
	require.Empty(t, d.faults)
	require.Equal(t, []docSection{
		{"boards", "Boards", "Boards", "boards", "", "An a * & b c one two", "", false},
		{"boards", "Boards", "Keys", "keys", "", "x y 1 2", "", false},
		{"boards", "Boards", "Deep", "deep", "", "text", "echo <1>", false},
		{"boards", "Boards", "Last", "last", "", "", "", false},
	}, d.sections())
	require.True(t, parseDoc("http-reference", []byte("# Reference\n")).sections()[0].Reference)
	require.Equal(t, []string{"Keys", "Last"}, []string{d.contents()[0].Text, d.contents()[1].Text})
	require.Equal(t, "deep", d.contents()[0].Below[0].Anchor)
}

// Keywords that belong to no section stop the start.
func TestDocsKeywords(t *testing.T) {
	t.Parallel()
	sections := []docSection{{Page: "boards", Anchor: "ties"}, {Page: "boards", Anchor: "keys"}}
	require.NoError(t, addKeywords(sections, map[string]string{"boards#keys": "yaml config"}))
	require.Equal(t, []docSection{{Page: "boards", Anchor: "ties"}, {Page: "boards", Anchor: "keys", Keywords: "yaml config"}}, sections)
	require.EqualError(t, addKeywords(sections, map[string]string{"boards#keys": "", "boards#none": "", "a#b": ""}),
		"keywords of [a#b boards#none]: there is no such page or heading")
}

// README and the pages lead to headings, pages and files that the repository has.
func TestLinksOfTheRepository(t *testing.T) {
	t.Parallel()
	const root = "../../"
	all, err := parseDocs(web.Files)
	require.NoError(t, err)
	anchors := make(map[string]map[string]bool)
	for _, d := range all {
		anchors["web/docs/"+d.slug+".md"] = d.anchors()
	}
	readme, err := os.ReadFile(root + "README.md")
	require.NoError(t, err)
	anchors["README.md"] = parseDoc("README", readme).anchors()
	check := func(file, to string) {
		if isWebAddress(to) {
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
			require.True(t, anchors[path][anchor], "%s: %s", file, to)
		}
	}
	for file := range anchors {
		source, err := os.ReadFile(root + file)
		require.NoError(t, err)
		parsed := parseDoc(file, source)
		parsed.inspect(func(n ast.Node) {
			switch n := n.(type) {
			case *ast.Link:
				check(file, string(n.Destination))
			case *ast.Image:
				check(file, string(n.Destination))
			case *ast.HTMLBlock, *ast.RawHTML:
				require.Equal(t, "README.md", file, "raw HTML")
			}
		})
		if file == "README.md" { // its pictures may be HTML
			for _, link := range regexp.MustCompile(`(?:href|src|srcset)="([^"]+)"`).FindAllStringSubmatch(withoutCode(source), -1) {
				check(file, link[1])
			}
		}
	}
}

// withoutCode is Markdown without its blocks of code.
func withoutCode(source []byte) string {
	return regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(string(source), "")
}
