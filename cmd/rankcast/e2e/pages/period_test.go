//go:build !race

package pages

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// clockwork is a clock of the page that stands still unless a test has time pass, in which
// the machine may have been asleep: then timers and performance.now stand still.
const clockwork = `
	var now = Date.parse('2026-11-20T12:00:00Z'), asleep = 0, timers = new Map(), lastTimer = 0;
	Date.now = () => now + asleep;
	performance.now = () => now;
	globalThis.setTimeout = (run, ms = 0) => (timers.set(++lastTimer, {run, at: now + Math.max(ms, 0)}), lastTimer);
	globalThis.clearTimeout = id => timers.delete(id);
	var pass = ms => {
		const end = now + ms;
		for (;;) {
			const [id, timer] = [...timers].sort(([, a], [, b]) => a.at - b.at)[0] ?? [];
			if (!timer || timer.at > end) break;
			timers.delete(id);
			now = timer.at;
			timer.run();
		}
		now = end;
	};`

// element is a board on a page that has nothing else, and what there is of it: its
// head, its rows, and what is said and how often.
const element = `
	var board, root, said = [], ticks = 0;
	import('/kit/rankcast.js').then(() => {
		board = document.createElement('live-leaderboard');
		board.setAttribute('server', 'http://stand-in');
		board.setAttribute('board', 'b');
		board.setAttribute('me', 'bob');
		document.body.append(board);
		root = board.shadowRoot;
		const watch = (part, change) => new MutationObserver(change)
			.observe(root.querySelector(part), {childList: true, characterData: true, subtree: true});
		watch('[part=announcer]', () => said.push(root.querySelector('[part=announcer]').textContent));
		watch('[part=ends]', changes => ticks += changes.length);
	});
	var part = name => root.querySelector('[part=' + name + ']');
	var head = () => ['period-name', 'ends', 'state', 'total'].map(name => part(name).textContent).filter(text => text).join(' | ');
	var list = () => [...root.querySelectorAll('[data-member]:not([data-below])')].map(row => row.dataset.member)
		.join(' ') || part('note').textContent;
	var period = (name, ends, members, more) => ({...snapshot(5, members, 'e' + name), period: name, ends, total: members.length, ...more});
	var subscribe = () => sockets.at(-1)?.sent.findLast(({type}) => type === 'subscribe');
	var say = (...frames) => sockets.at(-1).say({type: 'ok', id: subscribe().id}, ...frames);
	WebSocket.prototype.send = (send => function (text) {
		send.call(this, text);
		const {type, id} = JSON.parse(text);
		if (type === 'ping') this.say({type: 'pong', id});
	})(WebSocket.prototype.send);`

