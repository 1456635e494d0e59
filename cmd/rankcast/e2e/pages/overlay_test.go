//go:build !race

package pages

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// overlay opens the overlay of a board of a server.
func overlay(p *e2etest.Process, board, query string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Navigate("http://"+p.Addr+"/overlay/"+url.PathEscape(board)+"?"+query)(ctx, t)
		return chromedp.Void{}, err
	}
}

// withMembers starts a server whose board stars has so many members, m01 the first.
func withMembers(t *testing.T, n int, args ...string) *e2etest.Process {
	p := e2etest.Launch(t, args...)
	var updates []string
	for i := range n {
		updates = append(updates, fmt.Sprintf(`{"member":"m%02d","score":%d}`, i+1, 10*(n-i)))
	}
	p.Update("stars", `{"updates":[`+strings.Join(updates, ",")+`]}`)
	return p
}

// The rows change their order without a reload, on a transparent page. While the server is away, the overlay keeps the rows and
// shows a mark. When the server is back, the overlay goes on.
func TestOverlayMovesByItself(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := withMembers(t, 7, "--redis", r.URL())
	ctx := window(t, 1280, 900)
	const mark = `getComputedStyle(document.querySelector('#frame'), '::after').content`
	do(t, ctx,
		overlay(p, "stars", "pace=0&me=m07"),
		becomes(`page.seen()`, "1 m01 70 | 2 m02 60 | 3 m03 50 | 4 m04 40 | 5 m05 30 | 7 m07 10 to next 10"),
		becomes(`[document.documentElement, document.body, document.querySelector('main'), page.board()]
			.map(e => getComputedStyle(e).backgroundColor).join(' ')`, strings.TrimSpace(strings.Repeat("rgba(0, 0, 0, 0) ", 4))),
		becomes(`getComputedStyle(document.documentElement).colorScheme`, "light only"),
		becomes(mark, "none"),
		script(`var row = page.root().querySelector('[data-member=m03]')`),
	)
	p.Update("stars", `{"member":"m03","score":15}`)
	do(t, ctx, becomes(`page.seen()`, "1 m01 70 | 2 m03 65 | 3 m02 60 | 4 m04 40 | 5 m05 30 | 7 m07 10 to next 10"))

	p.Kill()
	do(t, ctx, becomes(mark, `""`),
		becomes(`page.seen()`, "1 m01 70 | 2 m03 65 | 3 m02 60 | 4 m04 40 | 5 m05 30 | 7 m07 10 to next 10"))
	p = e2etest.Launch(t, "--redis", r.URL(), "--addr", p.Addr)
	p.Update("stars", `{"member":"m07","score":31}`)
	do(t, ctx,
		becomes(`page.seen()`, "1 m01 70 | 2 m03 65 | 3 m02 60 | 4 m07 19 to next 41 | 5 m04 40"),
		becomes(mark, "none"),
		holds(`row === page.root().querySelector('[data-member=m03]')`),
	)
}

