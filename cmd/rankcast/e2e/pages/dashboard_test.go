//go:build !race

package pages

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// The front page has a card for each board, with its leader, and keeps the cards up to date.
func TestDashboardShowsAllBoards(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.LaunchBoards(t, `
boards:
  stars:         {period: week}
  laps:          {mode: best, order: asc, display: {format: time_ms}}
  money:         {display: {decimals: 2, unit: €}}
  empty:         {starts: "2199-01-01T00:00:00Z"}
  "fans:{star}": {}
`, "--redis", r.URL())
	for board, body := range map[string]string{
		"stars": e2etest.Scores("<img src=x onerror=alert(1)>", 40, "bob", 30),
		"laps":  `{"member":"ann","score":83456}`, "money": `{"member":"cid","score":-123456}`,
		"fans:s1": `{"member":"ann","score":1}`, "fans:s2": `{"member":"ann","score":1}`,
	} {
		p.Update(board, body)
	}
	named := p.Request("PUT", "/v1/members/member/cid", `{"name":"Cid"}`)
	require.Equal(t, 2, named.Status/100, named.Body)
	card := func(board, want string) chromedp.Action[chromedp.Void] {
		return becomes(fmt.Sprintf(`(card => card && ['rank', 'member', 'score', 'note', 'total']
			.map(part => card.querySelector('.card-' + part)?.textContent).filter(text => text).join(' | '))(
			page.all('.card').find(card => card.querySelector('a').textContent === %q))`, board), want)
	}
	const names = `page.all('.card-name').map(a => a.textContent).sort().join(', ')`
	const note = `document.querySelector('#overview-note').textContent.replace(/\d+:\d+:\d+.[AP]M/, '…')`
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/?me=bob"),
		card("stars", "1 | <img src=x onerror=alert(1)> | 40 | 2 members"), card("laps", "1 | ann | 1:23.456 | 1 member"),
		card("money", "1 | Cid | -1,234.56 € | 1 member"),
		card("empty", "No scores yet | 0 members"), card("fans:{star}", "2 boards"),
		becomes(names, "empty, fans:{star}, laps, money, stars"),
		script(`var stays = true, cards = page.all('.card'),
			starsCard = cards.find(card => card.querySelector('a').textContent === 'stars')`),
		holds(`/^ends in \d+ (d|h|min)|:/.test(starsCard.querySelector('.card-ends').textContent)`),
		holds(`/^begins in [\d,]+ d/.test(cards.find(card => card.querySelector('a').textContent === 'empty')
			.querySelector('.card-ends').textContent)`),
	)
	p.Update("stars", `{"member":"bob","score":11}`)
	do(t, ctx, card("stars", "1 | bob | 41 | 2 members"),
		holds(`/^\d+ a minute$/.test(starsCard.querySelector('.card-rate').textContent)`),

		// A card links to its board, which follows the same member. The browser goes back to the same cards.
		script(`starsCard.querySelector('a').click()`), shows("bob", "<img src=x onerror=alert(1)>"), follows("listed: 1 bob 41"),
		becomes(`location.pathname + location.search`, "/boards/stars?me=bob"), becomes(`document.title`, "stars · Rankcast"),
		script(`history.back()`), card("stars", "1 | bob | 41 | 2 members"),
		holds(`document.querySelector('#overview').checkVisibility() && !document.querySelector('#board').checkVisibility()`),
		holds(`stays && cards.every(card => card.isConnected)`),
	)
	// The page removes the card of a deleted board alone.
	p.Answers(204, "DELETE", "/v1/boards/empty", "")
	do(t, ctx, becomes(names, "fans:{star}, laps, money, stars"), holds(`starsCard.isConnected`))
	// A new board gets a card, with the display of its definition.
	p.Answers(201, "PUT", "/v1/boards/late", `{"ends":"2020-01-01T00:00:00Z","display":{"unit":"pt"}}`)
	do(t, ctx, card("late", "No scores | 0 members"),
		becomes(`page.all('.card').find(card => card.querySelector('a').textContent === 'late')
			.querySelector('.card-ends').textContent`, "ended"))
	p.Answers(201, "PUT", "/v1/boards/late2", `{"display":{"unit":"pt"}}`)
	p.Update("late2", `{"member":"ann","score":5}`)
	do(t, ctx, card("late2", "1 | ann | 5 pt | 1 member"))

	// The page says that the store or the server does not answer, and keeps its cards.
	r.Kill()
	do(t, ctx, becomes(note, "Can’t read the boards. As of …"), card("stars", "1 | bob | 41 | 2 members"))
	p.Kill()
	do(t, ctx, becomes(note, "Can’t reach the server. As of …"),
		card("stars", "1 | bob | 41 | 2 members"),
		// The next answer comes without a reload. Its server cannot read all boards, and leaves some off.
		script(`var boards = ['stars', 'new']
			.map(board => ({board, period: '', ends: null, total: 0, epoch: '', seq: 0, rate: null, leader: null, built: false, unavailable: true})),
				overview = {now: new Date(), boards, families: [{board: 'fans:{star}', instances: 0, unavailable: true}], left_off: 3};
			globalThis.fetch = async () => Response.json(overview)`),
		becomes(note, "3 more boards are not shown."), becomes(names, "fans:{star}, new, stars"),
		card("stars", "1 | bob | 41 | 2 members"), card("fans:{star}", "2 boards"),
		becomes(`page.all('.card[data-unavailable] .card-rate').map(rate => rate.textContent).join()`,
			"can’t be read now,can’t be read now,can’t be read now"),
		// The browser sends this event when the network is back. The page then asks at once.
		script(`Object.assign(boards[0], {unavailable: false, total: 1, leader: {rank: 1, member: 'dan', score: 9}}); delete `+
			`overview.left_off; dispatchEvent(new Event('online'))`),
		card("stars", "1 | dan | 9 | 1 member"),
		becomes(`starsCard.hasAttribute('data-unavailable') + starsCard.querySelector('.card-rate').textContent`, "false"),
		becomes(note, "3 boards"))
}

