//go:build !race

package pages

import (
	"fmt"
	"net"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

func TestPageMovesByItself(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.Launch(t, "--redis", r.URL())
	for i, m := range []string{"ann", "bob", "cid"} {
		p.Post("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 30-10*i))
	}
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/boards/stars"),
		shows("ann", "bob", "cid"),
		// Noted on the page, so that a reload would lose it.
		chromedp.Evaluate[chromedp.Void](`
			var board = document.querySelector('live-leaderboard');
			var row = board.shadowRoot.querySelector('[data-member=cid]');
			var states = [board.dataset.state];
			new MutationObserver(() => states.push(board.dataset.state)).observe(board, {attributes: true, attributeFilter: ['data-state']});
			null`),
		state("live"),
	))

	require.Equal(t, 200, p.Post("stars", `{"member":"cid","score":100}`).Status)
	require.NoError(t, chromedp.Do(ctx, shows("cid", "ann", "bob")))
	const sameRow = `row === board.shadowRoot.querySelector('[data-member=cid]')`
	same, err := chromedp.Run(ctx, chromedp.Evaluate[bool](sameRow))
	require.NoError(t, err)
	require.True(t, same, "a row that moves is the same row, on the same page")

	// A name is text, whatever it looks like.
	require.Equal(t, 200, p.Post("stars", `{"member":"<img src=x onerror=alert(1)>","score":50}`).Status)
	require.NoError(t, chromedp.Do(ctx, shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob")))
	images, err := chromedp.Run(ctx, chromedp.Evaluate[int](`board.shadowRoot.querySelectorAll('img:not([part=avatar])').length`))
	require.NoError(t, err)
	require.Zero(t, images)

	// Redis goes and comes back: the page says so and keeps what it had.
	r.Kill()
	require.NoError(t, chromedp.Do(ctx, state("stale"), shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob")))
	r.Start()
	require.NoError(t, chromedp.Do(ctx, state("live")))

	// So does the server, at the same address.
	_, port, err := net.SplitHostPort(p.Addr)
	require.NoError(t, err)
	p.Kill()
	require.NoError(t, chromedp.Do(ctx, state("away"), shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob")))
	p = e2etest.Launch(t, "--redis", r.URL(), "--addr", "127.0.0.1:"+port)
	require.NoError(t, chromedp.Do(ctx, state("live")))
	require.Equal(t, 200, p.Post("stars", `{"member":"bob","score":1000}`).Status)
	require.NoError(t, chromedp.Do(ctx, shows("bob", "cid", "<img src=x onerror=alert(1)>", "ann")))
	same, err = chromedp.Run(ctx, chromedp.Evaluate[bool](sameRow))
	require.NoError(t, err)
	require.True(t, same, "all of this without a reload")
}

// Somebody who is not among the first sees its own place move by itself.
func TestPageFollowsAMember(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.Launch(t, "--redis", r.URL())
	for i, m := range []string{"ann", "bob", "cid", "dan", "eve", "u4", "fay"} {
		p.Post("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 70-10*i))
	}
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/boards/stars?top=5&me=u4"),
		shows("ann", "bob", "cid", "dan", "eve"),
		follows("below: 6 u4 10 to next 20"),
		// Noted on the page, so that a reload would lose it.
		chromedp.Evaluate[chromedp.Void](`
			var board = document.querySelector('live-leaderboard'), root = board.shadowRoot;
			board.removeAttribute('around'); // neighbours would change the height
			board.setAttribute = (set => function (name, value) { if (name !== 'around') set.call(this, name, value);
				})(board.setAttribute); // the page renders again after each connection
			var states = [board.dataset.state], sent = [], twice = 0, heights = new Set();
			new MutationObserver(() => {
				states.push(board.dataset.state);
			}).observe(board, {attributes: true, attributeFilter: ['data-state']});
			new MutationObserver(() => {
				if (root.querySelectorAll('[data-member=u4]').length > 1) twice++;
				heights.add(board.offsetHeight);
			}).observe(root, {attributes: true, childList: true, subtree: true});
			WebSocket.prototype.send = (send => function (text) { sent.push(JSON.parse(text)); send.call(this, text); })(WebSocket.prototype.send);
			null`),
		state("live"),
	))
	post := func(member string, score int) {
		t.Helper()
		require.Equal(t, 200, p.Post("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, member, score)).Status)
	}

	post("fay", 15) // 25
	require.NoError(t, chromedp.Do(ctx, follows("below: 7 u4 5 to next 20"),
		becomes(`root.querySelector('[role=status]').textContent`, "u4 is at rank 7.")))
	post("u4", 1)
	require.NoError(t, chromedp.Do(ctx, follows("below: 7 u4 4 to next 21")))
	post("u4", 24)
	require.NoError(t, chromedp.Do(ctx, shows("ann", "bob", "cid", "u4", "dan"), follows("listed: 4 u4 5 to next 45")))
	post("cid", -5) // level, and later there than u4
	require.NoError(t, chromedp.Do(ctx, shows("ann", "bob", "u4", "cid", "dan"), follows("listed: 3 u4 15 to next 45")))
	post("dan", 100)
	post("eve", 100)
	require.NoError(t, chromedp.Do(ctx, shows("dan", "eve", "ann", "bob", "u4"), follows("listed: 5 u4 15 to next 45")))
	post("cid", 10)
	require.NoError(t, chromedp.Do(ctx, shows("dan", "eve", "ann", "bob", "cid"), follows("below: 6 u4 10 to next 45")))

	// Off the board, and on it again.
	removed := servertest.Request(t, "DELETE", "http://"+p.Addr+"/v1/boards/stars/members/u4", "")
	require.Equal(t, 200, removed.Status, removed.Body)
	require.NoError(t, chromedp.Do(ctx, follows("below: u4 has no score yet")))
	post("u4", 25)
	require.NoError(t, chromedp.Do(ctx, follows("below: 7 u4 level with the next 25")))

	// The server goes: what was known stays. Scores go on at another node.
	_, port, err := net.SplitHostPort(p.Addr)
	require.NoError(t, err)
	p.Kill()
	require.NoError(t, chromedp.Do(ctx, state("away"), follows("below: 7 u4 level with the next 25"),
		chromedp.Evaluate[chromedp.Void](`sent.length = 0; null`)))
	other := e2etest.Launch(t, "--redis", r.URL())
	require.Equal(t, 200, other.Post("stars", `{"member":"fay","score":100}`).Status)
	require.Equal(t, 200, other.Post("stars", `{"member":"u4","score":1}`).Status)
	p = e2etest.Launch(t, "--redis", r.URL(), "--addr", "127.0.0.1:"+port)
	require.NoError(t, chromedp.Do(ctx, state("live"), shows("dan", "eve", "fay", "ann", "bob"), follows("below: 7 u4 29 to next 26")))
	resumed, err := chromedp.Run(ctx,
		chromedp.Evaluate[string](`(({board, top, me, resume: {life, seq}}) => [board, top, me, life !== '', seq > 0]
			.join(' '))(sent.find(({type}) => type === 'subscribe'))`))
	require.NoError(t, err)
	require.Equal(t, "stars 5 u4 true true", resumed, "it offers what it holds")

	seen, err := chromedp.Run(ctx, chromedp.Evaluate[string](`twice + ' twice, ' + heights.size + ' height'`))
	require.NoError(t, err)
	require.Equal(t, "0 twice, 1 height", seen, "a member has one row at any time, and nothing jumps")
}

// Two members followed on one board by one page, and none by a third element.
// One that names nobody who could be followed disturbs none of the others.
func TestPageFollowsTwo(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	for i, m := range []string{"ann", "bob", "cid", "dan", "eve", "fay"} {
		p.Post("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 60-10*i))
	}
	all := fmt.Sprintf(`[...document.querySelectorAll('live-leaderboard')]
		.map(board => (document => %s)({querySelector: () => board})).join(', ')`, own)
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/boards/stars?top=5&me=fay"),
		becomes(own, "below: 6 fay 10 to next 10"),
		chromedp.Evaluate[chromedp.Void](`for (const me of ['eve', 'fay', '', 'x'.repeat(129)]) {
			const board = document.createElement('live-leaderboard');
			for (const [name, value] of Object.entries({board: 'stars', top: '3', me})) board.setAttribute(name, value);
			document.body.append(board);
		} null`),
		becomes(all, "below: 6 fay 10 to next 10, below: 5 eve 10 to next 20, below: 6 fay 10 to next 10, , "),
		becomes(`[...document.querySelectorAll('live-leaderboard')].map(board => board.dataset.state).join(' ')`, "live live live live stopped"),
		becomes(`[...document.querySelectorAll('live-leaderboard')].at(-1).shadowRoot.querySelector('[part~=note]').textContent`,
			"me: has 129 bytes; want 1 to 128"),
	))
	require.Equal(t, 200, p.Post("stars", `{"member":"fay","score":11}`).Status)
	require.NoError(t, chromedp.Do(ctx, becomes(all, "listed: 5 fay 9 to next 21, below: 6 eve 1 to next 20, below: 5 fay 9 to next 21, , ")))
}
