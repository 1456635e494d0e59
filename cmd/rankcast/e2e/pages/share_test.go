//go:build !race

package pages

import (
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// A reader shares exactly the page in front of them, and takes its board to another site.
func TestReaderSharesABoard(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {"fans:{star}": {kind: user}}`)
	require.Equal(t, 200, p.Post("fans:s1", `{"member":"ann","score":70}`).Status)
	address := "http://" + p.Addr + "/boards/fans:s1?top=5&me=ann"
	embed := "http://" + p.Addr + "/embed/fans:s1?top=5"
	const open = `document.querySelector('#share-dialog').open`
	done := becomes(textOf("#share-done"), "Copied")
	ctx := window(t, 390, 844)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(address), shows("ann"),
		becomes(`document.querySelector('live-leaderboard').dataset.state`, "live"),
		script(`var copied = '', mayCopy = true, shared = '';
			navigator.clipboard.writeText = async text => { if (!mayCopy) throw new DOMException('', 'NotAllowedError'); copied = text; };
			document.addEventListener('securitypolicyviolation', ({violatedDirective}) => shared += violatedDirective);`),
		click("#share"), becomes(`String(`+open+`)`, "true"), becomes(focus, "share-close"),
		becomes(textOf("#share-url"), address), becomes(`new URL(document.querySelector('#share-qr').src).search`,
			"?text="+url.QueryEscape(address)),
		becomes(`(qr => String(qr.complete && qr.naturalWidth > 0))(document.querySelector('#share-qr'))`, "true"), becomes(`shared`, ""),
		click("#share-copy-url"), done, becomes(`copied`, address),
		click("#share-copy-frame"), becomes(`copied`, `<iframe src="`+embed+`" width="480" height="354" title="fans:s1 · Rankcast"></iframe>`),
		click("#share-copy-element"), becomes(`copied`, `<script type="module" src="http://`+p.Addr+`/kit/rankcast.js"></script>`+
			"\n"+`<live-leaderboard board="fans:s1" top="5"></live-leaderboard>`),
		// Where the page may not copy, the text is there to be copied by hand.
		script(`mayCopy = false`), click("#share-copy-url"), becomes(`String(getSelection())`, address),
		becomes(`document.querySelector('#overlay-link').href.replace(location.origin, '')`, "/overlay/fans:s1?me=ann"),
		typeInto("#share-copy-url", kb.Escape), becomes(`String(`+open+`)`, "false"), becomes(focus, "share"),
		// The share sheet of the device, where it has one.
		beforeScripts(`var shared; Navigator.prototype.share = async data => shared = data.title + ' ' + data.url`),
		chromedp.Navigate(address), shows("ann"), click("#share"), click("#share-native"), becomes(`shared`, "fans:s1 · Rankcast "+address),
		// A language that the address names goes along.
		chromedp.Navigate(address+"&lang=zh"), shows("ann"), click("#share"),
		becomes(`document.querySelector('#share-frame').textContent.split('"')[1]`, embed+"&amp;lang=zh"),
	))
}

// A dialog darkens the whole window, and leaves the page below it where it is, whether the page scrolls or not.
func TestDialogsCoverTheWindow(t *testing.T) {
	t.Parallel()
	p := launchStars(t)
	fill(t, p, "stars", 100)
	fill(t, p, "fans:s1", 3)
	ctx := window(t, 1920, 1080)
	const page = `document.documentElement.getBoundingClientRect().width`
	const places = `['.brand', '.site', 'main']
		.flatMap(part => { const {left, right, top} = document.querySelector(part).getBoundingClientRect(); return [left, right, top]; }).join()`
	const dialog = `[...document.querySelectorAll('dialog[open]')]`
	for _, c := range []struct{ path, opens, scrolls string }{{"/boards/fans:s1", "#share", "false"},
		{"/boards/stars?top=100", "#share", "true"}, {"/stars", "#viewer", "true"}} {
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+c.path), becomes(shown, "true"),
			becomes(`String([...document.querySelectorAll('live-leaderboard')].some(({dataset}) => dataset.state === 'live'))`, "true"),
			becomes(`String(document.documentElement.scrollHeight > innerHeight)`, c.scrolls),
			becomes(`String(`+page+` < innerWidth)`, "true"), // there is a gutter
			script(`scrollTo(0, 40); var before = `+places+`; document.querySelector('`+c.opens+`').click()`),
			becomes(dialog+`.map(open => parseFloat(getComputedStyle(open, '::backdrop').width) - innerWidth).join()`, "0"),
			becomes(`(now => now === before ? "" : before + " then " + now)(`+places+`)`, ""),
			script(dialog+`[0].close()`),
			becomes(`String(`+page+` < innerWidth && `+places+` === before)`, "true"),
		), c.path)
	}
}

// A board is alone on the whole screen, and large: as large as the members that there are leave room for.
func TestBoardFillsTheScreen(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {stars: {}, few: {}}`)
	fill(t, p, "stars", 30)
	fill(t, p, "few", 12)
	ctx := ownWindow(t, 1280, 900)
	// heights is an expression for how much of the screen the rows take, in percent.
	const height = `(list => Math.round(100 * list.getBoundingClientRect().height / innerHeight))(
		document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=list]'))`
	visible := becomes(`['#name', '#leaderboard', '#choices', '.sidebar', '.masthead']
		.filter(part => document.querySelector(part).checkVisibility()
			&& document.fullscreenElement?.contains(document.querySelector(part))).join()`, "#name,#leaderboard")
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/boards/stars"), becomes(listed, "10"),
		click("#full-screen"), visible, becomes(`document.querySelector('#full-screen').ariaPressed`, "true"),
		becomes(`String(`+height+` > 60 && document.querySelector('#board').scrollHeight <= innerHeight)`, "true"),
		click("#full-screen"), becomes(`String(document.fullscreenElement)`, "null"),
		becomes(`document.querySelector('#full-screen').ariaPressed`, "false"),
		becomes(`getComputedStyle(document.documentElement).scrollbarGutter`, "stable"),
		chromedp.Navigate("http://"+p.Addr+"/boards/few?top=25"), becomes(listed, "12"), click("#full-screen"),
		becomes(`String(`+height+` > 60 && document.querySelector('#board').scrollHeight <= innerHeight)`, "true"),
		// No room for a scroll bar: it would be a black strip.
		becomes(`getComputedStyle(document.documentElement).scrollbarGutter`, "auto"),
		click("#full-screen"), becomes(`String(document.fullscreenElement)`, "null"),
		chromedp.Navigate("http://"+p.Addr+"/boards/stars"), becomes(listed, "10"),
		// On a wall the page itself fills the height.
		chromedp.EmulateViewport(2560, 1440), becomes(`String(`+height+
			` > 50 && document.querySelector('live-leaderboard').getBoundingClientRect().bottom <= innerHeight)`, "true"),
	))
}
