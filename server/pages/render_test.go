package pages

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"rankcast/web"
)

// What is wrong with a page shows when it is made ready, and not to its reader.
func TestPageThatIsWrongIsNotServed(t *testing.T) {
	for _, c := range []struct{ page, texts, says string }{
		{`<p>{{text "a"}}</p>`, `{"a":"A"}`, ""},
		{`<p>{{text "b"}}</p>`, `{"a":"A"}`, `texts/en.json has no "b"`},
		{`<p>{{.Other}}</p>`, `{"a":"A"}`, "Other"},
		{`<p>{{text "a"`, `{"a":"A"}`, "unclosed action"},
		{`<p></p>`, `{"a":{"b":"c"}}`, "texts/en.json"},
		{`<p></p>`, `{"a":"A","a":"B"}`, "duplicate"},
		{`<p></p>`, ``, "texts/en.json"},
	} {
		files := fstest.MapFS{"assets/p.js": {}, "pages/shared.html": {}, "pages/p.html": {Data: []byte(c.page)}, "texts/en.json": {Data: []byte(c.texts)}}
		d, err := renderPage(files, "p.html", locales[0], "./", Config{})
		if c.says == "" {
			require.NoError(t, err)
			require.Equal(t, "<p>A</p>", string(d.identity))
			continue
		}
		require.ErrorContains(t, err, c.says)
	}
}

// Texts are data in a page, whatever they hold.
func TestPageHoldsTextsAsData(t *testing.T) {
	files := fstest.MapFS{
		"pages/shared.html": {},
		"pages/p.html":      {Data: []byte(`<script type="application/json" id="texts">{{.Texts}}</script><p title="{{text "a"}}">`)},
		"assets/p.js":       {},
		"texts/en.json":     {Data: []byte(`{"a":"</script><!-- \"'& {n} \u2028"}`)},
	}
	d, err := renderPage(files, "p.html", locales[0], "./", Config{})
	require.NoError(t, err)
	require.Regexp(t, `^<script type="application/json" id="texts">\{"a":"\\u003c/script\\u003e\\u003c!-- \\"'\\u0026 \{n\} \\u2028"\}</script><p title="[^"<]*">$`, string(d.identity))
}

// Files are of the type that their name says, whatever the machine thinks.
func TestPageFilesHaveTypes(t *testing.T) {
	files := make(fstest.MapFS)
	for name := range map[string]string{"a.js": "", "a.d.ts": "", "a.json": "", "a.css": ""} {
		files["kit/"+name] = &fstest.MapFile{Data: []byte("x")}
	}
	served := make(map[string]bool)
	var s Site
	require.NoError(t, s.addFolder(files, "kit"))
	s.Register(func(path string, _ echo.HandlerFunc) { served[path] = true })
	require.Equal(t, map[string]bool{"/kit/a.js": true, "/kit/a.d.ts": true, "/kit/a.json": true, "/kit/a.css": true}, served)
	for name, want := range map[string]string{
		"a.js": "text/javascript; charset=utf-8", "a.d.ts": "text/plain; charset=utf-8", "a.json": "application/json", "a.css": "text/css; charset=utf-8",
	} {
		d, err := newAsset(name, []byte("x"))
		require.NoError(t, err)
		require.Equal(t, []string{want}, d.header[http.CanonicalHeaderKey("content-type")])
		require.Nil(t, d.gzip, "it would be larger")
	}
	files["kit/a.exe"] = &fstest.MapFile{}
	require.ErrorContains(t, s.addFolder(files, "kit"), "kit/a.exe")
}

// A page names each module that its script needs, however it comes to need it.
func TestPageNamesItsModules(t *testing.T) {
	files := fstest.MapFS{
		"assets/p.js":   {Data: []byte("// import './not.js'\nimport { a } from './a.js';\nimport '../kit/k.js';\n")},
		"assets/a.js":   {Data: []byte("import {\n  k,\n} from '../kit/k.js';\nconst text = \"import './not.js'\";\n")},
		"kit/k.js":      {Data: []byte("export { l } from './l.js';\nexport const a = 'b';\n")},
		"kit/l.js":      {Data: []byte("import './k.js';\n")},
		"assets/not.js": {},
	}
	modules, err := modulesOf(files, "assets/p.js")
	require.NoError(t, err)
	require.Equal(t, []string{"assets/a.js", "kit/k.js", "kit/l.js"}, modules)
	delete(files, "kit/l.js")
	_, err = modulesOf(files, "assets/p.js")
	require.ErrorContains(t, err, "kit/l.js")
}

// The kit is small: all of it together, as a browser gets it.
func TestKitIsSmall(t *testing.T) {
	modules, err := modulesOf(web.Files, "kit/rankcast.js")
	require.NoError(t, err)
	require.Contains(t, modules, "kit/socket.js")
	size := 0
	for _, module := range append(modules, "kit/rankcast.js") {
		require.True(t, strings.HasPrefix(module, "kit/"), "%s is not open to other sites", module)
		content, err := web.Files.ReadFile(module)
		require.NoError(t, err)
		d, err := newAsset(module, content)
		require.NoError(t, err)
		size += len(d.gzip)
	}
	require.Less(t, size, 12<<10)
	t.Log(size, "bytes")
}
