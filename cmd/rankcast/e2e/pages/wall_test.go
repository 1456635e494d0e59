//go:build !race

package pages

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

const (
	scene  = `page.scene()`
	leader = `page.leader()`
	ticker = `page.text('.ticker-said')`
	hint   = `document.querySelector('#hint').textContent`
)

// passes lets so many seconds pass on the page.
func passes(seconds int) chromedp.Action[chromedp.Void] {
	return script(fmt.Sprintf(`page.passOn(%d)`, seconds))
}

// A wall shows who leads, large, and the list, with the time left and the way to the board's page. Titles and names are text.
func TestWallShowsItsBoard(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {cup: {title: "<b>Cup</b>", kind: player, display: {unit: pts}, ends: "2199-01-01T00:00:00Z"}}`)
	p.Answers(201, "PUT", "/v1/members/player/ann", fmt.Sprintf(`{"name":%q}`, hostileName))
	p.Update("cup", e2etest.Scores("ann", 40, "bob", 30, "cid", 30))
	ctx := window(t, 1280, 720)
	do(t, ctx,
		visit(p, "/tv/cup"),
		becomes(`page.shownRows()`, "1 "+hostileName+" 40 pts | 2 bob 30 pts | 3 cid 30 pts"),
		becomes(leader, "Leader | "+hostileName+" | 40 pts | 10 pts ahead of bob"),
		becomes(`document.title`, "<b>Cup</b> · Wall · Rankcast"),
		becomes(scene, "<b>Cup</b>"),
		becomes(textOf("#facts"), "Live · 3 members"),
		becomes(ticker, hostileName+" leads with 40 pts."),
		holds(`/^\d\d:\d\d$/.test(page.text('#clock'))`),
		holds(`/^Ends in [\d,]+ d \d\d:\d\d:\d\d$/.test(page.text('#left'))`),
		holds(`page.visible('#qr') && document.querySelector('#qr').naturalWidth > 0`),
		becomes(`new URL(document.querySelector('#qr').src).searchParams.get('text')`, "http://"+p.Addr+"/boards/cup"),
		becomes(`page.all('b, img').filter(e => e.textContent === 'Cup' || e.getAttribute('src') === 'x').length + ''`, "0"),
	)
	p.Update("cup", `{"member":"bob","score":25}`)
	do(t, ctx,
		becomes(`page.shownRows()`, "1 bob 55 pts | 2 "+hostileName+" 40 pts | 3 cid 30 pts"),
		becomes(leader, "New leader | bob | 55 pts | 15 pts ahead of "+hostileName),
		becomes(ticker, "bob passed "+hostileName+" for No. 1"),
		passes(60), becomes(leader, "Leader | bob | 55 pts | 15 pts ahead of "+hostileName),
		// The button for the whole screen stands over no word.
		script(`document.documentElement.dataset.pointed = ''; document.querySelector('.ticker-text').textContent = 'long '.repeat(60)`),
		holds(`page.box('.ticker-said').right <= page.box('#full-screen').left`),
	)
	p.Update("cup", `{"member":"ann","score":15}`)
	do(t, ctx, becomes(leader, "Leader | bob | 55 pts | Level with "+hostileName),
		visit(p, "/tv/cup?lang=zh&theme=light&me=cid"), becomes(textOf("#leader-label"), "榜首"),
		becomes(`page.own(page.shownBoard())`, "listed: 3 cid 距上一名 25 30 pts"),
		becomes(`getComputedStyle(document.documentElement).colorScheme`, "light only"))
}

// At each size as many rows fit as can be read from far, and nothing is cut, also with long names, and with the followed member.
func TestWallFits(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 60)
	columns := e2etest.LaunchBoards(t, `boards:
  contest:
    title: The programming contest of all universities of the world
    columns: [{name: solved, max: 20}, {name: penalty, order: asc, max: 99999, title: Penalty, display: {unit: min}}]
  five:
    ends: "2199-01-01T00:00:00Z"
    columns: [{name: alpha, max: 99}, {name: beta, max: 99}, {name: gamma, max: 99}, {name: delta, max: 99}, {name: epsilon, max: 99}]
`)
	for i := range 30 {
		columns.Update("contest", fmt.Sprintf(`{"member":"m%02d","columns":{"solved":%d,"penalty":%d}}`, i, i%9, 100*i))
		columns.Update("five", fmt.Sprintf(`{"member":"m%02d","columns":{"alpha":%d,"beta":%d,"gamma":1,"delta":22,"epsilon":33}}`, i, i, i))
	}
	long := strings.ToValidUTF8(strings.Repeat("很长的名字 long ", 8)[:120], "")
	p.Update("stars", fmt.Sprintf(`{"member":%q,"score":9007199254740991}`, long))
	sizes := [][2]int64{{390, 844}, {844, 390}, {1024, 768}, {1280, 800}, {1080, 1920}, {1920, 1080}, {2560, 1080}, {3840, 2160}}
	for _, address := range []string{p.Addr + "/tv/stars", p.Addr + "/tv/stars?me=m50&lang=zh", columns.Addr + "/tv/contest",
		columns.Addr + "/tv/five"} {
		t.Run(address[strings.Index(address, "/"):], func(t *testing.T) {
			t.Parallel()
			ctx := window(t, 1280, 800)
			do(t, ctx, chromedp.Navigate("http://"+address), holds(`page.shownRows() !== ''`))
			for _, size := range sizes {
				require.NoError(t, chromedp.Do(ctx, resize(size[0], size[1]), becomes(`page.wallFaults()`, ""), becomes(`page.unscrolled()`, "fits")),
					"%v", size)
			}
		})
	}
}

// A wall shows several boards one after the other, and each that has a history plays its story before the next one. What does not
// exist is left out until it exists.
func TestWallShowsOneBoardAfterTheOther(t *testing.T) {
	t.Parallel()
	p, _ := race(t)
	p.Update("plain", e2etest.Scores("eve", 7, "fay", 5))
	ctx := window(t, 1280, 720)
	do(t, ctx,
		visit(p, "/tv?boards=race,late,plain&seconds=10"),
		becomes(leader, "Leader | bob | 105 pts | 10 pts ahead of dan"), becomes(scene, "The race"), becomes(hint, ""),
		holds(`page.all('live-leaderboard').length === 3`),
		holds(`page.all('live-leaderboard')[1].dataset.state === 'stopped'`),
		passes(8), script(`page.drawn()`), becomes(scene, "The race"),
		passes(3), becomes(scene, "The race: story"),
		becomes(`page.count('.line')`, "4"),
		passes(9), becomes(standing, "1 bob 105 pts, 2 dan 95 pts, 3 ann 70 pts, 4 "+hostileName+" 40 pts"),
		passes(6), becomes(scene, "plain"), becomes(leader, "Leader | eve | 7 | 2 ahead of fay"),
		becomes(`new URL(document.querySelector('#qr').src).searchParams.get('text')`, "http://"+p.Addr+"/boards/plain"),
		passes(11), becomes(scene, "The race"),
	)
	// The sentences of all boards are at the foot.
	p.Update("plain", `{"member":"fay","score":9}`)
	do(t, ctx, becomes(ticker, "plain fay passed eve for No. 1"))
	p.Answers(201, "PUT", "/v1/boards/late", `{"title":"Late"}`)
	p.Update("late", `{"member":"gil","score":1}`)
	do(t, ctx, holds(`page.all('live-leaderboard')[1].dataset.state === 'live'`),
		passes(11), becomes(scene, "The race: story"), passes(15), becomes(scene, "Late"), becomes(leader, "Leader | gil | 1 | "))
}

// Whatever a wall shows, it shows a board whose period ends: it counts the last seconds down, and shows the first three, also of two
// boards that end together. The ends of short periods interrupt nothing.
func TestWallShowsTheEndOfAPeriod(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {calm: {}, rounds: {period: 4s, base: "2026-01-01T00:00:00Z"}}`)
	p.Answers(201, "PUT", "/v1/members/player/ann", `{"name":"Ann"}`)
	p.Update("calm", e2etest.Scores("ann", 1))
	ctx := ownWindow(t, 1280, 720)
	do(t, ctx, visit(p, "/tv/calm"), holds(`page.shownRows() !== ''`))
	end := time.Now().Add(8 * time.Second).UTC() // by now all is loaded
	p.Answers(201, "PUT", "/v1/boards/first", fmt.Sprintf(`{"period":"6m","base":%q}`, end.Add(-6*time.Minute).Format(time.RFC3339)))
	p.Answers(201, "PUT", "/v1/boards/second", fmt.Sprintf(`{"ends":%q,"display":{"unit":"pts"}}`, end.Format(time.RFC3339)))
	p.Update("first", e2etest.Scores("星 遥", 50, "bob", 40, "cid", 30, "dan", 20))
	p.Update("second", e2etest.Scores("أحمد", 50, "eve", 40))
	podium := `page.all('[part=podium] > *', page.shownBoard().shadowRoot).map(page.words).join(' | ')`
	do(t, ctx, visit(p, "/tv?boards=calm,rounds,first,second&seconds=600&unknown=1"), becomes(scene, "first"),
		becomes(`page.all('live-leaderboard').map(board => board.getAttribute('hold')).join()`, "30,0,30,30"),
		holds(`/^Ends in [1-8]$/.test(page.text('#left')) && page.visible('#left') === 'true'`),
		becomes(podium, "1 星 遥 50 | 2 bob 40 | 3 cid 30"),
		becomes(`document.documentElement.hasAttribute('data-finish') + ''`, "true"),
		becomes(ticker, "first 星 遥 wins with 50"), becomes(`page.text('.ticker-line time')`, end.Local().Format("15:04")),
		// The steps name the winner first, and nothing stands there of the next period.
		becomes(`getComputedStyle(document.querySelector('.ticker-line')).animationDelay`, "2.6s"),
		becomes(textOf("#facts"), ""), becomes(`page.visible('#left')`, "false"), becomes(`page.visible('#hint')`, "false"),
		// All clocks have one format.
		holds(`/^Final result, (.*\d\d:\d\d){2} · /.test(page.shownBoard().shadowRoot.querySelector('[part=result-note]').textContent)`))
	// What happens meanwhile stands below no result.
	p.Update("calm", e2etest.Scores("eve", 9))
	do(t, ctx, holds(`page.all('live-leaderboard')[0].shadowRoot.querySelector('[part=moment]').textContent !== ''`),
		becomes(ticker, "first 星 遥 wins with 50"))
	for _, size := range [][2]int64{{1280, 720}, {1920, 1080}, {1080, 1920}, {390, 844}} {
		require.NoError(t, chromedp.Do(ctx, resize(size[0], size[1]),
			holds(`(({top, bottom, left, right}, lists) => bottom - top > 100 && top >= lists.top - 1 && bottom <= lists.bottom + 1
				&& left >= 0 && right <= innerWidth)(
				page.shownBoard().shadowRoot.querySelector('[part=finish]').getBoundingClientRect(), page.box('#lists'))`),
			holds(`page.box('.clock').right > page.box('#lists').right - 2`),
			holds(`page.all('[part~=step]', page.shownBoard().shadowRoot).every(step => step.getBoundingClientRect().bottom <= innerHeight
				&& step.getBoundingClientRect().top > page.box('.head').bottom)`)), "%v", size)
	}
	// A sentence that begins with a name in another direction has the direction of the page.
	do(t, ctx, passes(15), becomes(scene, "second"), becomes(podium, "1 أحمد 50 pts | 2 eve 40 pts"),
		becomes(ticker, "second \u2068أحمد\u2069 wins with 50 pts"),
		becomes(`(({direction, unicodeBidi}) => direction + ' ' + unicodeBidi)(getComputedStyle(document.querySelector('.ticker-text')))`,
			"ltr normal"),
		// With the end of a result, all changes in one step.
		script(`page.shownBoard().removeAttribute('data-finish');
			queueMicrotask(() => window.isOver = !document.documentElement.hasAttribute('data-finish'))`),
		becomes(`window.isOver + ''`, "true"))
}

