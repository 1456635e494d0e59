//go:build !race

package pages

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// The page of a member has its place on each board now, its best rank, and its ranks over time; it goes on by itself.
func TestMemberPage(t *testing.T) {
	t.Parallel()
	p, _ := race(t)
	p.Answers(200, "PUT", "/v1/boards/plain", `{"kind":"player"}`)
	p.Update("plain", e2etest.Scores("cid", 7, "ann", 9))
	addr, release := slowLine(t, p.Addr)
	ctx := window(t, 390, 844)
	const cards = "The race No. 4 of 4 members 40 pts charted, plain No. 2 of 2 members 7"
	do(t, ctx,
		navigateWithoutLoad("http://"+addr+"/members/player/cid"),
		becomes(`page.memberCards()`, strings.NewReplacer(" of 4 members", "", " of 2 members", "").Replace(cards)), // in the first answer
		becomes(textOf("h1"), hostileName),
		script(`page.watchShifts()`),
	)
	release()
	do(t, ctx,
		// Third, second, first for a moment: never. It was second after 30 minutes.
		becomes(`document.querySelector('.best').textContent.replace(/, .*/, '')`, "Best ever: No. 2"),
		becomes(`page.memberCards()`, cards),
		becomes(textOf("h1"), hostileName),
		becomes(textOf("#id"), "cid"),
		becomes(`page.count('main img[src=x]')`, "0"),
		holds(`shifts < 0.05`),
		// The line has the places 3, 2, 3 and 4, and a gap.
		becomes(`(path => {
			const ys = new Set();
			for (let at = 0, end = path.getTotalLength(); at <= end; at++) ys.add(path.getPointAtLength(at).y);
			return [1, 2, 3, 4, 5].filter(place => ys.has([3.3, 9.9, 16.5, 23.1, 29.7][place - 1])
				|| [...ys].some(y => Math.abs(y - (place - 0.5) * 6.6) < 0.06)).join(' ');
		})(document.querySelector('.rank-path'))`, "2 3 4"),
		holds(`document.querySelector('.rank-gaps').getAttribute('d').length > 0`),
		becomes(`(link => link.pathname + link.search)(document.querySelector('.member-board a'))`, "/boards/race?me=cid"),
	)
	p.Update("plain", `{"member":"cid","score":10}`)
	do(t, ctx, becomes(`page.memberCards()`, "The race No. 4 of 4 members 40 pts charted, plain No. 1 of 2 members 17"))
}

// The cards keep their heights when the charts come, also with the widest dates.
func TestMemberPageStandsStill(t *testing.T) {
	t.Parallel()
	p, _ := race(t)
	p.Answers(200, "PUT", "/v1/boards/plain", `{"kind":"player"}`)
	p.Update("plain", e2etest.Scores("cid", 7))
	for _, width := range []int{320, 390, 600} {
		addr, release := slowLine(t, p.Addr)
		ctx := window(t, width, 844)
		var first, then, widest string
		do(t, ctx,
			navigateWithoutLoad("http://"+addr+"/members/player/cid"),
			becomes(`page.memberCards()`, "The race No. 4 40 pts charted, plain No. 1 7"),
			evaluate(`page.cardTops()`, &first),
		)
		release()
		do(t, ctx,
			becomes(`document.querySelector('.best').textContent.replace(/, .*/, '')`, "Best ever: No. 2"),
			becomes(`page.memberCards()`, "The race No. 4 of 4 members 40 pts charted, plain No. 1 of 1 member 7"),
			evaluate(`page.cardTops()`, &then),
			script(`for (const time of document.querySelectorAll('.rank-times span')) time.textContent = 'Wed, May 13, 20:08';
				document.querySelector('.best').textContent = 'Best ever: No. 10, Wed, May 13, 20:08'`),
			evaluate(`page.cardTops()`, &widest),
		)
		require.Equal(t, first, then, width)
		require.Equal(t, first, widest, width)
	}
}

