//go:build !race

package e2e

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/server/servertest"
	"rankcast/web"
)

// patience bounds each wait for something on a page. A window stays open for five times as long. Chromium draws
// in software here, so it slows down more than the servers do on a busy machine.
const patience = 3 * servertest.Patience

// sharedBrowser starts the Chromium that all tests share, once: its start takes longer than
// most tests.
var sharedBrowser = sync.OnceValues(func() (context.Context, error) {
	path, err := browserPath()
	if err != nil {
		return nil, err
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		// A window that others cover still gets all of its frames and timers.
		chromedp.Flag("disable-background-timer-throttling", true), chromedp.Flag("disable-backgrounding-occluded-windows", true),
		chromedp.Flag("disable-renderer-backgrounding", true),
		// Figures are as wide as in a browser with a window.
		chromedp.Flag("font-render-hinting", "none"),
		// A container may have too little shared memory for many pages.
		chromedp.Flag("disable-dev-shm-usage", true),
	}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stopTab := chromedp.NewContext(ctx)
	atEnd(func() {
		stopTab()
		stop()
	})
	return ctx, chromedp.Do(ctx)
})

// browserPath finds a Chromium or Chrome. The one without windows draws the same for half of the CPU.
func browserPath() (string, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("the tests need a browser: make deps")
}

// window opens a window of the shared browser, and returns the context for chromedp.Do. The page has this
// size in CSS pixels. The window closes with the test. Windows share cookies, but each server of a test has
// an address of its own, and so a storage of its own; the window empties it when it closes, for a later
// server may get the same address.
func window(t testing.TB, width, height int) context.Context {
	t.Helper()
	ctx := newWindow(t, width, height)
	require.NoError(t, chromedp.Do(ctx, withFace(t)))
	t.Cleanup(func() {
		// "null" stands for all origins
		if origin, err := chromedp.Run(ctx, chromedp.Evaluate[string]("location.origin")); err == nil && origin != "null" {
			call(ctx, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: origin, StorageTypes: "all"})
		}
	})
	return ctx
}

// withFace gives each page of a window the face of the server before its first picture. A page whose face comes later keeps
// the reader's, which may be wider.
func withFace(t testing.TB) chromedp.Action[chromedp.Void] {
	t.Helper()
	face, err := web.Files.ReadFile("dist/assets/shared/archivo.woff2")
	require.NoError(t, err)
	return beforeScripts(fmt.Sprintf(`{
		const bytes = Uint8Array.from(atob('%s'), c => c.charCodeAt());
		document.fonts.add(new FontFace('Archivo', bytes, {weight: '500 800'}));
	}`, base64.StdEncoding.EncodeToString(face)))
}

// ownWindow is like window, with cookies, storage and processes of its own, and its pages take their face as it comes. It takes
// a second of CPU more.
func ownWindow(t testing.TB, width, height int) context.Context {
	t.Helper()
	return newWindow(t, width, height, chromedp.WithNewBrowserContext())
}

func newWindow(t testing.TB, width, height int, options ...chromedp.ContextOption) context.Context {
	t.Helper()
	browser, err := sharedBrowser()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(browser, 5*patience)
	ctx, closeWindow := chromedp.NewContext(ctx, options...)
	t.Cleanup(func() {
		closeWindow()
		cancel()
	})
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(int64(width), int64(height))))
	return ctx
}

// rows is an expression for the members of the list, in order.
const rows = `[...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[data-member]:not([data-below])')]
	.map(r => r.dataset.member)`

// shows waits until the list has these members.
func shows(members ...string) chromedp.Action[chromedp.Void] {
	return becomes(rows+".join(' ')", strings.Join(members, " "))
}

// own is an expression for the row of the followed member: where it is, and its text. It shows
// two rows if there are two.
const own = `[...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[part=list] > [aria-current]')]
	.filter(r => r.checkVisibility())
	.map(r => ('below' in r.dataset ? 'below: ' : 'listed: ') + r.textContent.replace(/\s+/g, ' ').trim()).join(' | ')`

// follows waits until own is row.
func follows(row string) chromedp.Action[chromedp.Void] {
	return becomes(own, row)
}

// becomes waits until an expression on the page is want. The error says what it is instead. The expression may
// throw for as long as the page has not got what it names.
func becomes(expression, want string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		poll := chromedp.Poll[chromedp.Void](fmt.Sprintf("(() => { try { return (%s) === %q } catch { return false } })()",
			expression, want), chromedp.WithPollingTimeout(patience))
		_, err := poll(ctx, t)
		for err != nil && ctx.Err() == nil &&
			(strings.Contains(err.Error(), "Cannot find context with specified id") || strings.Contains(err.Error(),
				"Inspected target navigated or closed")) {
			_, err = poll(ctx, t) // the page has just been replaced by another one
		}
		if err != nil {
			is, threw := chromedp.Evaluate[string](expression)(ctx, t)
			err = errors.Join(fmt.Errorf("%w: want %q, is %q", err, want, is), threw)
		}
		return chromedp.Void{}, err
	}
}

// state waits until the board on the page has been in a state since the last call.
func state(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](fmt.Sprintf("(i => i >= 0 && states.splice(0, i + 1))(states.indexOf(%q))", name),
		chromedp.WithPollingTimeout(patience))
}