// A period goes by on a page: when it ends is told, what it came to, and the next
// one takes its place; those who hear the page are told once.
func TestPageTurnsOver(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	head := func(want string) chromedp.Action[chromedp.Void] { return becomes(`head()`, want) }
	list := func(want string) chromedp.Action[chromedp.Void] { return becomes(`list()`, want) }
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/healthz"), // a page with no board of its own
		script(wire), script(clockwork), script(element),
		becomes(`subscribe()?.board`, "b"),
		script(`say(period('2026-W47', '2026-11-22T16:00:00.000Z', 'xyz'))`),
		head("2026-W47 | ends in 2 d 4 h | Live | 3 members"), list("x y z"),

		// What is told of the end changes when there is something to tell.
		script(`ticks = 0; pass(2 * 3600e3 - 1)`), head("2026-W47 | ends in 2 d 2 h | Live | 3 members"), becomes(`ticks + ''`, "2"),
		script(`pass(49 * 3600e3)`), head("2026-W47 | ends in 1 h | Live | 3 members"),
		script(`ticks = 0; pass(1001)`), head("2026-W47 | ends in 59:59 | Live | 3 members"), becomes(`ticks + ''`, "1"),
		script(`ticks = 0; pass(10e3)`), head("2026-W47 | ends in 59:49 | Live | 3 members"), becomes(`ticks + ''`, "10"),

		// Nobody looks: that is told, and nothing changes. Somebody does: it is right at once.
		script(`var visibility = 'hidden'; Object.defineProperty(document, 'hidden', {get: () => visibility === 'hidden'});
			document.dispatchEvent(new Event('visibilitychange')); ticks = 0; pass(60e3)`),
		head("2026-W47 | ends in 58:49 | Paused | 3 members"), becomes(`ticks + ''`, "1"),
		script(`visibility = 'visible'; document.dispatchEvent(new Event('visibilitychange')); say({...delta(5, 5, 0, '', 3), total: 3})`),
		head("2026-W47 | ends in 58:49 | Live | 3 members"),
		script(`pass(3528e3)`), head("2026-W47 | ends in 0:01 | Live | 3 members"),
		script(`pass(1e3)`), head("2026-W47 | ends now | Live | 3 members"),
		becomes(`said.join()`, ""),

		// The last of it comes, and the next period.
		script(`say(me(5, 4)); sockets.at(-1).say(period('2026-W47', '2026-11-22T16:00:00.000Z', 'yx', {final: true}))`),
		becomes(`head().replace(/ended [^|]+/, 'ended … ')`, "2026-W47 | ended … | Final | 2 members"), list("y x"),
		becomes(`String(board.hasAttribute('data-final'))`, "true"),
		script(`var row = root.querySelector('[data-member=y]'); sockets.at(-1).say(period('2026-W48', '2026-11-29T16:00:00.000Z', ''))`),
		head("2026-W48 | ends in 7 d | Live | 0 members"), list("2026-W47 is over: y was first with 100. No scores yet"),
		becomes(`String(board.hasAttribute('data-final'))`, "false"),
		becomes(own, ""),
		script(`pass(0)`), becomes(`said.join()`, "2026-W47 is over: y was first with 100. 2026-W48 has begun."),
		script(`sockets.at(-1).say({type: 'me', board: 'b', seq: 0, rank: null, score: null, total: 0}, delta(5, 6, 0, 'y', 1),
			delta(6, 7, 1, 'z', 2))`), list("y z"),
		becomes(own, "below: bob has no score yet"),
		script(`pass(120e3)`), becomes(`said.length + ''`, "1"),
		script(`sockets.at(-1).say(delta(7, 8, 0, 'z', 1))`), list("z"), script(`pass(0)`),
		becomes(`said.at(-1)`, "z leads with 1."), becomes(`said.length + ''`, "2"),

		// A connection that was away over the turn: the new period is there, and is all that is known.
		script(`sockets.at(-1).lose(); pass(1e3)`), becomes(`subscribe()?.board`, "b"),
		script(`say(period('2026-W49', null, 'ab'))`), head("2026-W49 | Live | 2 members"), list("a b"),
		script(`pass(20e3)`), becomes(`said.at(-1)`, "2026-W49 has begun."),
		// Off the page: nothing goes on.
		script(`sockets.at(-1).say(period('2026-W50', '2027-01-01T00:00:00Z', 'ab'))`), head("2026-W50 | ends in 39 d 7 h | Live | 2 members"),
		script(`board.remove(); ticks = 0; pass(9 * 3600e3)`), becomes(`ticks + ''`, "0"),
	))
}