// Beside a board, the page shows the periods that the board had, the trends of scores since the page was opened, and the
// round-trip time to the server.
func TestDashboardShowsWhatStandsBesideABoard(t *testing.T) {
	t.Parallel()
	var others strings.Builder // more than there is room for
	for i := range 40 {
		fmt.Fprintf(&others, "a%02d: {}, ", i)
	}
	p := e2etest.LaunchBoards(t, `boards: {`+others.String()+
		`quick: {period: 4s, base: "2026-01-01T00:00:00Z", keep: 1000, display: {format: time_ms}}, plain: {display: {decimals: `+
		`2, unit: €}}, bare: {}}`)
	link := func(list, name string) chromedp.Action[chromedp.Void] {
		return script(fmt.Sprintf(`page.all('%s a').find(a => a.textContent === %q).click()`, list, name))
	}
	follow := func(member string) chromedp.Action[chromedp.Void] {
		return script(fmt.Sprintf(`page.board().dispatchEvent(new CustomEvent('pick', {detail: {member: %q, entry: {}}}))`, member))
	}
	ctx := window(t, 1280, 900)
	p.Update("plain", e2etest.Scores("ann", 30, "bob", 20))
	do(t, ctx,
		visit(p, "/boards/plain?me=bob"),
		becomes(`page.course()`, "ann level, bob level"), becomes(textOf("#following-name"), "bob"),
		holds(`/^Round trip [0-9]+ ms$/.test(document.querySelector('#latency').textContent)`),
		becomes(`String(document.querySelector('#periods').checkVisibility())`, "false"),
		// The list of many boards is scrolled to this one, and the page itself is not scrolled.
		becomes(`(link => {
			const {top, bottom} = link.getBoundingClientRect();
			return String(top >= 0 && bottom <= innerHeight) + scrollY;
		})(document.querySelector('#boards [aria-current]'))`, "true0"),
		holds(`document.documentElement.scrollHeight < 2 * innerHeight`),
	)
	p.Update("plain", e2etest.Scores("ann", -5, "bob", 3))
	do(t, ctx, becomes(`page.course()`, "ann -0.05 € lower, bob +0.03 € higher"))
	// The line of the leader goes on with a new leader. The change beside it counts from when this one took the lead.
	p.Update("plain", `{"member":"bob","score":93}`)
	do(t, ctx, becomes(`page.course()`, "bob higher, bob +0.96 € higher"))
	p.Update("plain", `{"member":"bob","score":7}`)
	do(t, ctx, becomes(`page.course()`, "bob +0.07 € higher, bob +1.03 € higher"),
		// The trend of a followed member begins when the reader follows it. Another board shows none of these trends.
		script(`document.querySelector('#unfollow').click()`), becomes(`page.course()`, "bob +0.07 € higher"), follow("bob"),
		becomes(`page.course()`, "bob +0.07 € higher, bob level"),
		link("#boards", "bare"),
		becomes(`document.querySelector('#name').textContent + page.state()`, "barelive"), becomes(`page.course()`, ""),
		script(`history.back()`), follows("listed: 1 bob 1.23 €"), becomes(`page.course()`, "bob level, bob level"),

		// Links keep the choices of the reader.
		script(`document.querySelector('#top').value = '5'; document.querySelector('#top').dispatchEvent(new Event('change'))`),
		becomes(`page.board().getAttribute('top')`, "5"),
		// The overlay has a number of rows of its own.
		becomes(`document.querySelector('#overlay-link').href.replace(location.origin, '')`, "/boards/plain/overlay?me=bob"),
		// The language is another page of the same board.
		becomes(`document.querySelector('#other-language').href.replace(location.origin, '')`, "/boards/plain?top=5&me=bob&lang=zh"),
		visit(p, "/boards/plain?me=bob&lang=zh"),
		becomes(`document.documentElement.lang + location.pathname + location.search`, "zh-Hans/boards/plain?me=bob&lang=zh"),
		becomes(`page.part('state').textContent`, "实时"),
		follows("listed: 1 bob 1.23 €"),
		becomes(`document.querySelector('#boards [aria-current]').href.replace(location.origin, '')`, "/boards/plain?me=bob&lang=zh"),

		// When a period ends, the list gets a link to it.
		visit(p, "/boards/quick"),
		isLive,
		script(`var hadLeader = false;
			page.board().addEventListener('update', () => hadLeader ||= document.querySelector('.trend').checkVisibility())`),
	)
	period := periodOf(p, "quick", `{"member":"ann","score":30}`)
	const periods = `page.all('#periods a')`
	do(t, ctx,
		script(`var stays = true`),
		becomes(periods+`.slice(1).map(a => a.title + a.textContent.replace(/^[\d:]+\s[AP]M$/, ' when it opened')).join()`,
			period+" when it opened"),
		// The period before had a leader, and this one none yet. The panel stays if the page has seen the leader.
		becomes(`String(`+course+
			` === (hadLeader ? '– no line' : '') && document.querySelector('#trends').checkVisibility({visibilityProperty: true}) === hadLeader)`,
			"true"),
		// The links keep the member that the reader follows by then, to the old period and back.
		follow("ann"), script(`var ways = `+periods+`.map(a => a.search)`),
		becomes(`[...new Set(ways)].join()`, "?me=ann"),
		script(periods+`.find(a => a.dataset.period === '`+period+`').click()`),
		shows("ann"), becomes(`page.part('state').textContent`, "Final"),
		becomes(periods+`.filter(a => a.ariaCurrent === 'page').map(a => a.dataset.period).join()`, period),
		becomes(`location.pathname + location.search`, "/boards/quick@"+period+"?me=ann"),
		follows("listed: 1 ann 0:00.030"),
		script(periods+`[0].click()`),
		becomes(`page.part('state').textContent`, "Live"),
		becomes(`location.pathname + location.search`, "/boards/quick?me=ann"), follows("below: ann has no score yet"),
		becomes(periods+`[0].ariaCurrent`, "page"),
		holds(`stays`),
	)
}

