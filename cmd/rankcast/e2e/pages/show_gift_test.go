//go:build !race

package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

const tenFlowers = `[data-amount="10"]`

// tapTwice taps on the button for ten flowers.
var tapTwice = chromedp.Steps(click(tenFlowers), click(tenFlowers))

// awaitScore waits until a star has so many flowers.
func awaitScore(p *e2etest.Process, star string, flowers int) {
	p.T.Helper()
	redistest.Eventually(p.T, "the gifts to count", func() error {
		if is := scoreOf(p, "stars", star); is != flowers {
			return fmt.Errorf("%d", is)
		}
		return nil
	})
}

// Twenty quick taps count twenty times, as one event; the button says so at once. On a phone, the thanks soon make way for the
// viewer's goal, and leave the button for the nickname.
func TestShowGiftCountsEveryTap(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	d := startDoorman(t, p)
	ctx := window(t, 390, 844)
	do(t, ctx,
		chromedp.Navigate(d.URL+"/show/gift/s17?me=mochi&lang=en"), watching, boundsKnown,
		// The thanks and the runs of taps end when the test says so.
		script(`globalThis.ends = [];
			globalThis.setTimeout = (real => (run, ms, ...more) =>
				[1500, 3000].includes(ms) ? ends.push(run) : real(run, ms, ...more))(setTimeout)`),
		script(`for (let i = 1; i <= 20; i++) document.querySelector('`+tenFlowers+`').click()`),
		becomes(taps, "×20"),
		becomes(textOf("#gift-note"), "Thank you! 200 for s17: you are No. 1 among the fans."), becomes(taps, "×20"),
		becomes(`page.feedOf()`, "mochi s17 200"),
		// Each size and each star has a gift of its own. The button counts on and so do the thanks, which stay meanwhile.
		script(`globalThis.notes = [];
			new MutationObserver(() => notes.push(document.querySelector('#gift-note').textContent.match(/\d+|$/)[0]))
				.observe(document.querySelector('#gift-note'), {childList: true, characterData: true, subtree: true})`),
		script(`for (const size of [1, 10, 1]) document.querySelector('[data-amount="' + size + '"]').click()`),
		becomes(`page.fields('fans')`, "1 mochi 212"),
		becomes(textOf("#gift-note"), "Thank you! 212 for s17: you are No. 1 among the fans."), becomes(taps, "×21"),
		holds(`notes.every((n, i) => Number(n) > (notes[i - 1] ?? 200))`),
		becomes(sees("#viewer", "#viewer-name"), "true,false"),
		script(`for (const end of ends) end()`), becomes(sees("#viewer", "#viewer-name"), "true,true"), becomes(taps, ""),
	)
	_, _, sent := d.all()
	require.Len(t, sent, 3)
	require.Equal(t, 212, scoreOf(p, "stars", "s17"))
}

// unanswered is an expression for the gifts that the page would send again after a reload. Chromium was seen to lose what a
// tab has stored, on a busy machine; then there are none either.
const unanswered = `Object.values(sessionStorage).join() || '[]'`

// boundsKnown waits until the page knows the bounds of the event.
var boundsKnown = holds(`page.answered('/v1/events/gift')`)

