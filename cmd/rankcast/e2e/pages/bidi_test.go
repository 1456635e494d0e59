//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/server/servertest"
)

// Each place of the pages that shows a name keeps it apart from the text around it.
func TestPagesIsolateNames(t *testing.T) {
	t.Parallel()
	p := launchStars(t)
	const star, user = "כוכב", "مستخدم"
	give(p, star, user, 30)
	give(p, "s2", user, 12)
	for _, member := range []string{star, "s2"} {
		require.Equal(t, 201, servertest.Request(t, "PUT", "http://"+p.Addr+"/v1/members/star/"+member, `{"name":"`+star+` (1)"}`).Status)
	}
	isolates := func(selector string) string {
		return fmt.Sprintf(`(() => {
			const found = [document, ...[...document.querySelectorAll('live-leaderboard')].map(board => board.shadowRoot)]
				.flatMap(root => [...root.querySelectorAll(%q)]).filter(e => e.textContent);
			return found.length > 0 && found.every(e => ['isolate', 'plaintext'].includes(getComputedStyle(e).unicodeBidi)) + '';
		})()`, selector)
	}
	order, ctx := scriptFile(t, "order.js"), window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/?lang=en"), becomes(isolates(".card-member"), "true"),
		// A name begins beside its portrait, whatever its direction.
		becomes(`(name => { const range = document.createRange(); range.selectNodeContents(name);
			return String(range.getBoundingClientRect().left - name.getBoundingClientRect().left < 1);
				})(document.querySelector('.card-member'))`, "true"),
		chromedp.Navigate("http://"+p.Addr+"/boards/stars?lang=en"), becomes(isolates(".trend-name"), "true"),
		becomes(isolates("[part=member]"), "true"),
		chromedp.Navigate("http://"+p.Addr+"/boards/fans:"+star+"?lang=en"), becomes(`document.title`, "\u2068fans:"+star+"\u2069 · Rankcast"),
		chromedp.Navigate("http://"+p.Addr+"/stars?lang=en"), watching, becomes(isolates("[part=member]"), "true"),
	))
	give(p, star, user, 1)
	require.NoError(t, chromedp.Do(ctx,
		becomes(isolates(".feed-user"), "true"), becomes(isolates(".feed-star"), "true"),
		// No week is over yet, so there are no winners but this one.
		script(`document.querySelector('#podium').innerHTML = '<li><a class="podium-name">x</a></li>'`),
		becomes(isolates(".podium-name"), "true"),
		script(order), becomes(`inOrder(rowsOf(document.querySelector('#stars')))`, ""),
		chromedp.Navigate("http://"+p.Addr+"/stars?lang=en&star="+star), watching, becomes(isolates("#star-name"), "true"),
		becomes(`document.title`, "\u2068"+star+" (1)\u2069 · Star flowers · Rankcast"),
	))
	for _, mode := range []string{"list", "compact"} {
		require.NoError(t, chromedp.Do(ctx,
			chromedp.Navigate("http://"+p.Addr+"/overlay/stars?mode="+mode), becomes(isolates("[part=member]"), "true"),
			script(order), becomes(`inOrder(rowsOf(document.querySelector('live-leaderboard')))`, "")))
	}
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/overlay/stars?mode=me&me=s2"),
		becomes(isolates("[part=member]"), "true")))
	// A long name keeps its beginning.
	setName(p, "star", "s3", strings.Repeat(star+" ", 14))
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/stars?lang=en"), watching))
	give(p, "s3", user, 1)
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(390, 844),
		becomes(`(star => String(star.checkVisibility() && star.textContent.length > 50))(document.querySelector('.feed-star'))`, "true"),
		script(order), becomes(`((first, line) => String(first.left >= line.left
			&& first.right <= line.right))(at(document.querySelector('.feed-star'), 0),
				document.querySelector('.feed-to').getBoundingClientRect())`, "true")))
}
