//go:build !race

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rankcast/server/servertest"
)

const longName = "Maximiliane Wolfeschlegelsteinhausenbergerdorff-Montgomery"

// rounds starts a server with boards whose periods end all the time, and the names of a, b and c.
func rounds(t *testing.T) *process {
	t.Helper()
	p := launch(t, "--boards", write(t, "boards.yaml", `boards:
  round: {kind: player, mode: best, period: 4s, base: "2026-01-01T00:00:00Z", keep: 1000, display: {unit: pts}}
  large: {kind: player, mode: best, period: 4s, base: "2026-01-01T00:00:00Z", keep: 1000, display: {unit: points}}
`))
	for member, name := range map[string]string{"a": "Zoë", "b": longName, "c": "Ivy", "m": "محمد عبد الرحمن بن خالد الأنصاري الطويل"} {
		profile := servertest.Request(t, "PUT", "http://"+p.addr+"/v1/members/player/"+member, fmt.Sprintf(`{"name":%q}`, name))
		require.Equal(t, 201, profile.Status, profile.Body)
	}
	return p
}

// In a line, the name of a winner is whole if it is short: a long one gives way.
func TestFinishLineKeepsShortNames(t *testing.T) {
	t.Parallel()
	p := rounds(t)
	const names = `(line => [...line.querySelectorAll('.finish-place')].filter(place => place.checkVisibility()).map(place => {
		const {left, right} = place.getBoundingClientRect(), edge = line.getBoundingClientRect();
		return place.textContent.slice(1, 4) + (left < edge.left || right > edge.right ? ' outside' : place.scrollWidth > place.clientWidth ? ' cut' : ' whole');
	}).join(', '))(document.querySelector('#finish-line'))`
	for _, c := range []struct {
		query         string
		width, height int
	}{{"mode=compact", 480, 60}, {"mode=compact", 600, 60}, {"mode=compact", 1000, 60}, {"mode=list", 400, 120}, {"mode=me&me=nobody", 480, 100}} {
		ctx := ownWindow(t, c.width, c.height)
		require.NoError(t, chromedp.Do(ctx, overlay(p, "round", "pace=0&"+c.query), becomes(`document.querySelector('live-leaderboard').dataset.state`, "live")))
		require.Equal(t, 200, p.post("round", `{"updates":[{"member":"a","score":30},{"member":"b","score":20},{"member":"c","score":10}]}`).Status)
		assert.NoError(t, chromedp.Do(ctx, becomes(names, "Zoë whole, Max cut, Ivy whole")), c)
	}
}

// What stands at the end of the card of a member never covers its name, also while the member has no place.
func TestOverlayCardHasRoomAtItsEnd(t *testing.T) {
	t.Parallel()
	p := rounds(t)
	// covered is an expression for whether the name reaches below what is there, and for what that is.
	const covered = `((root, mark) => {
		const bar = root.querySelector('[part=countdown]');
		if (!document.querySelector('#rank-change').hidden) return 'rank change';
		const shown = [mark, bar].find(element => element.checkVisibility());
		const name = [...root.querySelectorAll('[part~=me] [part=member]')].find(name => name.checkVisibility({visibilityProperty: true}));
		if (!shown || !name) return 'nothing';
		return (shown === mark ? 'mark' : 'countdown') + (name.getBoundingClientRect().right > shown.getBoundingClientRect().left ? ' covers the name' : '');
	})(document.querySelector('live-leaderboard').shadowRoot, document.querySelector('.finish-mark'))`
	ctx := ownWindow(t, 480, 100)
	require.NoError(t, chromedp.Do(ctx, overlay(p, "round", "mode=me&me=m&pace=0"), becomes(`document.querySelector('live-leaderboard').dataset.state`, "live")))
	assert.NoError(t, chromedp.Do(ctx, becomes(covered, "countdown")))
	require.Equal(t, 200, p.post("round", `{"updates":[{"member":"a","score":30},{"member":"m","score":20}]}`).Status)
	assert.NoError(t, chromedp.Do(ctx, becomes(covered, "mark")))
}

// The last seconds stand over the end of the period in the header, as a whole, and over no part of another text.
func TestCountdownCoversTheEndAlone(t *testing.T) {
	t.Parallel()
	var body string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, body)
	}))
	defer site.Close()
	p := launch(t, "--origins", site.URL, "--boards", write(t, "boards.yaml", `boards: {days: {period: day, timezone: Asia/Shanghai}}`))
	fill(t, p, "days", 30)
	body = fmt.Sprintf(`<!doctype html><script type="module" src="http://%s/kit/rankcast.js"></script><live-leaderboard board="days" top="5" me="m0003" moments></live-leaderboard>`, p.addr)
	const (
		live = `document.querySelector('live-leaderboard').dataset.state`
		// Shown anew at each look: a frame that comes hides it.
		covered = `(root => {
			const part = name => root.querySelector('[part=' + name + ']'), bar = part('countdown');
			const texts = {ends: 'ends in 0:09', total: '1,234,567 members', moment: 'Somebody with a long name passed another one with a name that is as long for No. 2'};
			for (const [name, text] of Object.entries(texts)) part(name).textContent = text;
			bar.textContent = '9';
			bar.hidden = false;
			const cover = bar.getBoundingClientRect();
			const found = [];
			for (const name of ['period-name', 'ends', 'state', 'total', 'moment']) {
				const range = document.createRange();
				range.selectNodeContents(part(name));
				const {left, right: end, top, bottom} = range.getBoundingClientRect(), right = Math.min(end, part(name).getBoundingClientRect().right);
				if (left > cover.right - 1.5 || right < cover.left + 1.5 || top > cover.bottom - 1.5 || bottom < cover.top + 1.5) continue;
				const whole = left > cover.left - 1.5 && right < cover.right + 1.5 && top > cover.top - 1.5 && bottom < cover.bottom + 1.5;
				found.push(name + (whole ? '' : ' in part'));
			}
			return found.join(', ');
		})(document.querySelector('live-leaderboard').shadowRoot)`
	)
	board := "http://" + p.addr + "/boards/days?me=m0029&lang=en"
	for _, c := range []struct {
		page          string
		full          bool
		width, height int
	}{
		{site.URL, false, 390, 600}, {site.URL, false, 1280, 600}, {"http://" + p.addr + "/embed/days?top=5&lang=en", false, 480, 420},
		{board, false, 390, 844}, {board, false, 700, 844}, {board, false, 1280, 900}, {board, false, 2560, 1440},
		{board, true, 390, 844}, {board, true, 768, 1024}, {board, true, 1280, 720}, {board, true, 1920, 1080},
	} {
		ctx := ownWindow(t, c.width, c.height)
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(c.page), becomes(live, "live"), becomes(`document.fonts.status`, "loaded")), c)
		if c.full {
			require.NoError(t, chromedp.Do(ctx, click("#full-screen"), becomes(`document.querySelector('#full-screen').ariaPressed`, "true")), c)
		}
		assert.NoError(t, chromedp.Do(ctx, becomes(covered, "ends")), c)
	}
}