// An event that bounds its amounts gets as many events as the taps need; a pause of a viewer who goes on tapping ends a gift.
func TestShowGiftKeepsWithinTheBound(t *testing.T) {
	t.Parallel()
	for bound, c := range map[int]struct {
		largest, sum int
		want         []int
	}{99: {99, 298, []int{99, 99, 90, 10}}, 50: {49, 198, []int{49, 49, 50, 50}}} {
		p := e2etest.LaunchBoards(t, strings.Replace(starFlowers, "  gift:\n",
			fmt.Sprintf("  gift:\n    fields: {flowers: {min: 1, max: %d, choices: [10, %d]}}\n", bound, c.largest), 1))
		d := startDoorman(t, p)
		ctx := window(t, 390, 844)
		do(t, ctx,
			chromedp.Navigate(d.URL+"/show/gift/s17?me=mochi&lang=en"), watching, boundsKnown,
			script(fmt.Sprintf(`for (const amount of [%[1]d, %[1]d, ...Array(10).fill(10)])
				document.querySelector('[data-amount="' + amount + '"]').click()`, c.largest)),
			becomes(`page.fields('fans')`, fmt.Sprint("1 mochi ", c.sum)), becomes(unanswered, "[]"),
		)
		_, _, sent := d.all()
		var amounts []int
		for _, message := range sent {
			var frame struct{ Data struct{ Flowers int } }
			require.NoError(t, json.Unmarshal([]byte(message), &frame))
			amounts = append(amounts, frame.Data.Flowers)
		}
		require.ElementsMatch(t, c.want, amounts)
		require.Equal(t, c.sum, scoreOf(p, "stars", "s17"))
	}
}

// The network drops while a gift is on its way: it counts once, and so do the taps that follow meanwhile.
func TestShowGiftCountsOnce(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	g, ctx := silentStar(t, p, 1280, 900)
	do(t, ctx, tapTwice, becomes(taps, "×2"))
	awaitScore(p, "s17", 20)
	g.shut.Store(true)
	g.cut()
	do(t, ctx,
		becomes(textOf("#gift-note"), "Waiting for the server. What you have sent goes out as soon as it is back."),
		becomes(taps, "×2"), click(tenFlowers), becomes(taps, "×3"),
	)
	g.shut.Store(false)
	do(t, ctx,
		becomes(textOf("#gift-note"), "Thank you! 30 for s17: you are No. 1 among the fans."),
		becomes(textOf(".star-head"), "S s17 No. 1 30 In the lead"),
		becomes(`page.fields('fans')`, "1 mochi 30"), becomes(petals, "0"), // they are gone once they have arrived
		becomes(unanswered, "[]"), becomes(`stays`, "yes"),
	)
	require.Equal(t, 30, scoreOf(p, "fans:s17", "mochi"))
}

// The page is loaded anew, or closed, while one gift is unanswered and another one gathers taps: all of them count once.
func TestShowGiftSurvivesReload(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	g, ctx := silentStar(t, p, 1280, 900)
	do(t, ctx, click(tenFlowers), becomes(taps, "×1"))
	awaitScore(p, "s17", 10)
	g.shut.Store(true)
	g.cut()
	do(t, ctx,
		becomes(`page.state('star-board')`, "away"),
		// A pause does not end: the gift gathers taps until the page ends.
		script(`globalThis.setTimeout = (real => (run, ms, ...more) => ms === 300 ? 0 : real(run, ms, ...more))(setTimeout)`),
		tapTwice, becomes(taps, "×3"),
	)
	// The page goes before the server is back, or it might send the gifts and thank for them itself.
	do(t, ctx, chromedp.Navigate("about:blank"))
	g.shut.Store(false)
	do(t, ctx,
		chromedp.Navigate("http://"+g.addr+"/show/gift/s17?me=mochi&lang=en"),
		becomes(textOf("#gift-note"), "Thank you! 30 for s17: you are No. 1 among the fans."),
		becomes(unanswered, "[]"),
	)
	require.Equal(t, 30, scoreOf(p, "stars", "s17"))
}

// A gift that still gathers taps goes out when its page goes.
func TestShowGiftGoesOutWithItsPage(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	ctx := window(t, 390, 844)
	do(t, ctx, visit(p, "/show/gift/s17?me=mochi&lang=en"), watching, boundsKnown,
		script(`globalThis.setTimeout = (real => (run, ms, ...more) => ms === 300 ? 0 : real(run, ms, ...more))(setTimeout)`),
		tapTwice, becomes(taps, "×2"),
		chromedp.Navigate("about:blank"),
	)
	awaitScore(p, "s17", 20)
}

