//go:build !race

package pages

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A page of another site does nothing with the session of the operator who visits it, and learns nothing. The browser sends the
// cookie to a page at another port of the same host, which is no other site to SameSite.
func TestConsoleOfAnOperatorWhoVisitsAnotherSite(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "")
	body := `<!doctype html><title>site</title><body>`
	site := servePage(t, &body)
	ctx := ownWindow(t, 800, 600)
	forge := func(names ...string) map[string]string {
		t.Helper()
		do(t, ctx, step(t, "forge"))
		return value[map[string]string](t, ctx, fmt.Sprintf(`forge('http://%s', '%s')`, p.Addr, strings.Join(names, "', '")))
	}
	reads := regexp.MustCompile(`(?m)^rankcast_(reads|updates)_total.*`)
	state := func() string {
		return strings.Join(reads.FindAllString(p.may(200, "GET", "/metrics", "").Body, -1), "\n")
	}
	do(t, ctx, p.signIn(p.ops, ""))
	for _, address := range []string{site.URL, strings.Replace(site.URL, "127.0.0.1", "localhost", 1)} {
		do(t, ctx, chromedp.Navigate("about:blank"))
		before := state()
		do(t, ctx, chromedp.Navigate(address))
		require.Equal(t, map[string]string{
			"read": "refused", "hide": "refused", "define": "refused", "score": "refused", "image": "refused", "socket": "refused",
			"stream": "refused", "signOut": "refused",
			// The page does not learn how these end.
			"scoreBlindly": "opaque 0", "reindexBlindly": "opaque 0", "form": "loaded", "frame": "loaded",
		}, forge("read", "hide", "define", "score", "scoreBlindly", "reindexBlindly", "form", "image", "frame", "socket", "stream", "signOut"),
			address)
		require.Equal(t, before, state(), address)
	}
	require.Equal(t, `{"audit":[],"cursor":null}`, strings.TrimSpace(p.may(200, "GET", "/v1/audit?by=ops", "").Body))
	require.NotContains(t, p.may(200, "GET", "/v1/boards", "").Body, "forged")
	require.Contains(t, p.may(200, "GET", "/v1/boards/stars", "").Body, `"total":0`)

	// The operator is still signed in, and the same passes from the console's own page.
	do(t, ctx, visit(p.Process, "/console"), becomes(textOf("#who"), "Key ops"))
	require.Equal(t, map[string]string{
		"read": "basic 200", "hide": "basic 204", "define": "basic 201", "score": "basic 200", "reindexBlindly": "basic 200", "socket": "ok",
		"stream": "opened", "signOut": "basic 204",
	}, forge("read", "hide", "define", "score", "reindexBlindly", "socket", "stream", "signOut"))
}