// course is page.course.
const course = `page.course()`

// A board of 200 rows changes as fast as its server takes updates: the page renders at most once in a frame of the screen,
// shows the final scores, and keeps no more memory than before.
func TestDashboardUnderLoad(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.Launch(t, "--redis", r.URL())
	var updates []string
	for i := range 200 {
		updates = append(updates, fmt.Sprintf(`{"member":"m%03d","score":%d}`, i, 2000-i))
	}
	p.Update("stars", `{"updates":[`+strings.Join(updates, ",")+`]}`)
	ctx := ownWindow(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/stars?top=200&me=m199"),
		becomes(`page.rows().length + ''`, "200"),
		script(`var renders = 0, frames = 0, count = () => {
				frames++;
				requestAnimationFrame(count);
			};
			requestAnimationFrame(count);
			page.board().addEventListener('update', () => renders++);`),
	)
	random := rand.New(rand.NewPCG(1, 2))
	changes := func(n int) kept {
		t.Helper()
		for range n {
			p.Update("stars", fmt.Sprintf(`{"member":"m%03d","score":%d}`, random.IntN(200), 1+random.IntN(100)))
		}
		top, _ := servertest.Top(t, p.Addr, "stars", 200)
		var want []string
		for _, e := range top {
			want = append(want, e.Member)
		}
		do(t, ctx, shows(want...),
			script(`for (const animation of document.getAnimations()) animation.finish()`),
			holds(`renders > 0 && renders <= frames + 1`))
		return keeps(t, ctx)
	}
	changes(60)
	before := changes(60)
	changes(200).atMost(t, before, 1<<20)
}

