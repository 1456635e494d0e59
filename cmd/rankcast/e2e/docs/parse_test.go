//go:build !race

package docs

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// block is a fenced block of a page of documentation. Its info string is a language, then a
// word or the name of a file, or both.
type block struct {
	page string
	line int // of the opening fence
	lang string
	word string // what the block is for: "" for its language's first purpose
	file string // the name to save it under; "" for none
	text string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// forms are the info strings that a block may have, without the name of a file. A block with the name
// of a file is saved, in the clone or beside it, and later blocks use it.
//
//   - sh: bash -e -o pipefail runs the commands, and curl fails where the server refuses a request.
//     They succeed, unless the output that follows ends with a problem: then they fail. The variables
//     of a block end with it.
//   - sh server: a program that stays. The page goes on when it is ready. It takes the place of an
//     earlier one at the same address.
//   - sh fails: the commands fail.
//   - sh docker: needs Docker, a service elsewhere or the rights of root, and is not run. Its files exist,
//     and its flags of rankcast are right.
//   - json output, text output: what the last commands print, see matcher.
//   - json send: messages to the server, one a line, on the page's WebSocket.
//   - json receive: the next frames on it, all of them.
//   - json frame: a frame that no example provokes. The tests of the Go client decode it.
//   - text page: what the last script has written into the element out, or will have soon.
//   - text: a drawing.
//   - yaml: a boards file, or a part of one, that rankcast check accepts. What the boards file of the
//     examples defines too has the same definition there; an event may have more rules.
//   - yaml access: an access file that the server takes.
//   - yaml prometheus: a part of a configuration of Prometheus, with rules that a later command writes.
//   - promql: a query of Prometheus, whose metrics and labels exist.
//   - caddyfile: a part of the configuration of Caddy in the compose file, for other addresses.
//   - css: the CSS of a browser source of OBS. TestAddedStylesApplyOnOverlaysAlone adds it to an overlay.
//   - html: a page that a browser opens from another site, or with file from a file. It logs no
//     error, and each of its boards becomes live, shows a row, and marks the member that it follows.
//     The servers that follow directly start first.
//   - js: a module on a page of the server, with an empty element out. It throws nothing and logs no
//     error. If it names the element, a block of text page follows.
//   - go, csv, python: a file that a later block names.
//   - ts: the file of web/testdata/bundler with that name, which make check-kit builds.
//
// Examples name the ports 8080 and 8081 of servers, 8000 of another site, 6379 of Redis, and 7001 to 7003 of a cluster.
var forms = map[string]form{
	"sh": {}, "sh server": {}, "sh fails": {}, "sh docker": {},
	"json output": {caption: "Output"}, "json send": {caption: "Sent"}, "json receive": {caption: "Received"},
	"json frame": {caption: "Frame"},
	"text":       {}, "text output": {caption: "Output"}, "text page": {caption: "On the page"},
	"js":   {},
	"ts":   {file: mustHaveFile},
	"yaml": {file: mayHaveFile}, "yaml access": {}, "yaml prometheus": {},
	"html": {file: mustHaveFile}, "html file": {file: mustHaveFile},
	"go": {file: mustHaveFile}, "csv": {file: mustHaveFile}, "python": {file: mustHaveFile}, "nginx": {file: mustHaveFile},
	"caddyfile": {}, "promql": {}, "css": {},
}

type form struct {
	caption string // of the block at /docs, if it is not a file
	file    fileRule
}

// fileRule says whether a block has the name of a file.
type fileRule int

const (
	noFile fileRule = iota
	mayHaveFile
	mustHaveFile
)

var (
	fence       = regexp.MustCompile("^([ \t]*)(`{3,}|~{3,})(.*)$")
	quotedFence = regexp.MustCompile("^[ \t]*>.*(```|~~~)")
	fileName    = regexp.MustCompile(`^[\w./-]*[./][\w./-]*$`)
)

// parseBlocks finds the fenced blocks of a page in order. A block of no known form is an error
// that names the line.
func parseBlocks(page, text string) ([]block, error) {
	var blocks []block
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if quotedFence.MatchString(lines[i]) {
			return nil, fmt.Errorf("%s:%d: a fenced block in a quotation is not run; take it out", page, i+1)
		}
		open := fence.FindStringSubmatch(lines[i])
		if open == nil {
			continue
		}
		indent, mark := open[1], open[2]
		b, err := parseInfo(open[3])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", page, i+1, err)
		}
		b.page, b.line = page, i+1
		var body strings.Builder
		for i++; ; i++ {
			if i == len(lines) {
				return nil, fmt.Errorf("%s: the block never ends", b)
			}
			if end := strings.TrimSpace(lines[i]); len(end) >= len(mark) && strings.Trim(end, mark[:1]) == "" {
				break
			}
			body.WriteString(strings.TrimPrefix(lines[i], indent) + "\n")
		}
		b.text = body.String()
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// parseInfo reads the info string of a block.
func parseInfo(info string) (b block, err error) {
	words := strings.Fields(info)
	if len(words) == 0 {
		return b, fmt.Errorf("the block has no language")
	}
	var named []string
	for _, word := range words {
		if b.file == "" && len(named) > 0 && fileName.MatchString(word) {
			b.file = word
		} else {
			named = append(named, word)
		}
	}
	b.lang, b.word = named[0], strings.Join(named[1:], " ")
	form, known := forms[strings.Join(named, " ")]
	switch {
	case !known:
		return b, fmt.Errorf("the test knows no block of %q", strings.Join(named, " "))
	case b.file == "" && form.file == mustHaveFile:
		return b, fmt.Errorf("a block of %s needs the name of a file", b.lang)
	case b.file != "" && form.file == noFile:
		return b, fmt.Errorf("a block of %s cannot be a file", b.lang)
	}
	return b, nil
}

func TestDocsParser(t *testing.T) {
	t.Parallel()
	blocks, err := parseBlocks("p.md",
		"# T\n```sh server\nmake run\n```\n- item\n  ```json output\n  {\"a\":1}\n  ```\n````html demo/page.html "+
			"file\n```\n````\ninline ```x``` text\n")
	require.NoError(t, err)
	require.Equal(t, []block{
		{page: "p.md", line: 2, lang: "sh", word: "server", text: "make run\n"},
		{page: "p.md", line: 6, lang: "json", word: "output", text: "{\"a\":1}\n"},
		{page: "p.md", line: 9, lang: "html", word: "file", file: "demo/page.html", text: "```\n"},
	}, blocks)
	for text, says := range map[string]string{
		"\n```\nx\n```\n":                 "p.md:2: the block has no language",
		"```bash\nx\n```":                 `p.md:1: the test knows no block of "bash"`,
		"```sh servers\nx\n```":           `p.md:1: the test knows no block of "sh servers"`,
		"```sh fails docker\nx\n```":      `p.md:1: the test knows no block of "sh fails docker"`,
		"```json\n1\n```":                 `p.md:1: the test knows no block of "json"`,
		"```sh run.sh\nx\n```":            "p.md:1: a block of sh cannot be a file",
		"```yaml boards.yaml x.yaml\n```": `p.md:1: the test knows no block of "yaml x.yaml"`,
		"```go\nx\n```":                   "p.md:1: a block of go needs the name of a file",
		"```json output a.json\n1\n```":   "p.md:1: a block of json cannot be a file",
		"a\n\n```sh\nls\n":                "p.md:3: the block never ends",
		"> ```sh\n> ls\n> ```\n":          "p.md:1: a fenced block in a quotation",
	} {
		_, err := parseBlocks("p.md", text)
		require.ErrorContains(t, err, says, "%q", text)
	}
}

// A block of an example has the caption that its form has, or the name of its file.
func TestDocsCaptions(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	pages, err := filepath.Glob(filepath.Join(e2etest.ModuleRoot, "web/docs/*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, page := range pages {
		path := "/docs/" + strings.TrimSuffix(filepath.Base(page), ".md")
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		blocks, err := parseBlocks(path, string(text))
		require.NoError(t, err)
		var want, got []string
		for _, b := range blocks {
			if caption := cmp.Or(b.file, forms[strings.TrimSpace(b.lang+" "+b.word)].caption); caption != "" {
				want = append(want, caption)
			}
		}
		body := p.Request("GET", path, "").Body
		for _, caption := range regexp.MustCompile("<figcaption>(.*?)</figcaption>").FindAllStringSubmatch(body, -1) {
			got = append(got, caption[1])
		}
		require.Equal(t, want, got, path)
	}
}