// OBS adds the CSS of a browser source to the page as a style. It applies on an overlay, and on no other page. The CSS that OBS
// proposes changes nothing.
func TestAddedStylesApplyOnOverlaysAlone(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile(filepath.Join(e2etest.ModuleRoot, "web/docs/pages.md"))
	require.NoError(t, err)
	blocks := strings.Split(string(docs), "```css\n")
	require.Len(t, blocks, 2)
	own, _, _ := strings.Cut(blocks[1], "```") // ink #ffe9a8, and scores of the weight 800
	p := withMembers(t, 3)
	ctx := window(t, 480, 270)
	const (
		watch = `var refused = 0;
			document.addEventListener('securitypolicyviolation', ({effectiveDirective}) => {
				if (effectiveDirective.startsWith('style-src')) refused++;
			})`
		proposed = `body { background-color: rgba(0, 0, 0, 0); margin: 0px auto; overflow: hidden; }`
		look     = `(root => getComputedStyle(root.querySelector('[part=member]')).color + ' '
			+ getComputedStyle(root.querySelector('[part=score]')).fontWeight)(page.root())`
		places = `JSON.stringify(page.members().map(row => row.getBoundingClientRect()))`
	)
	add := func(css string) chromedp.Action[chromedp.Void] {
		return script(fmt.Sprintf(`document.querySelector('head').appendChild(Object.assign(document.createElement('style'), {innerHTML: %q}))`,
			css))
	}
	do(t, ctx, overlay(p, "stars", "pace=0"), isLive, becomes(`document.fonts.status`, "loaded"),
		script(watch), script(`var before = `+places),
		add(proposed), becomes(`String(before === `+places+`)`, "true"), becomes(`page.unscrolled()`, "fits"),
		add(own), becomes(look, "rgb(255, 233, 168) 800"), becomes(`String(refused)`, "0"))
	for _, path := range []string{"/boards/stars", "/embed/stars"} {
		require.NoError(t, chromedp.Do(ctx, visit(p, path), isLive, script(watch), script(`var before = `+look),
			add(own), becomes(`String(refused)`, "1"), becomes(`String(before === `+look+`)`, "true")), path)
	}
}

// At each size and with each choice of options, rows are whole, in view and large enough, and nothing scrolls.
func TestOverlayFits(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 60)
	long := strings.Repeat("很长的名字 long ", 8)[:120]
	p.Update("stars", fmt.Sprintf(`{"member":%q,"score":9007199254740991}`, strings.ToValidUTF8(long, "")))
	ctx := window(t, 1280, 900)
	// The color of the text and that of the panel, by theme.
	themes := map[string]string{
		"dark": "rgb(248, 249, 247) rgba(16, 19, 18, 0.9)", "light": "rgb(21, 25, 23) rgba(255, 255, 255, 0.93)",
		"clear": "rgb(255, 255, 255) rgba(0, 0, 0, 0)",
	}
	for _, c := range []struct {
		query         string
		width, height int
		rows          int
	}{
		{"", 200, 120, 5}, {"top=3&theme=light", 200, 120, 3}, {"top=10", 200, 120, 5}, {"top=10&me=m50", 200, 120, 5},
		{"top=abc", 320, 400, 5}, {"top=0", 320, 400, 1}, {"top=-3", 480, 270, 5}, {"top=10&me=m60", 480, 270, 10},
		{"top=9999", 1920, 1080, 44}, {"top=10&theme=clear&pace=x", 3840, 2160, 10}, {"top=20&theme=none&mode=none", 1920, 1080, 20},
	} {
		query, err := url.ParseQuery(c.query)
		require.NoError(t, err)
		theme := themes[query.Get("theme")]
		if theme == "" {
			theme = themes["dark"]
		}
		require.NoError(t, chromedp.Do(ctx,
			chromedp.EmulateViewport(int64(c.width), int64(c.height)),
			overlay(p, "stars", c.query),
			isLive,
			becomes(`page.members().length + ''`, fmt.Sprint(c.rows)),
			becomes(`page.members().map(r => r.getBoundingClientRect())
				.filter(r => r.left < 0 || r.right > innerWidth || r.top < 0 || r.bottom > innerHeight || r.height < 20).length + ''`, "0"),
			becomes(`page.members().map(row => row.getBoundingClientRect()).filter((r, i, all) => i && r.top < all[i - 1].bottom).length + ''`, "0"),
			becomes(`page.unscrolled()`, "fits"),
			becomes(`(({color, backgroundColor}) => color + ' ' + backgroundColor)(getComputedStyle(page.members()[0]))`, theme),
			becomes(`page.board().getAttribute('pace')`, "800"),
		), c)
	}
	for _, query := range []string{"mode=compact&top=20&me=m60", "mode=me&me=m60"} {
		do(t, ctx, chromedp.EmulateViewport(200, 40), overlay(p, "stars", query))
		for _, size := range [][2]int64{{200, 40}, {800, 60}, {1920, 1080}} {
			require.NoError(t, chromedp.Do(ctx,
				resize(size[0], size[1]),
				isLive,
				becomes(`(({left, right, top, bottom, height}) => String(height > 10 && left >= 0 && top >= 0 && right <= innerWidth
					&& bottom <= innerHeight))
					(page.box('#frame'))`, "true"),
				becomes(`page.unscrolled()`, "fits"),
				// There is nothing to turn to below the last row.
				becomes(`(board => String(board.scrollHeight - Math.max(board.clientHeight, ...page.members()
					.map(row => row.offsetTop + row.offsetHeight)) < 5))(page.board())`, "true"),
			), "%v %s", size, query)
		}
	}
}