func TestPageCountsDown(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/healthz")))
	const second, minute, hour, day = 1000, 60_000, 3_600_000, 86_400_000
	for ms, want := range map[int]string{
		0: " null", -5: " null", 1: "0:01 1", second: "0:01 1000", second + 1: "0:02 1", 61*second - 400: "1:01 600",
		59*minute + 59*second: "59:59 1000", hour - 1: "1 h 999", hour: "1 h 1000", hour + 1: "1 h 1001",
		2*hour - second:    "1 h 59 min 60000" + "",
		23*hour + 5*minute: "23 h 5 min 1000", day - second: "23 h 59 min 60000", day: "1 d 1000", 2*day - second: "1 d 23 h 3600000",
		40*day + 5*hour + 1: "40 d 5 h 1001",
	} {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](
			fmt.Sprintf(`import('/kit/format.js')
				.then(({timeLeft}) => { const {text, changesIn} = timeLeft(%d);
					return text + ' ' + JSON.stringify(changesIn); })`, ms), chromedp.EvalAwaitPromise))
		require.NoError(t, err)
		require.Equal(t, want, got, ms)
	}
	// As often as it says, and no more often, it is another text.
	steady, err := chromedp.Run(ctx, chromedp.Evaluate[string](`import('/kit/format.js').then(({timeLeft}) => {
		for (let ms = 90 * 86400e3; ms > 0; ) {
			const {text, changesIn} = timeLeft(ms);
			if (changesIn < 1 || timeLeft(ms - changesIn).text === text || changesIn > 1
				&& timeLeft(ms - changesIn + 1).text !== text) return ms + ' ' + text;
			ms -= changesIn;
		}
		return 'steady';
	})`, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	require.Equal(t, "steady", steady)
}

// The end of a period is as far away as it is by the server's clock, also on a page
// whose own clock is wrong, and on one whose clock is set while it is open.
func TestPageCountsDownByTheServersClock(t *testing.T) {
	t.Parallel()
	base := time.Now().Add(-30*time.Minute - 5*time.Second).UTC().Format(time.RFC3339)
	p := e2etest.LaunchBoards(t, `boards: {hourly: {period: 1h, base: "`+base+`"}}`)
	const left = `/^ends in 2[0-9]:[0-5][0-9]$/.test(text()) ? 'right' : text()`
	for _, off := range []string{"3600e3", "-3600e3"} {
		ctx := window(t, 800, 600)
		require.NoError(t, chromedp.Do(ctx,
			chromedp.Navigate("http://"+p.Addr+"/healthz"),
			script(`var off = `+off+`, right = Date.now; Date.now = () => right() + off`),
			script(`var board, text = () => board?.shadowRoot.querySelector('[part=ends]').textContent ?? '';
				import('/kit/rankcast.js').then(() => {
					board = document.createElement('live-leaderboard');
					board.setAttribute('board', 'hourly');
					document.body.append(board);
				})`),
			becomes(`text() ? 'told' : ''`, "told"), becomes(left, "right"),
			script(`off = -2 * off; document.dispatchEvent(new Event('visibilitychange'))`), becomes(left, "right"),
		))
	}
}

// What a server told last of its clock counts; without that the page's own does.
func TestPageHearsTheClock(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	head := func(want string) chromedp.Action[chromedp.Void] { return becomes(`head()`, want) }
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/healthz"),
		script(wire), script(clockwork), script(element),
		becomes(`subscribe()?.board`, "b"),
		script(`say(period('1', '2026-11-20T15:00:00.000Z', 'xy'))`), head("1 | ends in 3 h | Live | 2 members"),
		// The connection was away, and the server knows better.
		script(`sockets.at(-1).lose(); pass(1e3)`), becomes(`String(sockets.length)`, "2"), becomes(`subscribe()?.board`, "b"),
		script(`sockets.at(-1).say({type: 'ok', id: subscribe().id, now: '2026-11-20T14:58:59.000Z'},
			period('1', '2026-11-20T15:00:00.000Z', 'xy'))`),
		head("1 | ends in 1:01 | Live | 2 members"),
		script(`pass(1e3)`), head("1 | ends in 1:00 | Live | 2 members"),
		script(`sockets.at(-1).say({type: 'pong', id: 0, now: '2026-11-20T14:59:30.000Z'}); pass(1e3)`),
		head("1 | ends in 0:29 | Live | 2 members"),
		script(`sockets.at(-1).say({type: 'pong', id: 0, now: 'soon'}); pass(1e3)`), head("1 | ends in 0:28 | Live | 2 members"),
	))
}

func TestPageKnowsNames(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/healthz"),
		script(`var names; import('/assets/shared/board-name.js').then(all => names = all)`), becomes(`typeof names`, "object"),
		script(`var all = ['stars', 'fans:{star}', 'hot:{genre}:{device}', 'hot'].map(board => ({board}))`)))
	for expression, want := range map[string]string{
		`names.placeholders('hot:{genre}:{device_2}').join()`: "genre,device_2", `names.placeholders('fans:s17').join()`: "",
		`names.instance('hot:{genre}:{device}', ['moba', 'x'])`: "hot:moba:x",
		`names.findDefinition(all, 'stars')?.board`:             "stars", `names.findDefinition(all, 'stars@2026-W46')?.board`: "stars",
		`names.findDefinition(all, 'fans:s17@-1')?.board`: "fans:{star}", `names.findDefinition(all, 'hot:a:b')?.board`: "hot:{genre}:{device}",
		`names.findDefinition(all, 'hot@2026-11-20T06:30Z')?.board`: "hot", `names.findDefinition(all, 'fans:{star}')?.board`: "fans:{star}",
		`String(names.findDefinition(all, 'fans'))`: "undefined", `String(names.findDefinition(all, 'stars:x'))`: "undefined",
		`names.partProblem('')`: "part_missing", `names.partProblem('a:b')`: "part_signs", `names.partProblem('a\x85')`: "part_control",
		`names.partProblem('é'.repeat(32))`: "", `names.partProblem('é'.repeat(32) + 'x')`: "part_long",
	} {
		require.NoError(t, chromedp.Do(ctx, becomes(expression, want)), expression)
	}
}

// families are those of the tests below.
const families = `
boards:
  "fans:{star}":          {period: day, timezone: Asia/Shanghai}
  "hot:{genre}:{device}": {}
  last:                   {}
`