// The server dies with a gift on its way, and taps follow: once it is back, all of them count, each once.
func TestShowGiftOutlivesTheServer(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	args := []string{"--redis", r.URL(), "--boards", e2etest.Write(t, "stars.yaml", starFlowers)}
	p := e2etest.Launch(t, args...)
	_, ctx := silentStar(t, p, 390, 844)
	do(t, ctx, click(tenFlowers))
	awaitScore(p, "s17", 10)
	p.Kill()
	const card = `getComputedStyle(document.querySelector('.star-head')).filter`
	do(t, ctx,
		becomes(card, "grayscale(1)"), tapTwice, becomes(taps, "×3"),
		becomes(textOf("#gift-note"), "Waiting for the server. What you have sent goes out as soon as it is back."),
	)
	p = e2etest.Launch(t, append(args, "--addr", p.Addr)...)
	do(t, ctx,
		becomes(textOf("#gift-note"), "Thank you! 30 for s17: you are No. 1 among the fans."),
		becomes(textOf(".star-head"), "S s17 No. 1 30 In the lead"), becomes(card, "none"), becomes(`stays`, "yes"),
	)
	require.Equal(t, 30, scoreOf(p, "fans:s17", "mochi"))
}

// A first gift asks for a nickname, by keyboard too, and then goes out; without a nickname it does not.
func TestShowGiftAsksForANickname(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	ctx := window(t, 390, 844)
	const dialog = `document.querySelector('dialog').open + ' ' + (document.activeElement.id || document.activeElement.dataset.amount)`
	do(t, ctx,
		visit(p, "/show/gift/s17?lang=en"), watching, boundsKnown,
		script(`document.querySelector('`+tenFlowers+`').focus()`), chromedp.KeyEvent("\r"),
		becomes(dialog, "true me"), becomes(taps, ""), becomes(`document.querySelector('#nickname-done').textContent`, "Send 10"),
		chromedp.KeyEvent(kb.Escape), becomes(dialog, "false 10"), becomes(taps, ""),
		click(tenFlowers), becomes(dialog, "true me"),
		chromedp.KeyEvent("\r"), becomes(textOf("#me-problem"), "Type a nickname first."),
		// An id has 128 bytes, and the input takes no more characters.
		chromedp.KeyEvent(strings.Repeat("汀", 43)+"\r"), becomes(textOf("#me-problem"), "This nickname is too long."), becomes(dialog, "true me"),
		script(`document.querySelector('#me').select()`), chromedp.KeyEvent(strings.Repeat("x", 130)),
		becomes(`document.querySelector('#me').value.length + ''`, "128"),
		script(`document.querySelector('#me').select()`), chromedp.KeyEvent("小 mochi\r"),
		becomes(dialog, "false 10"), becomes(viewerName, "小 mochi"), becomes(stored, "小 mochi"),
		becomes(textOf("#gift-note"), "Thank you! 10 for s17: you are No. 1 among the fans."),
		// The next one goes out at once.
		click(tenFlowers), becomes(`page.fields('fans')`, "1 小 mochi 20"), becomes(dialog, "false 10"),
	)
	require.Equal(t, 20, scoreOf(p, "stars", "s17"))
}

// Where sockets may send nothing there is no button, and one that was there says why.
func TestShowWithoutSocketWrites(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/show/gift/s17?me=mochi&lang=en"), watching)
	p.Kill()
	do(t, ctx, becomes(`page.state('star-board')`, "away"))
	p = launchShow(t, "--addr", p.Addr, "--no-socket-writes")
	do(t, ctx,
		click(`[data-amount="1"]`),
		becomes(textOf("#gift-note"), "This server takes nothing from pages. It was not sent."),
		becomes(`stays`, "yes"),
	)
	give(p, "s17", "mochi", 3)
	do(t, ctx,
		visit(p, "/show/gift/s17?me=mochi&lang=en"), watching,
		becomes(`page.fields('fans')`, "1 mochi 3"),
		becomes(`page.count('.size')`, "0"),
	)
}