// The page abbreviates a long score, in the first answer and later. It never cuts one off: the rest would read as another
// number.
func TestMemberPageCutsNoScore(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {huge: {kind: player, display: {unit: points of honour}}}`)
	p.Update("huge", `{"member":"ann","score":-9007199254740991}`)
	addr, release := slowLine(t, p.Addr)
	const score = `(score => score.textContent + ' = ' + score.title + (score.scrollWidth > score.clientWidth
		|| score.getBoundingClientRect().right > innerWidth ? ' is cut off' : ''))(document.querySelector('.score'))`
	const want = "-9007T points of honour = -9,007,199,254,740,991 points of honour"
	ctx := window(t, 320, 700)
	do(t, ctx, navigateWithoutLoad("http://"+addr+"/members/player/ann"), becomes(score, "-9007T points of honour = "))
	release()
	do(t, ctx, becomes(score, want))
	p.Update("huge", `{"member":"ann","score":1}`)
	do(t, ctx, becomes(score, strings.Replace(want, "991", "990", 1)))
}

// The page reads the boards of a member in parts. The page of an unknown member says so until the member has a score.
func TestMemberPageOfManyBoardsAndOfNone(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {"fans:{star}": {kind: user}}`)
	for i := range 23 {
		p.Update(fmt.Sprintf("fans:s%02d", i), `{"member":"mia","score":1}`)
	}
	const count = `document.querySelectorAll('.member-board').length + ' ' + document.querySelector('#more').checkVisibility()`
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/members/user/mia"),
		becomes(count, "20 true"),
		script(`document.querySelector('#more').click()`),
		becomes(count, "23 false"),

		chromedp.Navigate("http://"+p.Addr+"/members/user/"+url.PathEscape(hostileName)),
		becomes(textOf("h1"), hostileName),
		becomes(textOf("#note"), "Nobody with this id is on a board that you can see here."),
	)
	// A member with a profile is known, also if its name is its id.
	named(t, p, "user", map[string]string{"zed": "zed"})
	do(t, ownWindow(t, 1280, 900), visit(p, "/members/user/zed"),
		becomes(`document.querySelector('#more').hidden + ' ' + `+textOf("#note"), "true On no board that you can see here."),
		holds(`page.answered('/zed/boards')`),
		becomes(textOf("#note"), "On no board that you can see here."))
	p.Update("fans:s01", fmt.Sprintf(`{"member":%q,"score":5}`, hostileName))
	do(t, ctx,
		becomes(`page.memberCards()`, "fans:s01 No. 1 of 2 members 5"),
		becomes(`document.querySelector('#note').textContent`, ""),
	)
}

// The page of a member says why its cards may be old, and shows it on them, until the server answers again.
func TestMemberPageShowsThatItsCardsMayBeOld(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {stars: {kind: star}}`)
	p.Update("stars", `{"member":"mia","score":1}`)
	const state = `getComputedStyle(document.querySelector('.member-board')).filter + ' ' + document.querySelector('#note').textContent`
	answer := func(fetch string) chromedp.Action[chromedp.Void] {
		return script(`fetch = ` + fetch + `; dispatchEvent(new Event('online'))`)
	}
	do(t, window(t, 1280, 900),
		visit(p, "/members/star/mia"), script(`var request = fetch`), becomes(state, "none "),
		answer(`async () => new Response('', {status: 404})`),
		becomes(state, "grayscale(1) Nobody with this id is on a board that you can see here."),
		answer(`async () => new Response('', {status: 429})`), becomes(state, "grayscale(1) The server can’t be reached. Trying again…"),
		answer(`request`), becomes(state, "none "),
	)
}

// A history that the server does not give, or records no more, keeps no other card from its chart.
func TestMemberPageDrawsEachHistoryThatIsThere(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {a: {kind: player, history: 10s}, b: {kind: player, history: 10s}}`)
	for _, board := range []string{"a", "b"} {
		p.Update(board, `{"member":"mia","score":1}`)
	}
	addr, release := slowLine(t, p.Addr)
	ctx := window(t, 1280, 900)
	const drawn = `['a', 'b'].filter(board => document.querySelector('[data-board=' + board + '] .best').textContent !== '').join()`
	const later = `passed += 60_000; dispatchEvent(new Event('online'))`
	do(t, ctx,
		navigateWithoutLoad("http://"+addr+"/members/player/mia"), becomes(`page.memberCards()`, "a No. 1 1 charted, b No. 1 1 charted"),
		step(t, "break-a-history"),
	)
	release()
	do(t, ctx,
		becomes(drawn, "b"),
		script(`broken = ''; `+later), becomes(drawn, "a,b"),
	)
	p.Answers(200, "PUT", "/v1/boards/a", `{"kind":"player"}`)
	do(t, ctx,
		// the server has answered without the history
		script(later), becomes(`String(document.querySelector('.member-board').dataset.board)`, "b"),
		script(`reads = {a: 0, b: 0}; document.querySelector('[data-board=b] .best').textContent = ''; `+later), becomes(drawn, "a,b"),
		becomes(`reads.a + ' ' + (reads.b > 0)`, "0 true"),
	)
}

