package pages

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

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
			d, err := page.render(page.page(anybodySends))
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
	d, err := page.render(page.page(anybodySends))
	require.NoError(t, err)
	require.Regexp(t, `^<script type="application/json" id="texts">\{"a":"\\u003c/script\\u003e\\u003c!-- \\"'\\u0026 \{n\} `+
		`\\u2028"\}</script><p title="[^"<]*">$`, string(d.identity))
}