// With sound, a gift that the server has taken has a tone of its own.
func TestShowGiftHasATone(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	give(p, "s1", "u1", 90)
	give(p, "s17", "u1", 50)
	give(p, "s17", "mochi", 5) // nobody passes anybody
	ctx := ownWindow(t, 390, 844)
	do(t, ctx,
		beforeScripts(`var played = [];
			OscillatorNode.prototype.start = (start => function (at) {
				played.push(Math.round(this.frequency.value));
				start.call(this, at);
			})(OscillatorNode.prototype.start);`),
		visit(p, "/show/gift/s17?me=mochi&lang=en"), watching,
		click(tenFlowers), becomes(textOf("#gift-note"), "Thank you! 10 for s17: you are No. 2 among the fans."),
		becomes(`played.join()`, ""),
		script(`document.cookie = 'rankcast-settings=sound=on; Path=/'`), chromedp.Reload(), watching,
		becomes(textOf(".settings-sound"), "A soft tone for what you send, for a new leader, and when the one you look at rises"),
		click(tenFlowers), becomes(`played.join()`, "784,1047"),
	)
}

// gate stands between a browser and a server, whose sockets it can silence and cut.
type gate struct {
	addr    string
	shut    atomic.Bool // nobody gets through
	wg      sync.WaitGroup
	mu      sync.Mutex
	sockets []*socketLink
	conns   []net.Conn
}

type socketLink struct {
	silent atomic.Bool // what the server says is lost
}

func startGate(t *testing.T, target string) *gate {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{addr: listener.Addr().String()}
	g.wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil || g.shut.Load() {
				client.Close()
				if err == nil {
					server.Close()
				}
				continue
			}
			g.mu.Lock()
			g.conns = append(g.conns, client, server)
			g.mu.Unlock()
			link := new(socketLink)
			g.wg.Go(func() { g.pump(link, server, client) })
			g.wg.Go(func() { g.pump(link, client, server) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		g.cut()
		redistest.Wait(t, "the end of g.wg", g.wg.Wait)
	})
	return g
}

func (g *gate) pump(link *socketLink, to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if bytes.Contains(buf[:n], []byte("Upgrade: websocket\r\n")) {
			g.mu.Lock()
			g.sockets = append(g.sockets, link)
			g.mu.Unlock()
		}
		if link.silent.Load() && to.LocalAddr().String() == g.addr {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// silentStar opens a star's page through a gate that then silences its sockets.
func silentStar(t *testing.T, p *e2etest.Process, width, height int) (*gate, context.Context) {
	g := startGate(t, p.Addr)
	ctx := window(t, width, height)
	do(t, ctx, chromedp.Navigate("http://"+g.addr+"/show/gift/s17?me=mochi&lang=en"), watching, boundsKnown)
	g.silence()
	return g, ctx
}

// silence loses what the server says over the sockets that there are.
func (g *gate) silence() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, link := range g.sockets {
		link.silent.Store(true)
	}
}

// cut ends all connections.
func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.conns {
		c.Close()
	}
	g.conns = nil
}

// Each tap counts once, whatever fails meanwhile.
func TestShowGiftSenderCountsEachTapOnce(t *testing.T) {
	t.Parallel()
	giftSenderCountsEachTapOnce(t, 6)
}

// giftSenderCountsEachTapOnce runs random histories of taps and failures.
func giftSenderCountsEachTapOnce(t *testing.T, histories int) {
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	do(t, ctx, visit(p, "/healthz"), script(scriptFile(t, "clock.js")),
		script(`stopClock()`), script(scriptFile(t, "gift-sender.js")))
	for range histories {
		seed := rand.Uint32()
		found, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(`senderHistory(%d)`, seed), chromedp.EvalAwaitPromise))
		require.NoError(t, err, "seed %d", seed)
		require.Regexp(t, `^nothing in \d+ events$`, found, "seed %d", seed)
	}
}