// click presses the first element of a selector once, as soon as it is visible. chromedp.Click waits for it for as long as the
// window is open, and then does not say which it was.
func click(selector string) chromedp.Action[chromedp.Void] {
	return onVisible(selector, func(ctx context.Context, t *chromedp.Target, object runtime.RemoteObjectID) error {
		if err := call(ctx, dom.ScrollIntoViewIfNeeded, dom.ScrollIntoViewIfNeededParams{ObjectID: object}); err != nil {
			return err
		}
		box, err := chromedp.Call(ctx, dom.GetBoxModel, dom.GetBoxModelParams{ObjectID: object})
		if err != nil {
			return err
		}
		corners := box.Model.Border // x and y of each, clockwise from the top left
		_, err = chromedp.MouseClickXY((corners[0]+corners[4])/2, (corners[1]+corners[5])/2)(ctx, t)
		return err
	})
}

// typeInto gives the first element of a selector the focus, as soon as it is visible, and presses keys there.
func typeInto(selector, keys string) chromedp.Action[chromedp.Void] {
	return onVisible(selector, func(ctx context.Context, t *chromedp.Target, object runtime.RemoteObjectID) error {
		if err := call(ctx, dom.Focus, dom.FocusParams{ObjectID: object}); err != nil {
			return err
		}
		_, err := chromedp.KeyEvent(keys)(ctx, t)
		return err
	})
}

// onVisible waits until the first element of a selector is visible, and does something with it.
func onVisible(selector string, do func(context.Context, *chromedp.Target, runtime.RemoteObjectID) error) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		element := fmt.Sprintf("document.querySelector(%q)", selector)
		_, err := becomes("String("+element+".checkVisibility({visibilityProperty: true}))", "true")(ctx, t)
		if err != nil {
			return chromedp.Void{}, fmt.Errorf("%s: %w", selector, err)
		}
		object, err := chromedp.Evaluate[*runtime.RemoteObject](element)(ctx, t)
		if err != nil {
			return chromedp.Void{}, fmt.Errorf("%s: %w", selector, err)
		}
		return chromedp.Void{}, do(ctx, t, object.ObjectID)
	}
}

// script runs text on the page.
func script(text string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](text + "; null")
}

// kept is what a page keeps after garbage collection.
type kept struct{ nodes, listeners, heap float64 }

// keeps collects the garbage of a page and counts what is left.
func keeps(t *testing.T, ctx context.Context) (k kept) {
	t.Helper()
	require.NoError(t, call(ctx, performance.Enable, performance.EnableParams{}))
	require.NoError(t, call(ctx, heapprofiler.CollectGarbage, cdp.Empty{}))
	metrics, err := chromedp.Call(ctx, performance.GetMetrics, cdp.Empty{})
	require.NoError(t, err)
	for _, m := range metrics.Metrics {
		switch m.Name {
		case "Nodes":
			k.nodes = m.Value
		case "JSEventListeners":
			k.listeners = m.Value
		case "JSHeapUsedSize":
			k.heap = m.Value
		}
	}
	require.NotZero(t, k.nodes*k.listeners*k.heap)
	return k
}

// atMost fails the test if the page keeps more than before, with a margin for the rows of the
// last frames, which the browser releases later, and of heap bytes for compiled scripts.
func (k kept) atMost(t *testing.T, before kept, heap float64) {
	t.Helper()
	t.Logf("%.0f nodes, %.0f listeners, %.0f bytes; later %.0f, %.0f, %.0f", before.nodes, before.listeners, before.heap, k.nodes,
		k.listeners, k.heap)
	require.LessOrEqual(t, k.nodes, before.nodes+2000, "nodes")
	require.LessOrEqual(t, k.listeners, before.listeners+200, "listeners")
	require.LessOrEqual(t, k.heap, before.heap+heap, "heap")
}

// call runs a command of the DevTools protocol and drops its result.
func call[P, R any](ctx context.Context, command cdp.Command[P, R], params P) error {
	_, err := chromedp.Call(ctx, command, params)
	return err
}

// shown is an expression for whether the page shows rows, or cards with scores.
const shown = `String([...document.querySelectorAll('live-leaderboard')]
	.some(board => board.shadowRoot.querySelector('[data-member]'))
		|| document.querySelector('.card-score:not(:empty), .line, .rank-path[d]') !== null)`

// look opens a page in a size, theme and language, and waits until it shows rows or cards.
func look(t *testing.T, ctx context.Context, addr, path string, width, height int, theme, lang string) {
	t.Helper()
	open(t, ctx, addr, path, width, height, theme, lang)
	require.NoError(t, chromedp.Do(ctx, becomes(shown, "true")), "%s %d %s %s", path, width, theme, lang)
}

// open opens a page in a size, a theme and a language.
func open(t *testing.T, ctx context.Context, addr, path string, width, height int, theme, lang string) {
	t.Helper()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	require.NoError(t, err)
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(int64(width), int64(height)),
		chromedp.Navigate("http://"+addr+path+sign+"lang="+lang)), "%s %d %s %s", path, width, theme, lang)
}

// focus is an expression for what has it: a part of a board, or an element by its id.
const focus = `(document.activeElement.shadowRoot ?? document).activeElement.getAttribute('part') ?? document.activeElement.id`

// textOf is an expression for the words of an element, as they are read.
func textOf(selector string) string {
	return fmt.Sprintf(`document.querySelector(%q).textContent.replace(/\s+/g, ' ').trim()`, selector)
}

// A window that closes on a page without an address empties the storage of no other window.
func TestWindowsEmptyTheirOwnStorage(t *testing.T) {
	t.Parallel()
	p := launch(t)
	ctx := window(t, 200, 200)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.addr+"/healthz"), script(`sessionStorage.setItem('kept', 'yes')`)))
	t.Run("blank", func(t *testing.T) {
		require.NoError(t, chromedp.Do(window(t, 200, 200), chromedp.Navigate("about:blank")))
	})
	require.NoError(t, chromedp.Do(ctx, becomes(`sessionStorage.getItem('kept')`, "yes")))
}