// A frozen board says since when. Whatever a wall shows, it shows a board on which something is revealed, and stays there.
func TestWallShowsAReveal(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {calm: {}, vote: {ends: "2199-01-01T00:00:00Z"}}`)
	p.Update("calm", e2etest.Scores("ann", 1))
	p.Update("vote", e2etest.Scores("ann", 50, "bob", 40, "cid", 30))
	p.Answers(200, "POST", "/v1/boards/vote/freeze", `{"reason":"a test"}`)
	p.Update("vote", `{"member":"cid","score":25}`)
	ctx := ownWindow(t, 1280, 720)
	do(t, ctx, visit(p, "/tv?boards=calm,vote&seconds=10"), becomes(scene, "calm"), passes(11), becomes(scene, "vote"),
		becomes(`page.shownRows()`, "1 ann 50 | 2 bob 40 | 3 cid 30"),
		holds(`/^Standings are frozen since /.test(page.shownBoard().shadowRoot.querySelector('[part=state]').textContent)`),
		holds(`page.shownBoard().shadowRoot.querySelector('[part=connection]').checkVisibility()`),
		passes(11), becomes(scene, "calm"))
	p.Answers(200, "POST", "/v1/boards/vote/reveal", `{"members":["cid"],"reason":"a test"}`)
	do(t, ctx, becomes(scene, "vote"), becomes(`page.wallFaults()`, ""), passes(11), becomes(scene, "vote"),
		becomes(`page.shownRows()`, "1 cid 55 | 2 ann 50 | 3 bob 40"), becomes(leader, "New leader | cid | 55 | 5 ahead of ann"))
}

// A wall goes on by itself after its server was away, without a new load.
func TestWallComesBackByItself(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.LaunchBoards(t, `boards: {stars: {title: Stars}, points: {}}`, "--redis", r.URL())
	p.Update("stars", e2etest.Scores("m01", 30, "m02", 20, "m03", 10))
	ctx := window(t, 1280, 720)
	do(t, ctx, visit(p, "/tv?boards=stars,points&seconds=5"), becomes(`page.shownRows()`, "1 m01 30 | 2 m02 20 | 3 m03 10"),
		script(`var stays = 'stays'`))
	p.Kill()
	// The boards follow each other meanwhile, with the last rows.
	do(t, ctx, holds(`/^(Reconnecting…|Connecting…)/.test(page.text('#facts'))`), becomes(`document.documentElement.dataset.state`, "away"),
		passes(6), becomes(scene, "points"), becomes(`page.visible('#phone')`, "false"), passes(6), becomes(scene, "Stars"),
		becomes(`page.shownRows()`, "1 m01 30 | 2 m02 20 | 3 m03 10"))
	p = e2etest.Launch(t, "--redis", r.URL(), "--addr", p.Addr)
	p.Update("stars", `{"member":"m03","score":31}`)
	do(t, ctx, becomes(`page.shownRows()`, "1 m03 41 | 2 m01 30 | 3 m02 20"), becomes(`document.documentElement.dataset.state`, "live"),
		becomes(leader, "New leader | m03 | 41 | 11 ahead of m01"), becomes(`stays`, "stays"),
		passes(6), becomes(scene, "points"), becomes(`page.visible('#phone')`, "true"),
		// A fault in a step of the wall does not stop it.
		script(`var faults = 0;
			Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {get() { faults++; throw new TypeError('a fault') }})`),
		holds(`faults > 2`))
}

// An open wall shows its board as soon as there is one. A fault in the address stands in the picture.
func TestWallNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {"fans:{star}": {}, cup: {}}`)
	p.Update("cup", `{"member":"ann","score":5}`)
	ctx := window(t, 1280, 720)
	do(t, ctx, visit(p, "/tv/late"), becomes(`page.text('#name')`, "late"),
		becomes(`page.shownBoard().shadowRoot.querySelector('[part=note]').textContent`, "There is no board “late”."),
		becomes(`page.visible('#phone')`, "false"), script(`var stays = 'stays'`))
	p.Answers(201, "PUT", "/v1/boards/late", `{"title":{"en":"Late","zh":"迟到"}}`)
	p.Update("late", `{"member":"ann","score":5}`)
	do(t, ctx, becomes(`page.shownRows()`, "1 ann 5"), becomes(scene, "Late"), becomes(`stays`, "stays"))
	const missing = "Name the boards of this wall in the address: /tv?boards=stars,points"
	many := "c01"
	for i := range 20 {
		many += fmt.Sprintf(",c%02d", i+2)
	}
	for address, want := range map[string]string{
		"/tv":                   missing,
		"/tv?boards=,%20":       missing,
		"/tv?lang=zh":           "请在地址中写明要展示的榜单：/tv?boards=stars,points",
		"/tv/fans:%7Bstar%7D":   "“fans:{star}” is a family of boards. A wall shows one of them: name it.",
		"/tv/cup?second=3":      "Unknown parameter second. Known: boards, me, seconds, theme, lang",
		"/tv/cup?seconds=4":     "seconds=4 is not valid. Want: 5–600",
		"/tv/cup?theme=clear":   "theme=clear is not valid. Want: dark, light",
		"/tv?boards=" + many:    "A wall shows at most 20 boards. The others are left out.",
		"/tv?boards=cup,%20cup": "",
	} {
		require.NoError(t, chromedp.Do(ctx, visit(p, address), holds(`document.readyState === 'complete'`),
			holds(`customElements.get('live-leaderboard') !== undefined`), becomes(hint, want), becomes(`page.unscrolled()`, "fits")), address)
	}
	do(t, ctx, visit(p, "/tv?boards=cup,%20cup"), becomes(`page.shownRows()`, "1 ann 5"), becomes(`page.count('live-leaderboard')`, "1"))
}