// A family is a list of its boards and boxes to name one; what is odd about a name
// comes through, in the URL and over the socket.
func TestPageShowsFamilies(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, families)
	const odd = "hot:a+b?c=1&d #%:名 前"
	for _, board := range []string{"fans:s17", "fans:s18", "hot:moba:phone", "last"} {
		require.Equal(t, 200, p.Post(board, `{"member":"ann","score":3}`).Status)
	}
	require.Equal(t, 200, p.Post("hot:a+b%3Fc=1&d%20%23%25:%E5%90%8D%20%E5%89%8D", `{"member":"odd","score":3}`).Status)
	ctx := window(t, 390, 844)
	const title = `document.querySelector('#name').textContent`
	const problem = `document.querySelector('#parts-problem').textContent`
	const instances = `[...document.querySelectorAll('#instances .card-name')].map(a => a.textContent).join(', ')`
	const current = `[...document.querySelectorAll('#boards a[aria-current]')].map(a => a.textContent + ' ' + a.ariaCurrent).join()`
	const visible = `['live-leaderboard', '#choices', '#family'].map(part => document.querySelector(part).checkVisibility()).join()`
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/boards/last"),
		becomes(title, "last"), shows("ann"), becomes(visible, "true,true,false"),
		script(`var stays = true; document.querySelector('#boards a').click()`),
		becomes(title, "fans:{star}"), becomes(visible, "false,false,true"), becomes(instances, "s17, s18"), becomes(current, "fans:{star} page"),
		becomes(`document.querySelector('#rules').textContent`, "Scores add up, highest first, ties to the earlier, by day in Asia/Shanghai"),

		// One from the list.
		script(`document.querySelectorAll('#instances a')[1].click()`),
		becomes(title, "fans:s18"), shows("ann"), becomes(visible, "true,true,false"), becomes(current, "fans:{star} true"),
		becomes(`location.pathname`, "/boards/fans:s18"), becomes(`document.activeElement.id`, "main"),
		becomes(`document.querySelector('#rules').textContent`, "Scores add up, highest first, ties to the earlier, by day in Asia/Shanghai"),

		// One by name.
		script(`document.querySelectorAll('#boards a')[1].click()`),
		becomes(instances, "a+b?c=1&d #% · 名 前, moba · phone"),
		becomes(`[...document.querySelectorAll('#parts label')].map(label => label.textContent).join()`, "genre,device"),
		script(`var boxes = document.querySelectorAll('#parts input'); boxes[0].value = ' moba ';
			document.querySelector('#instance button').click()`),
		becomes(problem, "device is missing."),
		becomes(`document.activeElement.name + ' ' + boxes[0].ariaInvalid + ' ' + boxes[1].ariaInvalid`, "device false true"),
		script(`boxes[1].value = 'a:b'; document.querySelector('#instance button').click()`),
		becomes(problem, "device can have none of : @ / and braces."),
		typeInto("#parts label:nth-child(2) input", "\b\b\bnew pc\r"),
		becomes(title, "hot:moba:new pc"),
		becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=note]').textContent`, "No scores yet"),
		becomes(`location.pathname`, "/boards/hot:moba:new%20pc"),
		script(`history.back()`), becomes(title, "hot:{genre}:{device}"), becomes(instances, "a+b?c=1&d #% · 名 前, moba · phone"),
		script(`document.querySelectorAll('#instances a')[0].click()`), becomes(title, odd), shows("odd"),
		becomes(`String(stays)`, "true"),

		// By its address, with a period.
		chromedp.Navigate("http://"+p.Addr+"/boards/fans:s17@-1"),
		becomes(title, "fans:s17@-1"),
		becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=state]').textContent`, "Final"),
		becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=note]').textContent`, "No scores"),
		chromedp.Navigate("http://"+p.Addr+"/boards/fans:s17@2020-01-01"),
		becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=note]').textContent`,
			"There is no such period, yet or any more."),
		chromedp.Navigate("http://"+p.Addr+"/boards/nope:{x}"),
		becomes(textOf("main"),
			"No such board This server has no board with this name: nope:{x} The name may be mistyped, or the board is not defined "+
				"yet. All boards of this server"),
		becomes(`document.querySelector('main a').pathname`, "/"),
	))
}

// The period turns under a page of a real server, by itself.
func TestPageTurnsWithTheServer(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {quick: {period: 3s, base: "2026-01-01T00:00:00Z", keep: 1000}}`)
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/boards/quick"),
		becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=state]')?.textContent`, "Live"),
		script(`var stays = true`)))
	var counted struct{ Period string }
	p.Post("quick", `{"member":"ann","score":30}`).Into(&counted)
	require.NoError(t, chromedp.Do(ctx,
		becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=note]').textContent`,
			counted.Period+" is over: ann was first with 30. No scores yet"),
		becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[data-member]:not([data-below])').length + ''`, "0"),
		becomes(`String(stays)`, "true"),
		chromedp.Navigate("http://"+p.Addr+"/boards/quick@"+counted.Period),
		shows("ann"),
		becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=state]').textContent`, "Final"),
	))
}
