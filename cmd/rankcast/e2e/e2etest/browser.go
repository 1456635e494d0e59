//go:build !race

package e2etest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/server/servertest"
	"rankcast/web"
)

// Patience bounds each wait for something on a page. Chromium draws in software here, so it slows down more than the servers do
// on a busy machine.
const Patience = 3 * servertest.Patience

// windowTime is how long a window stays open at most.
const windowTime = 5 * Patience

// PollInterval is how often a page is asked for what a test waits for. To ask at each frame, as chromedp does by itself, would
// have Chromium draw 60 of them a second.
const PollInterval = 30 * time.Millisecond

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

// idleTabs are the tabs that tests have left, each at a blank page. The first page of a new tab costs twice the CPU of a later one.
var idleTabs struct {
	sync.Mutex
	ids []target.ID
}

// Window opens a window of the shared browser, and returns the context for chromedp.Do. The page has this
// size in CSS pixels. The window ends with the test, and a later one takes its tab. Windows share cookies, but
// each server of a test has an address of its own, and so a storage of its own; the window empties it when it
// ends, for a later server may get the same address.
func Window(t testing.TB, width, height int) context.Context {
	t.Helper()
	options := []chromedp.ContextOption{chromedp.WithDetachOnCancel()}
	idleTabs.Lock()
	if last := len(idleTabs.ids) - 1; last >= 0 {
		options = append(options, chromedp.WithTargetID(idleTabs.ids[last]))
		idleTabs.ids = idleTabs.ids[:last]
	}
	idleTabs.Unlock()
	var tab target.ID
	emptied := false
	t.Cleanup(func() { // by now the window has detached from its tab, which ends all that it emulates and injects
		if emptied {
			idleTabs.Lock()
			defer idleTabs.Unlock()
			idleTabs.ids = append(idleTabs.ids, tab)
		} else if tab != "" {
			closeTab(tab)
		}
	})
	ctx := newWindow(t, windowTime, width, height, options...)
	tab = chromedp.FromContext(ctx).Target.TargetID
	require.NoError(t, chromedp.Do(ctx, withFace(t)))
	t.Cleanup(func() { emptied = empty(ctx) == nil })
	return ctx
}

// empty has a window leave its page, and empties the storage of each address that it has visited.
func empty(ctx context.Context) error {
	visited, err := chromedp.Call(ctx, cdppage.GetNavigationHistory, cdp.Empty{})
	if err != nil {
		return err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		return err
	}
	for _, entry := range visited.Entries {
		at, err := url.Parse(entry.URL)
		if err != nil || at.Host == "" {
			continue // a blank page has no storage, and the files of tests keep nothing
		}
		if err := Call(ctx, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{
			Origin: at.Scheme + "://" + at.Host, StorageTypes: "all",
		}); err != nil {
			return err
		}
	}
	return Call(ctx, cdppage.ResetNavigationHistory, cdp.Empty{})
}

// closeTab closes the tab of a window that could not be emptied, whose page would go on beside other tests.
func closeTab(tab target.ID) {
	browser, err := sharedBrowser()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(browser, Patience)
	defer cancel()
	cdp.Call(ctx, chromedp.FromContext(ctx).Browser, target.CloseTarget, target.CloseTargetParams{TargetID: tab})
}

// withFace gives each page of a window the face of the server before its first picture. A page whose face comes later keeps
// the reader's, which may be wider.
func withFace(t testing.TB) chromedp.Action[chromedp.Void] {
	t.Helper()
	face, err := web.Files.ReadFile("dist/assets/shared/archivo.woff2")
	require.NoError(t, err)
	return BeforeScripts(fmt.Sprintf(`{
		document.fonts.add(new FontFace('Archivo', Uint8Array.fromBase64('%s'), {weight: '500 800'}));
	}`, base64.StdEncoding.EncodeToString(face)))
}