// A page of another site shows a live board if --origins names the site, and otherwise says how to allow it.
func TestKitShowsABoardOnAPageOfAnotherSite(t *testing.T) {
	t.Parallel()
	const page = `<!doctype html>
<title>Stars</title>
<script type="module" src="http://%[1]s/kit/rankcast.js"></script>
<live-leaderboard board="stars" top="10" me="u4"></live-leaderboard>`
	var body string
	site := servePage(t, &body)
	ctx := window(t, 800, 600)
	for _, origins := range [][]string{{"--origins", site.URL}, {"--origins", "*"}, nil} {
		p := e2etest.Launch(t, origins...)
		p.Post("stars", e2etest.Scores("ann", 40, "u4", 30))
		body = fmt.Sprintf(page, p.Addr)
		do(t, ctx, chromedp.Navigate(site.URL))
		if origins == nil {
			do(t, ctx, becomes(`page.state()`, "stopped"),
				becomes(`page.part('note').textContent`,
					"origin not allowed: add "+site.URL+" to the server's --origins"))
			continue
		}
		do(t, ctx, shows("ann", "u4"), follows("listed: 2 u4 10 to next 30"))
		p.Update("stars", `{"member":"u4","score":11}`)
		do(t, ctx, shows("u4", "ann"))
	}
}