// In each mode a name is text, whatever it looks like, and scores are as the board has them shown.
func TestOverlayModes(t *testing.T) {
	t.Parallel()
	const name = "<img src=x onerror=alert(1)>"
	p := e2etest.LaunchBoards(t, `boards: {laps: {mode: best, order: asc, display: {format: time_ms}}}`)
	for i, m := range []string{"ann", "bob", name, "dan"} {
		p.Update("laps", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 80000+100*i))
	}
	const compact = "1 ann 1:20.000 | 2 bob 1:20.100 | 3 " + name + " 1:20.200"
	const line = `(board => Math.round(board.scrollTop / board.clientHeight) + (board.classList.contains('fading')
		? ' on its way' : ''))(page.board())`
	movement := `(m => m.hidden ? 'hidden' : m.textContent.trim() + ', ' + m.ariaLabel)(document.querySelector('#rank-change'))`
	images := becomes(`document.querySelectorAll('img').length + page.root().querySelectorAll('img[src]').length + ''`, "0")
	ctx := window(t, 1280, 900)
	do(t, ctx,
		overlay(p, "laps", "top=3&pace=0"), becomes(`page.seen()`, compact), images,
		overlay(p, "laps", "mode=compact&top=3&pace=0"), becomes(`page.seen()`, compact), images,
		overlay(p, "laps", "mode=compact&top=3&pace=0&me=dan"), becomes(`page.seen()`, compact+" | 4 dan 1:20.300"),
		// The overlay shows one line, and after a while the next.
		chromedp.EmulateViewport(200, 40),
		// From the second line on, the test ends the wait.
		script(`var waits = [];
			globalThis.setTimeout = (real => (run, ms, ...more) =>
				ms === 5e3 ? (waits.push(run), 0) : real(run, ms, ...more))(setTimeout)`),
		becomes(line, "1"),
		// A new leader brings the first line back at once.
		becomes(`waits.length + ''`, "1"),
	)
	p.Update("laps", `{"member":"bob","score":79900}`)
	do(t, ctx, becomes(line, "0"), becomes(`String(document.querySelector('#celebration').hidden)`, "false"),
		script(`waits.at(-1)()`), becomes(line, "1"),
		// After the last line comes the first, whatever the element says below the list to screen readers.
		script(`(board => {
			const list = board.shadowRoot.querySelector('[part=list]');
			board.shadowRoot.querySelector('[part=announcer]').textContent = 'The period is over. '.repeat(40);
			board.scrollTop = list.offsetHeight - board.clientHeight;
			waits.at(-1)();
		})(page.board())`), becomes(line, "0"),

		chromedp.EmulateViewport(300, 90),
		overlay(p, "laps", "mode=me&pace=0&me="+url.QueryEscape(name)),
		becomes(`page.seen()`, "3 "+name+" 1:20.200 0.200 to next"), images,
		becomes(movement, "hidden"),
		script(`var leads = [], celebration = document.querySelector('#celebration');
			page.board().addEventListener('new-leader', ({detail}) => leads.push(detail.entry.member,
				celebration.hidden ? 'in silence' : 'with a crown'))`),
	)
	// A leader that the card is not about gets no crown.
	p.Update("laps", `{"member":"ann","score":79800}`)
	do(t, ctx, becomes(`leads.join(' ')`, "ann in silence"))
	p.Update("laps", fmt.Sprintf(`{"member":%q,"score":79000}`, name))
	do(t, ctx, becomes(`page.seen()`, "1 "+name+" 1:19.000"), becomes(movement, "▲ 21 min, Up 2 in 1 min"),
		becomes(`leads.slice(2).join(' ')`, name+" with a crown"))
	p.Update("laps", `{"member":"dan","score":78000}`)
	do(t, ctx, becomes(`page.seen()`, "2 "+name+" 1:19.000 1.000 to next"),
		becomes(movement, "▲ 11 min, Up 1 in 1 min"),
		overlay(p, "laps", "mode=me&lang=zh&me=dan"), becomes(`page.seen()`, "1 dan 1:18.000"), becomes(movement, "hidden"),
		overlay(p, "laps", "mode=me&me=nobody"), becomes(`page.seen()`, "nobody has no score yet"), becomes(movement, "hidden"),
		overlay(p, "laps", "mode=me"), becomes(`document.querySelector('#hint').textContent`,
			"This card is about one member: name it in the address with ?me=…"),
		// Another period is another race.
		script(`var moved = document.createElement('p');
			moved.append(document.createElement('b'), document.createElement('small'));
			import('/assets/overlay/rank-change.js').then(({RankChange}) => {
				const change = new RankChange(moved);
				change.update(5, 'one');
				change.update(2, 'one');
				change.update(1, 'two');
			})`),
		becomes(`moved.hidden + ' ' + moved.ariaLabel`, "true Up 3 in 1 min"),
	)
}