// OwnWindow is like Window, with cookies, storage and a tab of its own.
func OwnWindow(t testing.TB, width, height int) context.Context {
	t.Helper()
	ctx := VisitorWindow(t, width, height)
	require.NoError(t, chromedp.Do(ctx, withFace(t)))
	return ctx
}

// VisitorWindow is like OwnWindow, but its pages take their face as it comes, so texts may stay in the reader's own. It is for
// tests of what loads when.
func VisitorWindow(t testing.TB, width, height int) context.Context {
	t.Helper()
	return WindowFor(t, windowTime, width, height)
}

// WindowFor is a VisitorWindow that stays open for another time.
func WindowFor(t testing.TB, open time.Duration, width, height int) context.Context {
	t.Helper()
	return newWindow(t, open, width, height, chromedp.WithNewBrowserContext())
}

func newWindow(t testing.TB, open time.Duration, width, height int, options ...chromedp.ContextOption) context.Context {
	t.Helper()
	browser, err := sharedBrowser()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(browser, open)
	ctx, closeWindow := chromedp.NewContext(ctx, options...)
	t.Cleanup(func() {
		closeWindow()
		cancel()
	})
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(int64(width), int64(height))))
	return ctx
}

// Becomes waits until an expression on the page is want. The error says what it is instead. The expression may
// throw for as long as the page has not got what it names.
func Becomes(expression, want string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		poll := chromedp.Poll[chromedp.Void](fmt.Sprintf("(() => { try { return (%s) === %q } catch { return false } })()",
			expression, want), chromedp.WithPollingInterval(PollInterval), chromedp.WithPollingTimeout(Patience))
		_, err := poll(ctx, t)
		for err != nil && ctx.Err() == nil &&
			(strings.Contains(err.Error(), "Cannot find context with specified id") || strings.Contains(err.Error(),
				"Inspected target navigated or closed")) {
			_, err = poll(ctx, t) // the page has just been replaced by another one
		}
		if err != nil {
			is, threw := chromedp.Evaluate[string](expression)(ctx, t)
			err = errors.Join(fmt.Errorf("%w: want %q of %s, is %q", err, want, expression, is), threw)
		}
		return chromedp.Void{}, err
	}
}

// Script runs text on the page.
func Script(text string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](text + "; null")
}

// Call runs a command of the DevTools protocol and drops its result.
func Call[P, R any](ctx context.Context, command cdp.Command[P, R], params P) error {
	_, err := chromedp.Call(ctx, command, params)
	return err
}

// BeforeScripts is an action that has each page of the window run a script before its own.
func BeforeScripts(text string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		return chromedp.Void{}, Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: text})
	}
}

// Console holds the faults of the pages of a window: what they log as errors and warnings, exceptions,
// rejections of promises that nothing handles, and what the browser refuses.
type Console struct {
	mu     sync.Mutex
	faults []string
}

// Listen begins to note the faults of the pages of ctx.
func Listen(t *testing.T, ctx context.Context) *Console {
	c := new(Console)
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		text := ""
		switch event := event.(type) {
		case *runtime.EventExceptionThrown:
			text = event.ExceptionDetails.Text
			if exception := event.ExceptionDetails.Exception; exception != nil {
				text += " " + exception.Description + string(exception.Value)
			}
		case *runtime.EventConsoleAPICalled:
			if event.Type != runtime.ConsoleAPICalledTypeError && event.Type != runtime.ConsoleAPICalledTypeWarning {
				return
			}
			for _, arg := range event.Args {
				text += " " + arg.Description + string(arg.Value)
			}
		case *log.EventEntryAdded:
			// A browser asks for the icon by itself.
			if event.Entry.Level != log.EntryLevelError && event.Entry.Level != log.EntryLevelWarning ||
				strings.HasSuffix(event.Entry.URL, "/favicon.ico") {
				return
			}
			text = event.Entry.Text + " " + event.Entry.URL
		default:
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.faults = append(c.faults, strings.TrimSpace(text))
	}))
	return c
}

func (c *Console) All() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.faults, "\n")
}
