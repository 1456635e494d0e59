//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// Scores that are sent once go again from the page as their time passes, each row that
// stays with what is left of it, and the list is empty in the end: with nothing more
// sent, and without a reload.
func TestPageOfAWindowEmptiesByItself(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.LaunchBoards(t, `boards: {quiet: {window: 1h, refresh: live}}`, "--redis", r.URL())
	const scores = `[...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[data-member]:not([data-below])')]
		.map(row => row.textContent.replace(/\s+/g, ' ').trim()).join(', ')`
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/boards/quiet?me=bob"),
		becomes(`document.querySelector('live-leaderboard').dataset.state`, "live"),
		becomes(`document.querySelector('#rules').textContent`, "Scores add up, highest first, ties to the earlier, of the last hour"),
		follows("below: bob has no score yet"),
		// Noted on the page, so that a reload would lose it; and all that it shows.
		script(`var board = document.querySelector('live-leaderboard'), seen = new Set();
			var list = () => `+scores+`;
			new MutationObserver(() => seen.add(list())).observe(board.shadowRoot, {childList: true, characterData: true, subtree: true})`),
	))
	// What is almost an hour old goes while the page is open.
	now := time.Now()
	aged := func(member string, score int, left time.Duration) string {
		return fmt.Sprintf(`{"member":%q,"score":%d,"at":%d}`, member, score, now.Add(left-time.Hour).UnixMilli())
	}
	a := p.Post("quiet", `{"updates":[`+strings.Join([]string{
		aged("ann", 9, 8*time.Second), aged("bob", 5, 12*time.Second), aged("ann", 1, 12*time.Second), aged("cid", 3, 16*time.Second),
	}, ",")+`]}`)
	require.Equal(t, 200, a.Status, a.Body)
	was := func(list string) chromedp.Action[chromedp.Void] {
		return becomes(fmt.Sprintf(`seen.has(%q) ? 'seen' : [...seen].join(' / ')`, list), "seen")
	}
	require.NoError(t, chromedp.Do(ctx,
		was("1 ann 10, 2 bob 5 to next 5, 3 cid 3"),
		was("1 bob 5, 2 cid 3, 3 ann 1"),
		was("1 cid 3"),
		becomes(`list()`, ""), becomes(`board.shadowRoot.querySelector('[part=note]').textContent`, "No scores yet"),
		follows("below: bob has no score yet"),
	))
}
