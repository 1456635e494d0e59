package pages

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/web"
)

func init() { fillTimeout = 5 * time.Second }

// DocPages are the pages of the documentation in the order of the menu.
var DocPages = siteContent().docs

// Files are of the type that their name says, whatever the machine thinks.
func TestAssetContentTypes(t *testing.T) {
	t.Parallel()
	files := make(fstest.MapFS)
	for name := range map[string]string{"a.js": "", "a.d.ts": "", "a.json": "", "a.css": ""} {
		files["kit/"+name] = &fstest.MapFile{Data: []byte("x")}
	}
	served := make(map[string]func() *asset)
	require.NoError(t, addFolder(served, files, "kit"))
	require.ElementsMatch(t, []string{"kit/a.js", "kit/a.d.ts", "kit/a.json", "kit/a.css"}, slices.Collect(maps.Keys(served)))
	for name, want := range map[string]string{
		"a.js": "text/javascript; charset=utf-8", "a.d.ts": "text/plain; charset=utf-8", "a.json": "application/json",
		"a.css": "text/css; charset=utf-8",
	} {
		d, err := newAsset(name, []byte("x"))
		require.NoError(t, err)
		require.Equal(t, []string{want}, d.header[http.CanonicalHeaderKey("content-type")])
		require.Nil(t, d.gzip, "it would be larger")
	}
	files["kit/a.exe"] = &fstest.MapFile{}
	_, err := newFileAsset(files, "kit/a.exe")
	require.ErrorContains(t, err, "kit/a.exe")
}

// All that a Site may be asked for can be made of the embedded files.
func TestAllContent(t *testing.T) {
	t.Parallel()
	c := siteContent()
	for _, page := range c.pages {
		for _, variants := range page {
			require.NotNil(t, variants())
		}
	}
	require.NotEmpty(t, c.files)
	for name, file := range c.files {
		require.NotEmpty(t, file().identity, name)
	}
	require.NotEmpty(t, c.docs)
	for i, d := range c.docs {
		page, err := newDoc(web.Files, c.docs, i, settings{})
		require.NoError(t, err, d.Slug)
		require.NotEmpty(t, page.identity, d.Slug)
	}
	require.Len(t, c.notFound, len(locales))
	for _, page := range c.notFound {
		require.NotNil(t, page())
	}
}

// The node keeps all pages without rows, and the whole documentation, for each choice of settings: pages for anybody who may
// send, and for viewers with a token alone.
func TestFixedPagesFit(t *testing.T) {
	t.Parallel()
	choices := (len(themes) + 1) * (len(motions) + 1) * (len(densities) + 1)
	c, bytes := siteContent(), 0
	for i := range c.docs {
		page, err := newDoc(web.Files, c.docs, i, settings{})
		require.NoError(t, err)
		bytes += choices * page.size()
	}
	for _, locales := range c.pages {
		for _, variant := range locales {
			page, err := variant().render(variant().fixed)
			require.NoError(t, err)
			if variant().hasSettings {
				bytes += 2 * choices * page.size()
			} else {
				bytes += 2 * page.size()
			}
		}
	}
	require.Less(t, bytes, maxFixedBytes)
}

// The kit is small, as a browser gets it: 15 KB for a board, 7 KB more once the page needs them, 3 KB each for a board with columns and
// for goals, and 4 KB for a board that is frozen.
func TestKitIsSmall(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"rankcast.js": 15_100, "on-demand.js": 6_800, "columns.js": 3_000,
		"goal.js": 3_200, "reveal.js": 4_100} {
		d, err := newFileAsset(web.Files, "dist/kit/"+name)
		require.NoError(t, err)
		require.LessOrEqual(t, len(d.gzip), most, name)
		t.Log(name, len(d.gzip), "bytes")
	}
}

// The face of the pages is small, comes with its license, and a browser that has it shows it without asking first.
func TestFaceIsSmall(t *testing.T) {
	t.Parallel()
	d, err := newFileAsset(web.Files, "dist/assets/shared/archivo.woff2")
	require.NoError(t, err)
	require.Less(t, len(d.identity), 35_000)
	require.Equal(t, []string{"font/woff2"}, d.header["Content-Type"])
	require.Regexp(t, `^max-age=86400, `, d.header.Get("Cache-Control"))
	license, err := newFileAsset(web.Files, "dist/assets/shared/archivo-OFL.txt")
	require.NoError(t, err)
	require.Contains(t, string(license.identity), "SIL Open Font License, Version 1.1")
}

// A page with a fault is an error that says where, and no page.
func TestInvalidPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ page, texts, says string }{
		{`<p>{{text "a"}}</p>`, `{"a":"A"}`, ""},
		{`<p>{{text "b"}}</p>`, `{"a":"A"}`, `texts/en.json has no "b"`},
		{`<p>{{.Other}}</p>`, `{"a":"A"}`, "Other"},
		{`<p>{{text "a"`, `{"a":"A"}`, "unclosed action"},
		{`<p></p>`, `{"a":{"b":"c"}}`, "texts/en.json"},
		{`<p></p>`, `{"a":"A","a":"B"}`, "duplicate"},
		{`<p></p>`, ``, "texts/en.json"},
	} {
		files := fstest.MapFS{"pages/shared.html": {}, "pages/p.html": {Data: []byte(c.page)}, "texts/en.json": {Data: []byte(c.texts)}}
		page, err := newPageTemplate(files, pageFile{file: "p.html", root: "./"}, locales[0], "")
		if c.says == "" {
			require.NoError(t, err)
			d, err := page.render(page.fixed)
			require.NoError(t, err)
			require.Equal(t, "<p>A</p>", string(d.identity))
			continue
		}
		require.ErrorContains(t, err, c.says)
	}
}

// Texts are data in a page, whatever they hold.
func TestPageEscapesTexts(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"pages/shared.html": {},
		"pages/p.html":      {Data: []byte(`<script type="application/json" id="texts">{{.Texts}}</script><p title="{{text "a"}}">`)},
		"texts/en.json":     {Data: []byte(`{"a":"</script><!-- \"'& {n} \u2028"}`)},
	}
	page, err := newPageTemplate(files, pageFile{file: "p.html", root: "./"}, locales[0], "")
	require.NoError(t, err)
	d, err := page.render(page.fixed)
	require.NoError(t, err)
	require.Regexp(t, `^<script type="application/json" id="texts">\{"a":"\\u003c/script\\u003e\\u003c!-- \\"'\\u0026 \{n\} `+
		`\\u2028"\}</script><p title="[^"<]*">$`, string(d.identity))
}

// The portraits of the first answer are those of the kit: TestKitDrawsPortraitsAsTheServer reads the same table.
func TestPortraits(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../web/testdata/portraits.json")
	require.NoError(t, err)
	var cases []struct {
		ID, Name, Initial string
		Hue               int
	}
	require.NoError(t, json.Unmarshal(b, &cases))
	require.NotEmpty(t, cases)
	for _, c := range cases {
		require.Equal(t, c.Initial, initialOf(c.Name), c.Name)
		require.Equal(t, c.Hue, hueOf(c.ID), c.ID)
	}
}