// The wall keeps its screen awake, does not burn into it, and fills it by a key.
func TestWallKeepsItsScreen(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 20)
	ctx := ownWindow(t, 1280, 720)
	place := func(selector string) string {
		return fmt.Sprintf(`Math.round(page.box(%q).x) + ' ' + Math.round(page.box(%q).y)`, selector, selector)
	}
	do(t, ctx,
		beforeScripts(`var locks = [];
			Object.defineProperty(navigator, 'wakeLock', {value: {request: async kind => {
				const lock = {kind, released: false};
				locks.push(lock);
				return lock;
			}}})`),
		visit(p, "/tv/stars"), holds(`page.shownRows() !== ''`),
		becomes(`locks.map(({kind}) => kind).join()`, "screen"),
		script(`locks[0].released = true; document.dispatchEvent(new Event('visibilitychange'))`),
		becomes(`locks.map(({released}) => released).join()`, "true,false"),
		script(`document.dispatchEvent(new Event('visibilitychange'))`), script(`page.drawn()`), becomes(`locks.length + ''`, "2"),
	)
	prefers(t, ctx, "dark") // the picture is there at once
	before := value[string](t, ctx, place("h1"))
	do(t, ctx, passes(3*60), holds(place("h1")+` !== '`+before+`'`), becomes(`page.wallFaults()`, ""),
		becomes(`document.documentElement.hasAttribute('data-mirrored') + ''`, "false"),
		// Nothing bright stands still: later all is on the other side.
		passes(3*60), becomes(`(page.box('#leader').left > page.box('#lists').right) + ''`, "true"),
		becomes(`(page.box('#clock').right < page.box('h1').left) + ''`, "true"), becomes(`page.wallFaults()`, ""))
	for range 9 {
		do(t, ctx, passes(3*60), script(`page.drawn()`), becomes(`page.wallFaults()`, ""))
	}
	key := func(text string) chromedp.Action[chromedp.Void] {
		return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
			return chromedp.KeyEvent(text)(ctx, t)
		}
	}
	do(t, ctx, key("f"), becomes(isFullScreen, "true"), key("f"), becomes(isFullScreen, "false"))
}

// A board's page links its wall, with the followed member.
func TestBoardPageLinksItsWall(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 3)
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/boards/stars?me=m02&lang=en"), isLive, click("#share"),
		becomes(`document.querySelector('#wall-link').href`, "http://"+p.Addr+"/tv/stars?me=m02&lang=en"),
		click("#wall-link"), becomes(`page.own(page.shownBoard())`, "listed: 2 m02 10 to next 20"))
}