// While a member was not among the first ten, its chart has a dashed line at the foot, which says what it means.
func TestMemberPageDrawsAbsencesFromTheFirstTen(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {a: {kind: player, history: 10s}}`)
	p.Update("a", `{"member":"mia","score":1}`)
	addr, release := slowLine(t, p.Addr)
	ctx := window(t, 390, 844)
	do(t, ctx,
		navigateWithoutLoad("http://"+addr+"/members/player/mia"), becomes(`page.memberCards()`, "a No. 1 1 charted"),
		script(`var request = fetch;
			fetch = (url, ...rest) => url.toString().includes('/history') ? Promise.resolve(Response.json({
				step: '10s', until: '2026-01-01T04:00:00Z', cursor: null, profiles: {}, best: null,
				steps: [3, null, 9, null].map((rank, hour) => ({at: '2026-01-01T0' + hour + ':00:00Z', rank, score: rank})),
			})) : request(url, ...rest);`),
	)
	release()
	do(t, ctx,
		becomes(`document.querySelector('.rank-absences')?.getAttribute('d') ?? ''`, "M75 78H150M225 78H300"),
		becomes(`String(document.querySelector('.rank-path').getAttribute('d').match(/M/g).length)`, "2"),
		becomes(textOf(".rank-scale :last-child"), "below 10"),
		// The label stands beside the line.
		becomes(`(([label, line]) => String(Math.abs(label.top
			+ label.height / 2 - line.top - line.height / 2) < 2))(['.rank-scale :last-child', '.rank-absences']
				.map(part => document.querySelector(part).getBoundingClientRect()))`, "true"),
	)
}

// The page shows members by their names, which are text whatever they look like, and
// avatars of its own site; all of it live, within a row that stays the same.
func TestPageShowsNamesAndAvatars(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	profile := func(member, body string) {
		t.Helper()
		require.Equal(t, 2, p.Request("PUT", "/v1/members/member/"+member, body).Status/100)
	}
	p.Post("stars", e2etest.Scores("ann", 40, "bob", 30, "cid", 20, "eve", 15, "fay", 12, "dan", 10))
	profile("ann", `{"name":"<img src=x onerror=alert(1)>"}`)
	profile("dan", `{"name":"Daniel","avatar":"/assets/shared/favicon.svg"}`)
	const words = `[...root.querySelectorAll('[data-member]:not([data-below])')].map(page.words).join(' | ')`
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/stars?top=5&me=dan"),
		shows("ann", "bob", "cid", "eve", "fay"),
		chromedp.Evaluate[chromedp.Void](`var root = page.root(), row = root.querySelector('[data-member=bob]'); null`),
		becomes(words, "1 <img src=x onerror=alert(1)> 40 | 2 bob 30 | 3 cid 20 | 4 eve 15 | 5 fay 12"),
		follows("below: 6 Daniel 2 to next 10"),
		becomes(`page.avatars()`, "Daniel /assets/shared/favicon.svg  lazy"),
		holds(`root.querySelector("img:not([hidden])").getBoundingClientRect().width > 20
			&& root.querySelector("img:not([hidden])").complete`),
	)
	profile("bob", `{"name":"Bob","avatar":"/assets/shared/favicon.svg"}`)
	do(t, ctx,
		becomes(words, "1 <img src=x onerror=alert(1)> 40 | 2 Bob 30 | 3 cid 20 | 4 eve 15 | 5 fay 12"),
		becomes(`page.avatars()`, "Bob /assets/shared/favicon.svg  lazy | Daniel /assets/shared/favicon.svg  lazy"),
		becomes(`row.querySelector('[part=member]').title`, "bob"),
		holds(`row === root.querySelector('[data-member=bob]')`),
	)
	// A row shows no avatar if the policy of the page refuses its site, or if its URL is no image.
	profile("bob", `{"name":"Bob","avatar":"https://elsewhere.test/b.png"}`)
	profile("cid", `{"name":"Cid","avatar":"/assets/no-such.png"}`)
	profile("dan", `{"avatar":"http://elsewhere.test/b.png"}`)
	do(t, ctx,
		becomes(words, "1 <img src=x onerror=alert(1)> 40 | 2 Bob 30 | 3 Cid 20 | 4 eve 15 | 5 fay 12"),
		follows("below: 6 dan 2 to next 10"),
		becomes(`page.avatars()`, ""),
	)
}