// Beside a board without scores, nothing looks as if it were still to come, and nothing takes room above it in a narrower window.
func TestPanelBesideAnEmptyBoardIsNotThere(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {empty: {}}`)
	const seen = `String(document.querySelector('#trends').checkVisibility({visibilityProperty: true}))`
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/boards/empty"), becomes(seen, "false"),
		chromedp.EmulateViewport(768, 900), becomes(`String(document.querySelector('.sidebar').offsetHeight)`, "0"),
		chromedp.EmulateViewport(1280, 900))
	p.Post("empty", `{"member":"🦊🦊","score":9007199254740991}`)
	do(t, ctx, becomes(seen, "true"),
		// A name without letters has its first character in the portrait, here and before a script runs.
		becomes(`page.root().querySelector('[data-initial]').dataset.initial`, "🦊"),
		visit(p, "/"), becomes(textOf(".card-score"), "9007T"), becomes(textOf(".card-row .portrait"), "🦊"),
	)
}

// The panels beside a board turn grey while the server is away, and get their color back with the server.
func TestPanelsBesideABoardShowWhetherTheServerIsThere(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.LaunchBoards(t, `boards: {stars: {period: week}}`, "--redis", r.URL())
	fill(t, p, "stars", 12)
	const panels = `['.periods', '.sidebar'].map(part => getComputedStyle(document.querySelector(part)).filter).join()`
	const ping = `String(/^Round trip [0-9]+ ms$/.test(document.querySelector('#latency').textContent))`
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/boards/stars"), becomes(ping, "true"), becomes(panels, "none,none"))
	r.Kill()
	do(t, ctx, becomes(panels, "grayscale(1),grayscale(1)"))
	r.Start()
	do(t, ctx, becomes(panels, "none,none"))
	p.Kill()
	do(t, ctx, becomes(panels, "grayscale(1),grayscale(1)"), becomes(textOf("#latency"), "No connection"))
	e2etest.Launch(t, "--redis", r.URL(), "--addr", p.Addr)
	do(t, ctx, becomes(panels, "none,none"), becomes(ping, "true"))
}

// Trends begin anew when the server comes back with another store.
func TestTrendsBeginAnewWithAnotherStore(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	// One more than the list has.
	const others = `{"member":"m2","score":300},{"member":"m3","score":300},{"member":"m4","score":300},{"member":"m5","score":300}`
	p.Update("stars", `{"updates":[{"member":"ann","score":30000},`+others+`,{"member":"bob","score":200}]}`)
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/boards/stars?top=5&me=bob"), becomes(`page.course()`, "ann level, bob level"))
	p.Kill()
	another := redistest.Start(t)
	other := e2etest.Launch(t, "--redis", another.URL())
	other.Update("stars", `{"updates":[{"member":"ann","score":500},`+others+`,{"member":"bob","score":3}]}`)
	e2etest.Launch(t, "--redis", another.URL(), "--addr", p.Addr)
	do(t, ctx, follows("below: 6 bob 297 to next 3"), becomes(`page.course()`, "ann level, bob level"))
}

// The page of a closed period shows the result in place of the graphs, which would be empty, also if the period closes while
// the page is open. Times name their zone. The followed member has its name also without a score.
func TestClosedPeriodHasItsResultBesideIt(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {quick: {kind: star, period: 1s, keep: 1000, base: "2026-01-01T00:00:00Z", display: {unit: pts}}}`)
	named(t, p, "star", map[string]string{"s1": "Solveig Harte", "s9": "Odette Flint"})
	period := periodOf(p, "quick", `{"member":"s1","score":30}`)
	const facts = `page.all('#trends h2, #trends dd, #trends .trend')
		.filter(part => part.checkVisibility()).map(part => part.textContent).join(' | ').replace(/\w+ \d+, \d+, \d+:\d\d.[AP]M UTC/, 'a time')`
	ctx := window(t, 1280, 900)
	do(t, ctx, timeZone("UTC"),
		navigateWithoutLoad("http://"+p.Addr+"/boards/quick@"+period+"?me=s9"),
		becomes(facts, "Final result | Solveig Harte | a time"), becomes(following, "You follow Odette Flint Stop"),
		becomes(`(links => String(links.length > 0 && links.every(a => /[AP]M$/.test(a.textContent))))(page.all('#periods a'))`, "true"),
	)
}

func timeZone(name string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		return chromedp.Void{}, e2etest.Call(ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
	}
}
