//go:build !race

package pages

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/server/servertest"
)

// The page shows members by their names, which are text whatever they look like, and
// avatars of its own site; all of it live, within a row that stays the same.
func TestPageShowsNamesAndAvatars(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	profile := func(member, body string) {
		t.Helper()
		require.Equal(t, 2, servertest.Request(t, "PUT", "http://"+p.Addr+"/v1/members/member/"+member, body).Status/100)
	}
	p.Post("stars", `{"updates":[{"member":"ann","score":40},{"member":"bob","score":30},{"member":"cid","score":20},`+
		`{"member":"eve","score":15},{"member":"fay","score":12},{"member":"dan","score":10}]}`)
	profile("ann", `{"name":"<img src=x onerror=alert(1)>"}`)
	profile("dan", `{"name":"Daniel","avatar":"/assets/shared/favicon.svg"}`)
	const words = `[...root.querySelectorAll('[data-member]:not([data-below])')]
		.map(r => r.textContent.replace(/\s+/g, ' ').trim()).join(' | ')`
	const images = `[...root.querySelectorAll('img:not([hidden])')]
		.map(i => [i.closest('[data-member]').querySelector('[part=member]').textContent, i.getAttribute('src')
			.replace(location.origin, ''), i.alt, i.loading].join(' ')).join(' | ')`
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/boards/stars?top=5&me=dan"),
		shows("ann", "bob", "cid", "eve", "fay"),
		chromedp.Evaluate[chromedp.Void](`var root = document.querySelector('live-leaderboard').shadowRoot,
			row = root.querySelector('[data-member=bob]'); null`),
		becomes(words, "1 <img src=x onerror=alert(1)> 40 | 2 bob 30 | 3 cid 20 | 4 eve 15 | 5 fay 12"),
		follows("below: 6 Daniel 2 to next 10"),
		becomes(images, "Daniel /assets/shared/favicon.svg  lazy"),
		becomes(`String(root.querySelector("img:not([hidden])").getBoundingClientRect().width > 20
			&& root.querySelector("img:not([hidden])").complete)`, "true"),
	))
	profile("bob", `{"name":"Bob","avatar":"/assets/shared/favicon.svg"}`)
	require.NoError(t, chromedp.Do(ctx,
		becomes(words, "1 <img src=x onerror=alert(1)> 40 | 2 Bob 30 | 3 cid 20 | 4 eve 15 | 5 fay 12"),
		becomes(images, "Bob /assets/shared/favicon.svg  lazy | Daniel /assets/shared/favicon.svg  lazy"),
		becomes(`row.querySelector('[part=member]').title`, "bob"),
		becomes(`String(row === root.querySelector('[data-member=bob]'))`, "true"),
	))
	// What the page's policy keeps out, and what is no image, leaves no trace.
	profile("bob", `{"name":"Bob","avatar":"https://elsewhere.test/b.png"}`)
	profile("cid", `{"name":"Cid","avatar":"/assets/no-such.png"}`)
	profile("dan", `{"avatar":"http://elsewhere.test/b.png"}`)
	require.NoError(t, chromedp.Do(ctx,
		becomes(words, "1 <img src=x onerror=alert(1)> 40 | 2 Bob 30 | 3 Cid 20 | 4 eve 15 | 5 fay 12"),
		follows("below: 6 dan 2 to next 10"),
		becomes(images, ""),
	))
}