// In each mode, the overlay says that its board does not exist.
func TestOverlayOfNoBoard(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	note := `(n => n.checkVisibility() ? n.textContent : '')(page.part('note'))`
	ctx := window(t, 1280, 900)
	for _, mode := range []string{"list", "compact", "me"} {
		require.NoError(t, chromedp.Do(ctx, overlay(p, "none", "me=x&mode="+mode), becomes(note, "There is no board “none”."),
			overlay(p, "none", "lang=zh&me=x&mode="+mode), becomes(note, "没有名为“none”的榜单。")), mode)
	}
}

// An open overlay shows its board as soon as the board exists.
func TestOverlayOfABoardThatAppears(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {other: {}}`)
	ctx := window(t, 480, 270)
	do(t, ctx, overlay(p, "late", "pace=0"), becomes(`page.state()`, "stopped"), script(`var stays = 'stays'`))
	p.Answers(201, "PUT", "/v1/boards/late", `{"display":{"unit":"€","decimals":2}}`)
	p.Update("late", `{"member":"ann","score":123}`)
	do(t, ctx, becomes(`page.seen()`, "1 ann 1.23 €"), becomes(`stays`, "stays"))
}

// Where there is room for one row only, it is the followed member's.
func TestOverlayOfOneRow(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 9)
	ctx := window(t, 300, 45)
	do(t, ctx, chromedp.EmulateViewport(300, 40), overlay(p, "stars", "pace=0"), becomes(`page.seen()`, "1 m01 90"),
		overlay(p, "stars", "pace=0&me=m07"), becomes(`page.seen()`, "7 m07 10 to next 30"),
		becomes(`(row => String(row.top >= 0 && row.bottom <= innerHeight && row.height >= 20))(
			page.root().querySelector('[data-member=m07]').getBoundingClientRect())`, "true"),
		overlay(p, "stars", "pace=0&me=m01"), becomes(`page.seen()`, "1 m01 90"),
		// Room comes and goes.
		overlay(p, "stars", "pace=0&me=m07"), becomes(`page.seen()`, "7 m07 10 to next 30"),
		chromedp.EmulateViewport(300, 60), becomes(`page.seen()`, "1 m01 90 | 7 m07 10 to next 30"),
		chromedp.EmulateViewport(300, 40), becomes(`page.seen()`, "7 m07 10 to next 30"),
	)
}

// The followed member's row shows the name before the gap, and the gap as a whole or not at all.
func TestOverlayCutsNoName(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {hearts: {display: {unit: hearts}}}`)
	p.Update("hearts", e2etest.Scores("ana", 90, "eli", 74, "mia", 58, "s17", 42, "s3", 26, "nova", 10))
	own := `page.root().querySelector('[part~=me]')`
	look := func(name string) chromedp.Action[chromedp.Void] {
		return script(`var look = () => {
			const row = ` + own + `, part = name => row?.querySelector('[part=' + name + ']');
			if (part('member')?.textContent !== '` + name + `') return 'not yet';
			const line = part('gap').parentElement.getBoundingClientRect(), range = document.createRange();
			range.selectNodeContents(part('gap'));
			const text = range.getBoundingClientRect(), box = part('gap').getBoundingClientRect();
			const below = text.top >= line.bottom - 1, whole = text.right <= Math.min(line.right, box.right) + 1 && text.bottom <= line.bottom + 1;
			const edge = page.box('#frame').right;
			return [part('member').scrollWidth > part('member').clientWidth ? 'cut' : 'name',
				below ? 'alone' : whole ? part('gap').textContent : 'gap is cut',
				innerWidth - edge < 20 ? 'to the edge' : innerWidth - edge].join(', ');
		}`)
	}
	const avatar = `,"avatar":"/assets/shared/favicon.svg"`
	ctx := window(t, 1280, 900)
	for _, c := range []struct {
		name, avatar, query string
		width, height       int64
		want                string
	}{
		{"Nova Prime", "", "", 400, 300, "name, 16 to next, to the edge"},
		{"Nova Prime", "", "scale=130", 800, 600, "name, 16 to next, to the edge"},
		{"Nova Prime", "", "mode=me", 480, 100, "name, 16 to next, to the edge"},
		{"Nova Prime", "", "mode=me", 300, 100, "name, alone, to the edge"},
		{"Nova Prime of the Stars", "", "", 400, 300, "name, alone, to the edge"},
		{"Nova Prime of the", avatar, "scale=130", 800, 600, "name, 16 to next, to the edge"},
		{"Nova Prime of the Northern Lights over Lapland", "", "", 400, 300, "cut, alone, to the edge"},
		{"Nova Prime of the Northern Lights over Lapland", avatar, "scale=130", 800, 600, "cut, alone, to the edge"},
	} {
		profile := p.Request("PUT", "/v1/members/member/nova", fmt.Sprintf(`{"name":%q%s}`, c.name, c.avatar))
		require.Equal(t, 2, profile.Status/100, profile.Body)
		require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(c.width, c.height), overlay(p, "hearts", "pace=0&me=nova&"+c.query),
			look(c.name), becomes(`look()`, c.want)), c)
	}
}

