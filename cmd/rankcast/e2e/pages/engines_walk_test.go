//go:build browsers && !race

package pages

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// walkBoards are the boards of the walk beside those of race. A period of sprint ends soon, and is longer
// than the result of the last one stays, which hides the countdown of an overlay.
const walkBoards = `
boards:
  sprint:          {period: 30s, base: "2026-01-01T00:00:00Z", keep: 1000, kind: player}
  stars:           {period: week, timezone: Asia/Shanghai, kind: star}
  "fans:{star}":   {period: day, timezone: Asia/Shanghai, kind: user}
  "fans3h:{star}": {window: 3h, kind: user}
` + giftEvent

// The pages and the kit do in each engine what readers count on: they draw, move, find, send, finish and come back.
func TestWalk(t *testing.T) {
	for name, start := range map[string]func(*testing.T) engine{"chromium": startChromium, "firefox": startFirefox, "webkit": startWebKit} {
		t.Run(name, func(t *testing.T) { walk(t, &walker{engine: start(t), t: t, name: name}) })
	}
}

func walk(t *testing.T, w *walker) {
	addr := fmt.Sprint("127.0.0.1:", redistest.FreePort(t))
	site := startSiteWithBoards(t, addr)
	p, _ := race(t, "--addr", addr, "--boards", e2etest.Write(t, "boards.yaml", walkBoards),
		"--origins", site.URL, "--frame-origins", site.URL)
	at := "http://" + addr
	board := func(selector string) string {
		return fmt.Sprintf(`page.root().querySelector(%q)`, selector)
	}
	add := func(board, member string, score int) {
		t.Helper()
		p.Update(board, fmt.Sprintf(`{"member":%q,"score":%d}`, member, score))
	}

	w.opens(at+"/?lang=en", 1280, 900)
	w.becomes(cardNames, "The race, plain, sprint, stars, fans3h:{star}, fans:{star}")
	w.becomes(textOf(`[data-board="race"] .card-member`), "bob")
	// A portrait of the server has its circle, also before a script or without one.
	w.becomes(`(portrait => {
		portrait.className = 'portrait';
		portrait.dataset.hue = '200';
		document.body.append(portrait);
		const color = getComputedStyle(portrait).backgroundColor;
		portrait.remove();
		return color !== 'rgba(0, 0, 0, 0)';
	})(document.createElement('span'))`, "true")
	w.shows("front")

	w.opens(at+"/boards/race?lang=en", 1280, 900)
	w.becomes(`page.rows().join(' ') + page.state()`, "bob dan ann cidlive")
	w.runs(`globalThis.glides = 0;
		page.board().addEventListener('update', ({target}) =>
			glides += target.shadowRoot.getAnimations().filter(({constructor}) => constructor === Animation).length)`)
	add("race", "ann", 50)
	w.becomes(`page.members().map(row => row.dataset.member + (row.querySelector('[data-move]')?.dataset.move ?? '')).join(' ')`,
		"ann▲2 bob▼1 dan▼1 cid")
	w.becomes(`glides > 0`, "true")
	w.shows("board-moves")

	w.taps(`document.querySelector('#find-input')`, 0.5, 1)
	require.NoError(t, w.keys("da"))
	w.becomes(found, "D dan 95 pts No. 3 | Follow the id “da”")
	w.shows("find")
	require.NoError(t, w.keys("\r"))
	w.becomes(`page.own()`, "listed: 3 dan 10 to next 95 pts")
	w.taps(board(`[data-member=bob]`), 0.5, 1)
	w.becomes(`page.own()`, "listed: 2 bob 15 to next 105 pts")
	w.shows("follow")

	w.opens(at+"/boards/race/story?lang=en", 1280, 900)
	w.becomes(`document.querySelectorAll('.line').length`, "4")
	w.taps(`document.querySelector('#slider')`, 0.002, 1)
	w.becomes(standing, "1 ann 30 pts, 2 bob 20 pts, 3 "+hostileName+" 10 pts")
	w.rests()
	w.shows("story")

	w.opens(at+"/members/player/ann?lang=en", 390, 844)
	w.becomes(`page.memberCards()`, "The race No. 1 of 4 members 120 pts charted")
	w.becomes(`document.querySelector('.rank-path').getAttribute('d').length > 20 && document.querySelector('.best').textContent.slice(0, 16)`,
		"Best ever: No. 1")
	w.shows("member")

	give(p, "s3", "ana", 20)
	w.opens(at+"/show/gift/s17?me=mochi&lang=en", 390, 844)
	w.becomes(`page.state('star-board')`, "live")
	w.taps(`document.querySelector('`+tenFlowers+`')`, 0.5, 3)
	w.becomes(`page.fields('fans')`, "1 mochi 30")
	w.becomes(`page.feedOf().startsWith('mochi s17')`, "true")
	w.becomes(textOf("#gift-note")+`.startsWith('Thank you!') + Object.values(sessionStorage).join()`, "true[]")
	w.shows("gift")
	require.Equal(t, 30, scoreOf(p, "stars", "s17"))
	w.opens(at+"/show/gift?me=mochi&lang=zh", 1280, 900)
	w.becomes(`page.state('star-board')`, "live")
	w.becomes(`page.fields('star-board')`, "1 s17 30 | 2 s3 距上一名 10 20")
	w.rests()
	w.shows("stars")

	w.opens(at+"/overlay/race?top=3&me=ann&lang=en", 400, 300)
	w.becomes(`page.seen()`, "1 ann 120 pts | 2 bob 105 pts | 3 dan 95 pts")
	w.shows("overlay")

	w.opens(site.URL+"/kit", 800, 600)
	w.becomes(`page.rows().join(' ') + page.state()`, "ann bob danlive")
	add("race", "dan", 30)
	w.becomes(`page.rows().join(' ')`, "dan ann bob")
	w.becomes(`page.own()`, "listed: 3 bob 15 to next 105 pts")
	w.shows("kit")

	before := boardReads(p)
	w.opens(site.URL+"/frame", 800, 600)
	redistest.Eventually(t, "the page in the frame to read its board", func() error {
		if boardReads(p) == before {
			return errors.New("it is empty")
		}
		return nil
	})
	w.shows("frame")

	for _, page := range []string{"/boards/sprint", "/overlay/sprint"} {
		w.opens(at+page+"?lang=en", 1280, 900)
		w.becomes(`page.state()`, "live")
		p.Update("sprint", e2etest.Scores("ann", 40, "bob", 30, "dan", 20))
		w.becomes(board("[part=countdown]")+`.checkVisibility()`, "true")
		w.shows("countdown")
		w.becomes(`[...document.querySelector('live-leaderboard[data-finish]').shadowRoot.querySelectorAll('[part~=step]')]
			.map(step => step.innerText.replace(/\s+/g, ' ').trim()).join(' | ')`, "1 ann 40 | 2 bob 30 | 3 dan 20")
		w.shows("finish")
	}

	w.opens(at+"/boards/race?lang=en", 1280, 900)
	w.becomes(`page.rows().join(' ') + page.state()`, "dan ann bob cidlive")
	p.Kill()
	w.becomes(`page.state()`, "away")
	w.shows("away")
	p = e2etest.Launch(t, p.Cmd.Args[2:]...)
	add("race", "cid", 200)
	w.becomes(`page.rows().join(' ') + page.state()`, "cid dan ann boblive")
	w.shows("back")
}

// startSiteWithBoards starts a site of another origin, with a page that holds the kit and one that holds a frame.
func startSiteWithBoards(t *testing.T, addr string) *httptest.Server {
	pages := map[string]string{
		"/kit": `<script type="module" src="http://%s/kit/rankcast.js"></script><live-leaderboard board="race" top="3" ` +
			`me="bob" unit="pts"></live-leaderboard>`,
		"/frame": `<iframe src="http://%s/embed/race?top=3&amp;lang=en" width="600" height="400"></iframe>`,
	}
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, `<!doctype html><html lang="en"><meta charset="utf-8"><style>body { font-family: system-ui }</style>`+
			pages[r.URL.Path], addr)
	}))
	t.Cleanup(site.Close)
	return site
}
