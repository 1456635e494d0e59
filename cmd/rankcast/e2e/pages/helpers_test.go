//go:build !race

package pages

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// The verbs of this package's tests, and what bounds them.
var (
	becomes       = e2etest.Becomes
	script        = e2etest.Script
	beforeScripts = e2etest.BeforeScripts
)

const patience = e2etest.Patience

// window is e2etest.Window whose pages have the functions of scripts/page.
func window(t testing.TB, width, height int) context.Context {
	t.Helper()
	return withPage(t, e2etest.Window(t, width, height))
}

// ownWindow is e2etest.OwnWindow whose pages have the functions of scripts/page.
func ownWindow(t testing.TB, width, height int) context.Context {
	t.Helper()
	return withPage(t, e2etest.OwnWindow(t, width, height))
}

func visitorWindow(t testing.TB, width, height int) context.Context {
	t.Helper()
	return withPage(t, e2etest.VisitorWindow(t, width, height))
}

func withPage(t testing.TB, ctx context.Context) context.Context {
	t.Helper()
	do(t, ctx, beforeScripts(pageScript(t)))
	return ctx
}

// do does one action after another in a window.
func do(t testing.TB, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, actions...))
}

// fullScreen shows the board of the page alone.
var fullScreen = chromedp.Steps(click("#full-screen"), becomes(fullScreenPressed, "true"))

const (
	fullScreenPressed = `document.querySelector('#full-screen').ariaPressed`
	isFullScreen      = `String(document.fullscreenElement !== null)`
)

// resize gives the window another size, and waits until the page has it.
func resize(width, height int64) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(chromedp.EmulateViewport(width, height), becomes(`innerWidth + ' ' + innerHeight`, fmt.Sprint(width, height)))
}

// value returns the value of an expression on the page. It waits for a promise.
func value[T any](t testing.TB, ctx context.Context, expression string) T {
	t.Helper()
	is, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(t, err, expression)
	return is
}

// servePage serves a page of another site until the end of the test. The text may change.
func servePage(t *testing.T, text *string) *httptest.Server {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, *text)
	}))
	t.Cleanup(site.Close)
	return site
}

// periodOf sends updates to a board, and returns the period that counts them.
func periodOf(p *e2etest.Process, board, body string) string {
	var counted struct{ Period string }
	p.Post(board, body).Into(&counted)
	return counted.Period
}

// visit opens a page of a server, and waits until it is loaded.
func visit(p *e2etest.Process, path string) chromedp.Action[chromedp.Void] {
	return chromedp.Navigate("http://" + p.Addr + path)
}

// holds waits until an expression on the page is true.
func holds(expression string) chromedp.Action[chromedp.Void] {
	return becomes("String("+expression+")", "true")
}

// isLive waits until the board on the page is live. The first rows come before.
var isLive = becomes(`page.state()`, "live")

// shows waits until the list has these members.
func shows(members ...string) chromedp.Action[chromedp.Void] {
	return becomes(`page.rows().join(' ')`, strings.Join(members, " "))
}

// follows waits until this is the row of the followed member, see page.own.
func follows(row string) chromedp.Action[chromedp.Void] {
	return becomes(`page.own()`, row)
}

// state waits until the board on the page enters a state, or has entered it since the last call of state.
func state(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](fmt.Sprintf("(i => i >= 0 && states.splice(0, i + 1))(states.indexOf(%q))", name),
		chromedp.WithPollingInterval(e2etest.PollInterval), chromedp.WithPollingTimeout(patience))
}

// click presses the first element of a selector once, as soon as it is visible. chromedp.Click waits for it for as long as the
// window is open, and then does not say which it was.
func click(selector string) chromedp.Action[chromedp.Void] {
	return onVisible(selector, func(ctx context.Context, t *chromedp.Target, object runtime.RemoteObjectID) error {
		if err := e2etest.Call(ctx, dom.ScrollIntoViewIfNeeded, dom.ScrollIntoViewIfNeededParams{ObjectID: object}); err != nil {
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
		if err := e2etest.Call(ctx, dom.Focus, dom.FocusParams{ObjectID: object}); err != nil {
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

// kept is what a page keeps after garbage collection.
type kept struct{ nodes, listeners, heap float64 }

// keeps runs the garbage collector of a page, and returns what the page still holds.
func keeps(t *testing.T, ctx context.Context) (k kept) {
	t.Helper()
	require.NoError(t, e2etest.Call(ctx, performance.Enable, performance.EnableParams{}))
	require.NoError(t, e2etest.Call(ctx, heapprofiler.CollectGarbage, cdp.Empty{}))
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

// look opens a page in a size, theme and language, and waits until it shows rows or cards.
func look(t *testing.T, ctx context.Context, addr, path string, width, height int, theme, lang string) {
	t.Helper()
	open(t, ctx, addr, path, width, height, theme, lang)
	require.NoError(t, chromedp.Do(ctx, holds(`page.shown()`)), "%s %d %s %s", path, width, theme, lang)
}

// prefers has the reader of a window prefer a theme, and less motion.
func prefers(t *testing.T, ctx context.Context, theme string) {
	t.Helper()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	require.NoError(t, err)
}

// open opens a page in a size, a theme and a language.
func open(t *testing.T, ctx context.Context, addr, path string, width, height int, theme, lang string) {
	t.Helper()
	prefers(t, ctx, theme)
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(int64(width), int64(height)),
		chromedp.Navigate("http://"+addr+path+sign+"lang="+lang)), "%s %d %s %s", path, width, theme, lang)
}

// textOf is an expression for the words of an element, as they are read.
func textOf(selector string) string {
	return fmt.Sprintf(`page.text(%q)`, selector)
}

// A window that takes the tab of an earlier one finds nothing of it, and a window without an address empties no other. Not
// parallel: another test might take the tab.
func TestWindowsEmptyTheirOwnStorage(t *testing.T) {
	p, other := e2etest.Launch(t), e2etest.Launch(t)
	const kept = `sessionStorage.getItem('kept') + ' ' + localStorage.getItem('kept')`
	keep := script(`sessionStorage.setItem('kept', 'yes'); localStorage.setItem('kept', 'yes')`)
	tab := func(ctx context.Context) target.ID { return chromedp.FromContext(ctx).Target.TargetID }
	var used target.ID
	t.Run("used", func(t *testing.T) {
		ctx := window(t, 200, 200)
		used = tab(ctx)
		do(t, ctx, visit(p, "/healthz"), keep, visit(other, "/healthz"), keep)
	})
	ctx := window(t, 200, 200)
	require.Equal(t, used, tab(ctx))
	do(t, ctx, visit(p, "/healthz"))
	require.Equal(t, "null null", value[string](t, ctx, kept))
	do(t, ctx, visit(other, "/healthz"))
	require.Equal(t, "null null", value[string](t, ctx, kept))
	do(t, ctx, keep)
	t.Run("blank", func(t *testing.T) {
		do(t, window(t, 200, 200), chromedp.Navigate("about:blank"))
	})
	require.Equal(t, "yes yes", value[string](t, ctx, kept))
}
