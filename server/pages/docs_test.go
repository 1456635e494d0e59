package pages_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/pages"
	"rankcast/server/servertest"
	"rankcast/web"
)

// The anchors of the documentation that pages and their scripts link are there.
func TestPagesLinkAnchorsOfTheDocs(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	link, found := regexp.MustCompile(`docs/([a-z-]+)#([a-z0-9-]+)`), 0
	require.NoError(t, fs.WalkDir(web.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(path, "pages/") && !strings.HasPrefix(path, "dist/assets/") {
			return err
		}
		text, err := fs.ReadFile(web.Files, path)
		for _, to := range link.FindAllStringSubmatch(string(text), -1) {
			require.Contains(t, n.Require(200, "GET", "/docs/"+to[1], "").Body, ` id="`+to[2]+`"`, path)
			found++
		}
		return err
	}))
	require.Positive(t, found)
}

// Each page of the documentation is whole, finds all that it loads, and leads to all others.
func TestDocs(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	for i, page := range pages.DocPages {
		slug := page.Slug
		a := n.Do("GET", "/docs/"+slug, "", "Accept-Language", "zh")
		require.Equal(t, 200, a.Status, slug)
		require.Equal(t, "text/html; charset=utf-8", a.Header.Get("Content-Type"))
		require.Equal(t, n.Do("GET", "/assets/shared/base.css", "").Header.Get("Content-Security-Policy"),
			a.Header.Get("Content-Security-Policy"))
		require.Equal(t, "en", a.Header.Get("Content-Language"))
		require.Equal(t, "Cookie, Accept-Encoding", a.Header.Get("Vary"))
		require.Contains(t, a.Body, `<html lang="en">`)

		require.Contains(t, a.Body, "<title>"+page.Title+" · Rankcast Docs</title>")
		require.Equal(t, 1, strings.Count(a.Body, "<h1 "), slug)
		require.NotContains(t, a.Body, "style=", "the content security policy forbids it")
		require.NotContains(t, a.Body, "raw HTML omitted")

		ids := regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(a.Body, -1)
		seen := make(map[string]bool)
		for _, id := range ids {
			require.False(t, seen[id[1]], "%s: two elements have the id %s", slug, id[1])
			seen[id[1]] = true
		}
		leadsTo := make(map[string]bool)
		for _, link := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(a.Body, -1) {
			to, anchor, _ := strings.Cut(link[1], "#")
			switch {
			case strings.HasPrefix(to, "http://"), strings.HasPrefix(to, "https://"):
			case to == "":
				require.True(t, seen[anchor], "%s: %s", slug, link[1])
			default:
				path, isUp := strings.CutPrefix(to, "../")
				if !isUp {
					path = "docs/" + to
				}
				leadsTo[path] = true
			}
		}
		for path := range leadsTo {
			require.Equal(t, 200, n.Do("HEAD", "/"+path, "").Status, "%s: %s", slug, path)
		}
		require.True(t, leadsTo[""], "the dashboard")
		for _, other := range pages.DocPages {
			require.True(t, leadsTo["docs/"+other.Slug], "%s: %s", slug, other.Slug)
		}
		require.Equal(t, i > 0, strings.Contains(a.Body, `rel="prev"`), slug)
		require.Equal(t, i+1 < len(pages.DocPages), strings.Contains(a.Body, `rel="next"`), slug)
		if i > 0 {
			require.Contains(t, a.Body, `<a rel="prev" href="`+pages.DocPages[i-1].Slug+`">`)
		}
	}
	for path, title := range map[string]string{"/?lang=en": "Docs", "/boards/stars?lang=zh": "文档", "/nothing?lang=zh": "文档"} {
		require.Regexp(t, `<a href="\.{1,2}/docs/start">`+title+`</a>`, n.Do("GET", path, "", "Accept", browserAccepts).Body, path)
	}
}

// The search box knows each heading of each page, and browsers keep its index until a page changes.
func TestDocsSearchIndex(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	a := n.Do("GET", "/docs/search.json", "", "Accept-Encoding", "identity")
	require.Equal(t, 200, a.Status)
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	require.Equal(t, 304, n.Do("GET", "/docs/search.json", "", "If-None-Match", a.Header.Get("ETag"), "Accept-Encoding", "identity").Status)
	var sections []struct{ Page, Title, Heading, Anchor, Text string }
	require.NoError(t, json.Unmarshal([]byte(a.Body), &sections))
	var found []string
	for _, s := range sections {
		found = append(found, s.Page+" "+s.Heading)
		require.Contains(t, n.Do("GET", "/docs/"+s.Page, "").Body, ` id="`+s.Anchor+`"`)
	}
	var want []string
	for _, page := range pages.DocPages {
		slug := page.Slug
		source, err := os.ReadFile("../../web/docs/" + slug + ".md")
		require.NoError(t, err)
		inCode := false
		for line := range strings.Lines(string(source)) {
			if strings.HasPrefix(line, "```") {
				inCode = !inCode
			}
			if signs, heading, isHeading := strings.Cut(strings.TrimSpace(line), " "); !inCode && isHeading && strings.Trim(signs, "#") == "" {
				want = append(want, slug+" "+strings.ReplaceAll(heading, "`", ""))
			}
		}
	}
	require.Equal(t, want, found)
}
