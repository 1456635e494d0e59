//go:build !race

package docs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// docTab is a window that an example has opened. It stays open while later examples run, so that
// it sees what they send, until the page ends or stops a server.
type docTab struct {
	block   block
	ctx     context.Context
	console *e2etest.Console
	shown   bool // whether a block has shown what the page writes
}

// newTab opens an empty window and begins to note its errors.
func (p *docPage) newTab(b block) *docTab {
	tab := &docTab{block: b, ctx: e2etest.Window(p.t, 1280, 800)}
	tab.console = e2etest.Listen(p.t, tab.ctx)
	p.tabs = append(p.tabs, tab)
	return tab
}

// await waits until an expression on the page of the tab is "". An error on the page ends the
// wait and the test.
func (p *docPage) await(tab *docTab, what, expression string) {
	p.eventually(tab.block, what, func() error {
		if errors := tab.console.All(); errors != "" {
			p.fail(tab.block, "errors in the browser:\n%s", errors)
		}
		is, err := chromedp.Run(tab.ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
		if strings.Contains(is, " is stopped: ") {
			p.fail(tab.block, "waiting for %s: %s", what, is) // for good
		}
		if err == nil && is != "" {
			err = errors.New(is)
		}
		return err
	})
}

// closeTabs checks what the open windows have come to, and has them leave their pages.
func (p *docPage) closeTabs() {
	for _, tab := range p.tabs {
		if tab.block.lang == "js" && strings.Contains(tab.block.text, "#out") && !tab.shown {
			p.fail(tab.block, "no block of text page shows what the script writes into #out")
		}
		p.await(tab, "the boards to be live", watched)
		p.await(tab, "the page to settle", settled)
		p.await(tab, "no errors", `''`) // those that came while it settled
		require.NoError(p.t, chromedp.Do(tab.ctx, chromedp.Navigate("about:blank")), "%s", tab.block)
	}
	p.tabs = nil
}

// settled waits until the page has rendered twice: by then it knows of each promise that has been
// rejected.
const settled = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done('')))))`

// watched is an expression for how the boards of a page are: each that is not live, shows no row, or
// does not mark the member that it follows.
const watched = `[...document.querySelectorAll('live-leaderboard')].map(board => {
	const name = board.getAttribute('board'), shows = part => board.shadowRoot.querySelector('[part~=' + part + ']');
	if (board.dataset.state !== 'live') return name + ' is ' + board.dataset.state + ': '
		+ (board.shadowRoot?.textContent ?? 'not defined').replace(/\s+/g, ' ');
	if (!shows('row')) return name + ' shows no row';
	return board.hasAttribute('me') && !shows('me') ? name + ' does not mark ' + board.getAttribute('me') : '';
}).filter(Boolean).join('; ')`

// open opens the pages of HTML that are saved, in a browser: from the site at sitePort, which the
// test serves if the example does not, or as a file.
func (p *docPage) open() {
	for len(p.unopened) > 0 {
		b := p.unopened[0]
		p.unopened = p.unopened[1:]
		url := "file://" + filepath.Join(p.clone, b.file)
		if b.word != "file" {
			url = "http://" + p.ports.addr(sitePort) + "/" + b.file
			if listener, err := net.Listen("tcp", p.ports.addr(sitePort)); err == nil {
				site := &http.Server{Handler: http.FileServer(http.Dir(p.clone))}
				var serving sync.WaitGroup
				serving.Go(func() { site.Serve(listener) })
				p.openURL(b, url)
				site.Close()
				serving.Wait()
				continue
			}
		}
		p.openURL(b, url)
	}
}

func (p *docPage) openURL(b block, url string) {
	tab := p.newTab(b)
	require.NoError(p.t, chromedp.Do(tab.ctx, chromedp.Navigate(url)), "%s", b)
	p.await(tab, "the boards to be live", watched)
}

// runScript runs a block as a module of a page of the server's own origin, with an empty element
// out. The policy of the server's pages would refuse a script that is not the server's, so the
// browser ignores it.
func (p *docPage) runScript(b block) {
	tab := p.newTab(b)
	require.NoError(p.t, e2etest.Call(tab.ctx, cdpage.SetBypassCSP, cdpage.SetBypassCSPParams{Enabled: true}), "%s", b)
	require.NoError(p.t, chromedp.Do(tab.ctx,
		chromedp.Navigate("http://"+p.ports.addr(serverPort)+"/healthz"), // a page without scripts
		e2etest.Script(`document.body.innerHTML = '<div id="out"></div>'`)), "%s", b)
	failed, err := chromedp.Run(tab.ctx, chromedp.Evaluate[string](fmt.Sprintf(
		`import(URL.createObjectURL(new Blob([%s], {type: 'text/javascript'})))
			.then(() => '', error => String(error?.stack ?? JSON.stringify(error)))`,
		asJSON(p.ports.in(b.text))), chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, "%s", b)
	if failed != "" {
		p.fail(b, "the script throws: %s\n%s", failed, tab.console.All())
	}
	p.await(tab, "the boards to be live", watched)
}

// comparePage waits until #out on the page of the last script has the text of a block.
func (p *docPage) comparePage(b block) {
	if len(p.tabs) == 0 || p.tabs[len(p.tabs)-1].block.lang != "js" {
		p.fail(b, "no script stands before this text")
	}
	tab := p.tabs[len(p.tabs)-1]
	tab.shown = true
	want := p.ports.in(b.text)
	p.eventually(b, "this text on the page", func() error {
		out, err := chromedp.Run(tab.ctx, chromedp.Evaluate[string](`document.querySelector('#out').textContent`))
		if err != nil {
			return err
		}
		if err := (matcher{}).lines(want, out); err != nil {
			return fmt.Errorf("%w\nwant:\n%s\ngot:\n%s\n%s", err, want, out, tab.console.All())
		}
		return nil
	})
}

// The complete client of live.md comes back after a lost connection, and gets only what it has missed.
func TestDocsClientResumes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(e2etest.ModuleRoot, "web/docs/live.md"))
	require.NoError(t, err)
	blocks, err := parseBlocks("live.md", string(text))
	require.NoError(t, err)
	at := slices.IndexFunc(blocks, func(b block) bool { return b.lang == "js" && strings.Contains(b.text, "new WebSocket(") })
	require.NotEqual(t, -1, at)

	p := e2etest.Launch(t)
	send := func(body string) {
		p.Answers(200, "POST", "/v1/boards/points/scores", body)
	}
	p.Answers(201, "PUT", "/v1/boards/points", `{}`)
	// Of a longer list, a change of one row is smaller than a snapshot.
	send(e2etest.Scores("ana", 50, "eli", 40, "mia", 30, "leo", 20))
	// Another client watches, so that the node knows the change that the first one misses.
	other, err := dialDocs(t.Context(), p.Addr)
	require.NoError(t, err)
	defer other.close()
	require.NoError(t, other.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe","board":"points","top":10}`)))
	ctx := e2etest.Window(t, 800, 600)
	require.NoError(t, e2etest.Call(ctx, cdpage.SetBypassCSP, cdpage.SetBypassCSPParams{Enabled: true}))
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/healthz"),
		// The page notes the sockets, and the types of the frames of each. It refuses to open others until it may.
		e2etest.Script(`document.body.innerHTML = '<div id="out"></div>';
			var sockets = [], may = true;
			globalThis.WebSocket = class extends WebSocket {
				constructor(url, protocol) {
					super(may ? url : url.replace('/v1/live', '/nothing'), protocol);
					this.types = [];
					this.addEventListener('message', ({data}) => this.types.push(JSON.parse(data).type));
					sockets.push(this);
				}
			};`),
		e2etest.Script(`import(URL.createObjectURL(new Blob([`+asJSON(blocks[at].text)+`], {type: 'text/javascript'})))`),
		e2etest.Becomes(`document.querySelector('#out').textContent`, "1. ana: 50\n2. eli: 40\n3. mia: 30\n4. leo: 20"),
		e2etest.Script(`may = false; sockets[0].close()`), e2etest.Becomes(`String(sockets.length > 1)`, "true"),
	))
	send(`{"member":"leo","score":5}`)
	require.NoError(t, chromedp.Do(ctx,
		e2etest.Script(`may = true`),
		e2etest.Becomes(`document.querySelector('#out').textContent`, "1. ana: 50\n2. eli: 40\n3. mia: 30\n4. leo: 25"),
		e2etest.Becomes(`sockets.at(-1).types.join()`, "ok,delta"),
	))
}
