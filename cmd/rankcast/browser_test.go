package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// browser starts a headless Chromium with a profile of its own and returns what
// chromedp.Run takes.
func browser(t *testing.T, width, height int) context.Context {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	require.NotEmpty(t, path, "the tests need a browser: apt-get install -y --no-install-recommends chromium")
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.WindowSize(width, height),
	}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	ctx, cancelTime := context.WithTimeout(context.Background(), 2*servertest.Patience)
	ctx, cancelBrowser := chromedp.NewExecAllocator(ctx, options...)
	ctx, cancelTab := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		cancelTab()
		cancelBrowser()
		cancelTime()
	})
	return ctx
}

// rows is an expression for the members shown, in their order.
const rows = `[...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[data-member]')].map(r => r.dataset.member)`

// shows waits until the page shows just these members.
func shows(members ...string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](fmt.Sprintf("(%s).join(' ') === %q", rows, strings.Join(members, " ")), chromedp.WithPollingTimeout(servertest.Patience))
}

// state waits until the board on the page has been in a state since the last call.
func state(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](fmt.Sprintf("(i => i >= 0 && states.splice(0, i + 1))(states.indexOf(%q))", name), chromedp.WithPollingTimeout(servertest.Patience))
}

func TestPageMovesByItself(t *testing.T) {
	r := redistest.Start(t)
	p := launch(t, "--redis", r.URL())
	for i, m := range []string{"ann", "bob", "cid"} {
		p.post("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 30-10*i))
	}
	ctx := browser(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.addr+"/"),
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

	require.Equal(t, 200, p.post("stars", `{"member":"cid","score":100}`).Status)
	require.NoError(t, chromedp.Do(ctx, shows("cid", "ann", "bob")))
	const sameRow = `row === board.shadowRoot.querySelector('[data-member=cid]')`
	same, err := chromedp.Run(ctx, chromedp.Evaluate[bool](sameRow))
	require.NoError(t, err)
	require.True(t, same, "a row that moves is the same row, on the same page")

	// A name is text, whatever it looks like.
	require.Equal(t, 200, p.post("stars", `{"member":"<img src=x onerror=alert(1)>","score":50}`).Status)
	require.NoError(t, chromedp.Do(ctx, shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob")))
	images, err := chromedp.Run(ctx, chromedp.Evaluate[int](`board.shadowRoot.querySelectorAll('img').length`))
	require.NoError(t, err)
	require.Zero(t, images)

	// Redis goes and comes back: the page says so and keeps what it had.
	r.Kill()
	require.NoError(t, chromedp.Do(ctx, state("stale"), shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob")))
	r.Start()
	require.NoError(t, chromedp.Do(ctx, state("live")))

	// So does the server, at the same address.
	_, port, err := net.SplitHostPort(p.addr)
	require.NoError(t, err)
	p.kill()
	require.NoError(t, chromedp.Do(ctx, state("away"), shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob")))
	p = launch(t, "--redis", r.URL(), "--addr", "127.0.0.1:"+port)
	require.NoError(t, chromedp.Do(ctx, state("live")))
	require.Equal(t, 200, p.post("stars", `{"member":"bob","score":1000}`).Status)
	require.NoError(t, chromedp.Do(ctx, shows("bob", "cid", "<img src=x onerror=alert(1)>", "ann")))
	same, err = chromedp.Run(ctx, chromedp.Evaluate[bool](sameRow))
	require.NoError(t, err)
	require.True(t, same, "all of this without a reload")
}