// A followed member without a score has its name, if it has one.
func TestOverlayNamesAMemberWithoutAScore(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {stars: {kind: star}}`)
	p.Answers(201, "PUT", "/v1/members/star/nova", `{"name":"<i>Nova</i> Prime"}`)
	ctx := window(t, 480, 100)
	for _, mode := range []string{"list", "me"} {
		require.NoError(t, chromedp.Do(ctx, overlay(p, "stars", "pace=0&me=nova&mode="+mode),
			becomes(`page.seen()`, "<i>Nova</i> Prime has no score yet"),
			overlay(p, "stars", "pace=0&me=s3&mode="+mode), becomes(`page.seen()`, "s3 has no score yet")), mode)
	}
	// The name stays while the scores of other members change.
	do(t, ctx, overlay(p, "stars", "pace=0&me=nova&top=1"), becomes(`page.seen()`, "<i>Nova</i> Prime has no score yet"))
	for _, c := range [][2]string{{"s3", "1 s3 5 | <i>Nova</i> Prime has no score yet"},
		{"nova", "1 s3 5 | 2 <i>Nova</i> Prime level with the next 5"}} {
		p.Update("stars", fmt.Sprintf(`{"member":%q,"score":5}`, c[0]))
		do(t, ctx, becomes(`page.seen()`, c[1]))
	}
}

// The overlay celebrates a new leader, but not a second one within ten seconds. Afterwards nothing of the celebration is left
// on the page. For a viewer who prefers reduced motion there is no celebration.
func TestOverlayCelebratesANewLeader(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 4)
	ctx := window(t, 1280, 900)
	// The page notes each begin and each end of a celebration.
	note := script(`var turns = [], celebration = document.querySelector('#celebration'),
			nodes = document.querySelectorAll(':not(#alert *)').length;
		new MutationObserver(() => {
			const now = celebration.hidden ? 'ends' : 'begins';
			if (turns.at(-1) !== now) turns.push(now);
		}).observe(celebration, {attributeFilter: ['hidden']})`)
	const turns = `turns.join(' ')`
	do(t, ctx, overlay(p, "stars", "pace=0"), becomes(`page.seen()`, "1 m01 40 | 2 m02 30 | 3 m03 20 | 4 m04 10"), isLive, note)
	p.Update("stars", `{"member":"m04","score":90}`)
	do(t, ctx, becomes(turns, "begins"))
	const end = `for (const animation of document.getAnimations()) animation.finish()`
	do(t, ctx, script(end), becomes(turns, "begins ends"))
	p.Update("stars", `{"member":"m03","score":90}`)
	do(t, ctx, becomes(`page.seen()`, "1 m03 110 | 2 m04 100 | 3 m01 40 | 4 m02 30"), becomes(turns, "begins ends"),
		// Ten seconds go by.
		script(`performance.now = (real => () => real() + 10e3)(performance.now.bind(performance))`))
	p.Update("stars", `{"member":"m04","score":20}`)
	do(t, ctx, becomes(`page.seen()`, "1 m04 120 | 2 m03 110 | 3 m01 40 | 4 m02 30"),
		becomes(turns, "begins ends begins"),
		script(end), becomes(turns, "begins ends begins ends"),
		becomes(`document.getAnimations().filter(a => a.effect.target.closest('#celebration')).length + ''`, "0"),
		becomes(`document.querySelectorAll(':not(#alert *)').length - nodes + ''`, "0"),

		overlay(p, "stars", "pace=0"), becomes(`page.seen()`, "1 m04 120 | 2 m03 110 | 3 m01 40 | 4 m02 30"), isLive, note,
		script(`Object.defineProperty(MediaQueryList.prototype, 'matches',
			{get() { return this.media === '(prefers-reduced-motion: reduce)'; }})`),
	)
	p.Update("stars", `{"member":"m02","score":100}`)
	do(t, ctx, becomes(`page.seen()`, "1 m02 130 | 2 m04 120 | 3 m03 110 | 4 m01 40"), becomes(turns, ""))
}

// The end of a period is a scene in each mode: steps in a list, the first three in a low list and in one line, and the card of
// a member with its final place, which is there at once. A goal stays.
func TestOverlayShowsTheFinalResult(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {quick: {mode: best, period: 4s, base: "2026-01-01T00:00:00Z", keep: 1000}}`)
	const (
		places = `page.all('.finish-place').filter(place => place.checkVisibility()).map(place => place.textContent).join(' ')`
		steps  = `page.all('[part=podium] > *', page.root()).filter(row => row.checkVisibility()).map(page.words).join(' ')`
		all    = places + ` + ' | ' + ` + steps +
			` + ' | ' + page.all('.finish-mark').filter(mark => mark.checkVisibility()).map(mark => mark.textContent)`
		fits = `(finish => finish.bottom <= innerHeight && finish.height > 0)(page.part('finish').getBoundingClientRect()) + ''`
		card = `(card => card && getComputedStyle(card).animationName === 'none' && Math.abs(card.offsetHeight - page.box('#frame').height) < 2
			&& Math.abs(card.querySelector('[part=member]').offsetLeft - card.querySelector('[part=figures]').offsetLeft) < 2)(
				page.root().querySelector('[part=podium] > [part~=me]'))`
		goal = `page.board().hasAttribute('data-finish') && page.part('goal').checkVisibility({visibilityProperty: true}) + ''`
	)
	for _, c := range []struct {
		query         string
		width, height int
		want          string
	}{
		{"top=3", 400, 200, " | 1 ann 50 2 bob 40 3 cid 30 | "},
		{"top=3&me=eve", 400, 200, " | 1 ann 50 2 bob 40 3 cid 30 5 eve 10 to next 10 | "},
		{"top=3", 480, 80, "1ann 2bob 3cid |  | "},
		{"mode=compact&me=eve", 480, 64, "1ann 2bob 3cid |  | "},
		{"mode=me&me=eve", 480, 100, " | 5 eve 10 10 to next | Final"},
		{"mode=me&me=bob", 480, 100, " | 2 bob 40 10 to next | Final"},
		{"mode=goal&goal=99&me=eve", 480, 100, "true"},
		{"mode=me&me=zed", 480, 100, "1ann 2bob 3cid |  | "},
	} {
		t.Run(fmt.Sprint(c.query, " at ", c.width), func(t *testing.T) {
			ctx := ownWindow(t, c.width, c.height)
			do(t, ctx, overlay(p, "quick", c.query+"&pace=0"), isLive)
			p.Update("quick", e2etest.Scores("ann", 50, "bob", 40, "cid", 30, "dan", 20, "eve", 10))
			switch {
			case strings.Contains(c.query, "goal"):
				do(t, ctx, becomes(goal, c.want))
			case strings.HasSuffix(c.want, "Final"):
				do(t, ctx, becomes(all+` + ' ' + `+card, c.want+" true"))
			default:
				do(t, ctx, becomes(all, c.want))
			}
			if strings.HasPrefix(c.want, " | 1 ann") {
				do(t, ctx, becomes(fits, "true"))
			}
		})
	}
}

// A parameter that is unknown or wrong is named in the picture, with what it may be, beside the board.
func TestOverlayNamesWrongParameters(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 3)
	ctx := window(t, 640, 360)
	const known = "mode, theme, top, me, pace, lang, scale, place, accent, face, title, unit, ends, avatars, motion, sound, gifts, event, goal"
	for query, want := range map[string]string{
		"": "", "mode=list&theme=clear&top=3&me=m02&pace=0&lang=en": "", "layer-name=Board&layer-width=400": "", "top=&mode=": "",
		"them=dark":           "Unknown parameter them. Known: " + known,
		"theme=blue":          "theme=blue is not valid. Want: dark, light, clear",
		"accent=red&scale=20": "scale=20 is not valid. Want: 50–300\naccent=red is not valid. Want: ff4081",
		"goal=5,3&me=m02":     "goal=5,3 is not valid. Want: 1–10 rising levels, such as 500,1000,5000",
		"top=abc&pace=x&mode=lst": "mode=lst is not valid. Want: list, compact, me, goal\ntop=abc is not valid. Want: 1–100\npace=x " +
			"is not valid. Want: 0–60000",
		"top=0":                     "top=0 is not valid. Want: 1–100",
		"lang=fr":                   "lang=fr is not valid. Want: en, zh",
		"lang=zh&them=dark":         "未知参数 them。可用：" + known,
		"%3Cb%3E=1&%3Cb%3E=2":       "Unknown parameter <b>. Known: " + known,
		"mode=compact&x=":           "Unknown parameter x. Known: " + known,
		"mode=me&me=m02&theme=blue": "theme=blue is not valid. Want: dark, light, clear",
	} {
		require.NoError(t, chromedp.Do(ctx, overlay(p, "stars", query),
			becomes(`document.querySelector('#hint').textContent`, want),
			isLive,
			becomes(`(({left, right, top, bottom, height}) => String(height > 10 ? left >= 0 && top >= 0 && right <= innerWidth
				&& bottom <= innerHeight : height === 0))
				(page.box('#hint'))`, "true"), becomes(`page.unscrolled()`, "fits"),
		), query)
	}
}
