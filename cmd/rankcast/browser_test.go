package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// browser starts a headless Chromium with a profile of its own and returns what
// chromedp.Run takes.
func browser(t *testing.T, width, height int) context.Context {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	require.NotEmpty(t, path, "the tests need a browser: apt-get install -y --no-install-recommends chromium")
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.WindowSize(width, height),
	}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	ctx, cancelTime := context.WithTimeout(context.Background(), 2*servertest.Patience)
	ctx, cancelBrowser := chromedp.NewExecAllocator(ctx, options...)
	ctx, cancelTab := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		cancelTab()
		cancelBrowser()
		cancelTime()
	})
	return ctx
}

// rows is an expression for the members shown, in their order.
const rows = `[...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[data-member]')].map(r => r.dataset.member)`

// shows waits until the page shows just these members.
func shows(members ...string) chromedp.Action[chromedp.Void] {
	return becomes(rows+".join(' ')", strings.Join(members, " "))
}

// own is an expression for what is shown of the followed member: where, and the
// words of its row. Two rows of it would both be there.
const own = `[...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[aria-current], [data-me]')]
	.filter(r => r.checkVisibility())
	.map(r => ('me' in r.dataset ? 'pinned: ' : 'listed: ') + r.textContent.replace(/\s+/g, ' ').trim()).join(' | ')`

// follows waits until just this is shown of the followed member.
func follows(row string) chromedp.Action[chromedp.Void] {
	return becomes(own, row)
}

// becomes waits until a text on the page is as wanted. What it was instead is
// in the error.
func becomes(expression, want string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Poll[chromedp.Void](fmt.Sprintf("(%s) === %q", expression, want), chromedp.WithPollingTimeout(servertest.Patience))(ctx, t)
		if err != nil {
			is, _ := chromedp.Evaluate[string](expression)(ctx, t)
			err = fmt.Errorf("%w: want %q, is %q", err, want, is)
		}
		return chromedp.Void{}, err
	}
}

// state waits until the board on the page has been in a state since the last call.
func state(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](fmt.Sprintf("(i => i >= 0 && states.splice(0, i + 1))(states.indexOf(%q))", name), chromedp.WithPollingTimeout(servertest.Patience))
}

func TestPageMovesByItself(t *testing.T) {
	r := redistest.Start(t)
	p := launch(t, "--redis", r.URL())
	for i, m := range []string{"ann", "bob", "cid"} {
		p.post("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 30-10*i))
	}
	ctx := browser(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.addr+"/"),
		shows("ann", "bob", "cid"),
		// Noted on the page, so that a reload would lose it.
		chromedp.Evaluate[chromedp.Void](`
			var board = document.querySelector('live-leaderboard');
			var row = board.shadowRoot.querySelector('[data-member=cid]');
			var states = [board.dataset.state];
			new MutationObserver(() => states.push(board.dataset.state)).observe(board, {attributes: true, attributeFilter: ['data-state']});
			null`),
		state("live"),
	))

	require.Equal(t, 200, p.post("stars", `{"member":"cid","score":100}`).Status)
	require.NoError(t, chromedp.Do(ctx, shows("cid", "ann", "bob")))
	const sameRow = `row === board.shadowRoot.querySelector('[data-member=cid]')`
	same, err := chromedp.Run(ctx, chromedp.Evaluate[bool](sameRow))
	require.NoError(t, err)
	require.True(t, same, "a row that moves is the same row, on the same page")

	// A name is text, whatever it looks like.
	require.Equal(t, 200, p.post("stars", `{"member":"<img src=x onerror=alert(1)>","score":50}`).Status)
	require.NoError(t, chromedp.Do(ctx, shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob")))
	images, err := chromedp.Run(ctx, chromedp.Evaluate[int](`board.shadowRoot.querySelectorAll('img').length`))
	require.NoError(t, err)
	require.Zero(t, images)

	// Redis goes and comes back: the page says so and keeps what it had.
	r.Kill()
	require.NoError(t, chromedp.Do(ctx, state("stale"), shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob")))
	r.Start()
	require.NoError(t, chromedp.Do(ctx, state("live")))

	// So does the server, at the same address.
	_, port, err := net.SplitHostPort(p.addr)
	require.NoError(t, err)
	p.kill()
	require.NoError(t, chromedp.Do(ctx, state("away"), shows("cid", "<img src=x onerror=alert(1)>", "ann", "bob")))
	p = launch(t, "--redis", r.URL(), "--addr", "127.0.0.1:"+port)
	require.NoError(t, chromedp.Do(ctx, state("live")))
	require.Equal(t, 200, p.post("stars", `{"member":"bob","score":1000}`).Status)
	require.NoError(t, chromedp.Do(ctx, shows("bob", "cid", "<img src=x onerror=alert(1)>", "ann")))
	same, err = chromedp.Run(ctx, chromedp.Evaluate[bool](sameRow))
	require.NoError(t, err)
	require.True(t, same, "all of this without a reload")
}

// Somebody who is not among the first sees its own place move by itself.
func TestPageFollowsAMember(t *testing.T) {
	r := redistest.Start(t)
	p := launch(t, "--redis", r.URL())
	for i, m := range []string{"ann", "bob", "cid", "dan", "eve", "u4", "fay"} {
		p.post("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 70-10*i))
	}
	ctx := browser(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.addr+"/?board=stars&top=5&me=u4"),
		shows("ann", "bob", "cid", "dan", "eve"),
		follows("pinned: 6 u4 10 to next 20"),
		// Noted on the page, so that a reload would lose it.
		chromedp.Evaluate[chromedp.Void](`
			var board = document.querySelector('live-leaderboard'), root = board.shadowRoot;
			var states = [board.dataset.state], sent = [], twice = 0, heights = new Set();
			new MutationObserver(() => {
				states.push(board.dataset.state);
			}).observe(board, {attributes: true, attributeFilter: ['data-state']});
			new MutationObserver(() => {
				if (root.querySelectorAll('[data-member=u4], [data-me=u4]:not([hidden])').length > 1) twice++;
				heights.add(board.offsetHeight);
			}).observe(root, {attributes: true, childList: true, subtree: true});
			WebSocket.prototype.send = (send => function (text) { sent.push(JSON.parse(text)); send.call(this, text); })(WebSocket.prototype.send);
			null`),
		state("live"),
	))
	post := func(member string, score int) {
		t.Helper()
		require.Equal(t, 200, p.post("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, member, score)).Status)
	}

	post("fay", 15) // 25
	require.NoError(t, chromedp.Do(ctx, follows("pinned: 7 u4 5 to next 20"),
		becomes(`root.querySelector('[role=status]').textContent`, "u4 is at rank 7.")))
	post("u4", 1)
	require.NoError(t, chromedp.Do(ctx, follows("pinned: 7 u4 4 to next 21")))
	post("u4", 24)
	require.NoError(t, chromedp.Do(ctx, shows("ann", "bob", "cid", "u4", "dan"), follows("listed: 4 u4 5 to next 45")))
	post("cid", -5) // level, and later there than u4
	require.NoError(t, chromedp.Do(ctx, shows("ann", "bob", "u4", "cid", "dan"), follows("listed: 3 u4 15 to next 45")))
	post("dan", 100)
	post("eve", 100)
	require.NoError(t, chromedp.Do(ctx, shows("dan", "eve", "ann", "bob", "u4"), follows("listed: 5 u4 15 to next 45")))
	post("cid", 10)
	require.NoError(t, chromedp.Do(ctx, shows("dan", "eve", "ann", "bob", "cid"), follows("pinned: 6 u4 10 to next 45")))

	// Off the board, and on it again.
	removed := servertest.Request(t, "DELETE", "http://"+p.addr+"/v1/boards/stars/members/u4", "")
	require.Equal(t, 200, removed.Status, removed.Body)
	require.NoError(t, chromedp.Do(ctx, follows("pinned: u4 has no score yet")))
	post("u4", 25)
	require.NoError(t, chromedp.Do(ctx, follows("pinned: 7 u4 level with the next 25")))

	// The server goes: what was known stays. Scores go on at another node.
	_, port, err := net.SplitHostPort(p.addr)
	require.NoError(t, err)
	p.kill()
	require.NoError(t, chromedp.Do(ctx, state("away"), follows("pinned: 7 u4 level with the next 25"),
		chromedp.Evaluate[chromedp.Void](`sent.length = 0; null`)))
	other := launch(t, "--redis", r.URL())
	require.Equal(t, 200, other.post("stars", `{"member":"fay","score":100}`).Status)
	require.Equal(t, 200, other.post("stars", `{"member":"u4","score":1}`).Status)
	p = launch(t, "--redis", r.URL(), "--addr", "127.0.0.1:"+port)
	require.NoError(t, chromedp.Do(ctx, state("live"), shows("dan", "eve", "fay", "ann", "bob"), follows("pinned: 7 u4 29 to next 26")))
	resumed, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(({board, top, me, resume: {epoch, seq}}) => [board, top, me, epoch !== '', seq > 0].join(' '))(sent[0])`))
	require.NoError(t, err)
	require.Equal(t, "stars 5 u4 true true", resumed, "it offers what it holds")

	seen, err := chromedp.Run(ctx, chromedp.Evaluate[string](`twice + ' twice, ' + heights.size + ' height'`))
	require.NoError(t, err)
	require.Equal(t, "0 twice, 1 height", seen, "a member has one row at any time, and nothing jumps")
}

// Whom the page follows is chosen in the box, and kept in the URL.
func TestPageFollowsWhoIsNamedInTheBox(t *testing.T) {
	const name = "<img src=x onerror=alert(1)>"
	p := launch(t)
	for i, m := range []string{"ann", "bob", "cid", "dan", "eve", name, "fay"} {
		p.post("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 70-10*i))
	}
	const url = `new URLSearchParams(location.search).get('me') ?? 'none'`
	const problem = `document.querySelector('#me-problem').textContent`
	box := chromedp.CSS("#me")
	ctx := browser(t, 390, 844)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.addr+"/?top=5"),
		shows("ann", "bob", "cid", "dan", "eve"),
		follows(""),
		chromedp.Evaluate[chromedp.Void](`var root = document.querySelector('live-leaderboard').shadowRoot, box = document.querySelector('#me'); null`),

		// By Enter; a name is text, whatever it looks like.
		chromedp.SendKeys(box, " "+name+kb.Enter),
		follows("pinned: 6 "+name+" 10 to next 20"),
		becomes(url, name),
		becomes(`String(root.querySelectorAll('img').length)`, "0"),
		becomes(`document.querySelector('#boards a').search`, "?board=stars&top=5&me=%3Cimg+src%3Dx+onerror%3Dalert%281%29%3E"),

		// By leaving the box.
		chromedp.Evaluate[chromedp.Void](`box.select(); null`),
		chromedp.SendKeys(box, "dan"+kb.Tab),
		follows("listed: 4 dan 10 to next 40"),
		becomes(url, "dan"),

		// What no member can be called is said, and nothing else happens.
		chromedp.Evaluate[chromedp.Void](`box.select(); null`),
		chromedp.SendKeys(box, strings.Repeat("é", 64)+"x"+kb.Enter),
		becomes(problem, "A member id has at most 128 bytes."),
		chromedp.Evaluate[chromedp.Void](`box.value = 'a\u0085b'; box.dispatchEvent(new Event('change')); null`),
		becomes(problem, "A member id has no control characters."),
		becomes(`box.ariaInvalid`, "true"),
		becomes(url, "dan"),
		follows("listed: 4 dan 10 to next 40"),

		// The longest that one can be called, though nobody is.
		chromedp.Evaluate[chromedp.Void](`box.select(); null`),
		chromedp.SendKeys(box, strings.Repeat("é", 64)+kb.Enter),
		follows("pinned: "+strings.Repeat("é", 64)+" has no score yet"),
		becomes(problem, ""),
		becomes(`box.ariaInvalid`, "false"),

		// Empty: nobody.
		chromedp.Evaluate[chromedp.Void](`box.select(); null`),
		chromedp.SendKeys(box, kb.Backspace+kb.Enter),
		follows(""),
		becomes(url, "none"),
		becomes(`root.querySelector('[part=pinned]').checkVisibility() + ''`, "false"),
	))
}

// Two members followed on one board by one page, and none by a third element.
// One that names nobody who could be followed disturbs none of the others.
func TestPageFollowsTwo(t *testing.T) {
	p := launch(t)
	for i, m := range []string{"ann", "bob", "cid", "dan", "eve", "fay"} {
		p.post("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 60-10*i))
	}
	all := fmt.Sprintf(`[...document.querySelectorAll('live-leaderboard')].map(board => (document => %s)({querySelector: () => board})).join(', ')`, own)
	ctx := browser(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.addr+"/?board=stars&top=5&me=fay"),
		follows("pinned: 6 fay 10 to next 10"),
		chromedp.Evaluate[chromedp.Void](`for (const me of ['eve', 'fay', '', 'x'.repeat(129)]) {
			const board = document.createElement('live-leaderboard');
			board.board = 'stars';
			board.top = 3;
			board.me = me;
			document.body.append(board);
		} null`),
		becomes(all, "pinned: 6 fay 10 to next 10, pinned: 5 eve 10 to next 20, pinned: 6 fay 10 to next 10, , "),
		becomes(`[...document.querySelectorAll('live-leaderboard')].map(board => board.dataset.state).join(' ')`, "live live live live live"),
		becomes(`[...document.querySelectorAll('live-leaderboard')].at(-1).shadowRoot.querySelector('[part~=note]').textContent`,
			"A member id has at most 128 bytes."),
	))
	require.Equal(t, 200, p.post("stars", `{"member":"fay","score":11}`).Status)
	require.NoError(t, chromedp.Do(ctx, becomes(all, "listed: 5 fay 9 to next 21, pinned: 6 eve 1 to next 20, pinned: 5 fay 9 to next 21, , ")))
}

// The list and the own place come on their own ways: which to trust.
func TestPageTrustsTheNewer(t *testing.T) {
	p := launch(t)
	ctx := browser(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.addr+"/")))
	const list = `{seq: 20, top: [{rank: 1, member: 'a', score: 30}, {rank: 2, member: 'b', score: 20}, {rank: 3, member: 'c', score: 20}]}`
	for _, c := range []struct{ member, list, me, want string }{
		{"u", "null", "null", `{"kind":"unknown"}`},
		{"u", list, "null", `{"kind":"unknown"}`},
		{"u", list, `{seq: 10, rank: null, score: null}`, `{"kind":"absent"}`},
		{"u", list, `{seq: 10, rank: 9, score: 1, to_next: 2, around: []}`, `{"kind":"below","rank":9,"score":1,"toNext":2}`},
		{"u", list, `{seq: 10, rank: 9, score: 1, to_next: 2, around: [{member: 'u', name: 'Uma'}]}`, `{"kind":"below","rank":9,"score":1,"name":"Uma","avatar":"","toNext":2}`},
		{"u", list, `{seq: 10, rank: 9, score: 1}`, `{"kind":"below","rank":9,"score":1}`},
		// On its way into the list.
		{"u", list, `{seq: 21, rank: 2, score: 25, to_next: 5}`, `{"kind":"below","rank":2,"score":25,"toNext":5}`},
		// It was there, and the list says that it is no longer.
		{"u", list, `{seq: 19, rank: 3, score: 19, to_next: 1}`, `{"kind":"below","rank":null,"score":19}`},
		{"u", list, `{seq: 19, rank: 2, score: 20, to_next: 1}`, `{"kind":"below","rank":null,"score":20}`},
		// Level with the last shown, on a board where they share the rank.
		{"u", list, `{seq: 19, rank: 3, score: 20, to_next: 0}`, `{"kind":"below","rank":3,"score":20,"toNext":0}`},
		// In the list: its own entry counts, whatever else was said.
		{"b", list, `{seq: 19, rank: null, score: null}`, `{"kind":"listed","entry":{"rank":2,"member":"b","score":20},"toNext":10}`},
		{"b", list, `{seq: 21, rank: 9, score: 1}`, `{"kind":"listed","entry":{"rank":2,"member":"b","score":20},"toNext":10}`},
		{"a", list, "null", `{"kind":"listed","entry":{"rank":1,"member":"a","score":30},"toNext":null}`},
		{"c", list, "null", `{"kind":"listed","entry":{"rank":3,"member":"c","score":20},"toNext":0}`},
	} {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](
			fmt.Sprintf(`import('/assets/own-place.js').then(({ownPlace}) => JSON.stringify(ownPlace(%q, %s, %s)))`, c.member, c.list, c.me), chromedp.EvalAwaitPromise))
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%s with %s and %s", c.member, c.list, c.me)
	}
}

// wire stands in for the server, on a page: sockets that note what is sent, and
// what a watcher is told, in words.
const wire = `
	var sockets = [];
	globalThis.WebSocket = class extends EventTarget {
		static OPEN = 1;
		readyState = 1;
		sent = [];
		constructor() { super(); sockets.push(this); queueMicrotask(() => this.dispatchEvent(new Event('open'))); }
		send(text) { this.sent.push(JSON.parse(text)); }
		close() { this.closed = true; }
		say(...frames) {
			for (const frame of frames) this.dispatchEvent(new MessageEvent('message', {data: JSON.stringify({board: 'b', ...frame})}));
		}
		lose() { this.dispatchEvent(new CloseEvent('close', {code: 1006})); }
	};
	var entries = members => [...members].map((member, i) => ({rank: i + 1, member, score: 100 - i}));
	var snapshot = (seq, members, epoch = 'e') => ({type: 'snapshot', epoch, seq, total: 9, period: '', top: entries(members)});
	var delta = (from, seq, place, members, len) =>
		({type: 'delta', from, seq, total: 9, len, rows: [...members].map((member, i) => [place + i, {rank: place + i + 1, member, score: 1}])});
	var me = (seq, rank) => ({type: 'me', seq, rank, score: 5, total: 9});
	var asked = socket => {
		const {type, top, me = '-', around = 0, resume} = socket?.sent.at(-1) ?? {};
		return socket?.closed ? '' : type === 'subscribe' ? [top, me, around, resume ? resume.epoch + resume.seq : 'anew'].join(' ') : type ?? '';
	};
	var watch = wish => {
		const told = {list: '', own: '', state: '', error: ''};
		told.leave = connection.subscribe('b', wish, {
			onSnapshot: ({top}) => told.list = top.map(entry => entry.member).join(''),
			onMe: me => told.own = me.rank + '@' + me.seq,
			onState: state => told.state = state,
			onError: problem => told.error = problem.code,
		});
		return told;
	};
	var tell = told => [told.list, told.own, told.state, told.error].join(' ').trim();
	var connection;
	import('/assets/live.js').then(({LiveConnection}) => { connection = LiveConnection.to('ws://stand-in/v1/live'); });`

// What a page asks for, and what it makes of the answers, in each order.
func TestPageResumes(t *testing.T) {
	p := launch(t)
	ctx := browser(t, 800, 600)
	run := func(script string) chromedp.Action[chromedp.Void] {
		return chromedp.Evaluate[chromedp.Void](script + "; null")
	}
	answer := func(frames string) chromedp.Action[chromedp.Void] {
		return run(`sockets.at(-1).say({type: 'ok', id: sockets.at(-1).sent.at(-1).id}, ` + frames + `)`)
	}
	asked := func(want string) chromedp.Action[chromedp.Void] { return becomes(`asked(sockets.at(-1))`, want) }
	told := func(want string) chromedp.Action[chromedp.Void] { return becomes(`tell(u)`, want) }
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.addr+"/assets/favicon.svg"), // a page with no sockets of its own
		run(wire), becomes(`typeof connection`, "object"),

		run(`var u = watch({top: 3, me: 'u', around: 2})`), asked("3 u 2 anew"), told("connecting"),
		answer(`snapshot(5, 'abc'), me(4, 7)`), told("abc 7@4 live"),
		run(`sockets[0].say(delta(5, 6, 1, 'cb', 3), me(6, 8))`), told("acb 8@6 live"),

		// Lost: all is kept, and offered. The answer may be what changed since, or nothing.
		run(`sockets.at(-1).lose()`), told("acb 8@6 away"), asked("3 u 2 e6"),
		answer(`delta(6, 6, 0, '', 3)`), told("acb 8@6 live"),
		run(`sockets.at(-1).say({type: 'bye', reason: 'drain', retry_ms: 1}); sockets.at(-1).lose()`), told("acb 8@6 away"), asked("3 u 2 e6"),
		answer(`delta(6, 9, 0, 'd', 3), me(9, 9)`), told("dcb 9@9 live"),
		// Or a snapshot, of another epoch and with a lower seq: what was known of the own place is older.
		run(`sockets.at(-1).lose()`), asked("3 u 2 e9"),
		answer(`snapshot(2, 'xyz', 'f')`), told("xyz 9@-1 live"),
		run(`sockets.at(-1).say(me(1, 4))`), told("xyz 4@1 live"),

		// A gap: asked anew, even over another connection; what is still on its way is not believed.
		run(`sockets.at(-1).say(delta(3, 4, 0, 'q', 3), delta(2, 5, 0, 'q', 3), me(5, 5))`), told("xyz 4@1 connecting"), asked("3 u 2 anew"),
		run(`sockets.at(-1).lose()`), asked("3 u 2 anew"), run(`sockets.at(-1).say(delta(2, 5, 0, 'q', 3))`),
		answer(`delta(2, 5, 0, 'q', 3), snapshot(6, 'qyz', 'f')`), told("qyz 4@-1 live"),
		// What is offered and does not fit the answer is a gap too.
		run(`sockets.at(-1).lose()`), asked("3 u 2 f6"), answer(`delta(5, 7, 0, 'p', 3)`), asked("3 u 2 anew"),
		answer(`snapshot(7, 'pyz', 'f')`), told("pyz 4@-1 live"),

		// More entries than are held: asked anew, and what comes before the answer is for what was asked before. Fewer: offered.
		run(`var more = watch({top: 5})`), asked("5 u 2 anew"),
		run(`sockets.at(-1).say(delta(7, 8, 0, 'o', 3), me(8, 3))`), told("pyz 4@-1 live"),
		answer(`snapshot(8, 'oyzab', 'f'), me(8, 6)`), told("oyz 6@8 live"), becomes(`tell(more)`, "oyzab  live"),
		run(`more.leave()`), asked("3 u 2 f8"), answer(`delta(8, 8, 0, '', 3), me(8, 6)`), told("oyz 6@8 live"),

		// Who follows the same member shares the subscription; another member takes another socket.
		run(`var before = sockets.length, same = watch({top: 2, me: 'u'})`), becomes(`tell(same)`, "oy 6@8 live"),
		becomes(`sockets.length - before + ''`, "0"),
		run(`var v = watch({top: 2, me: 'v'})`), asked("2 v 0 anew"), becomes(`sockets.length - before + ''`, "1"),
		answer(`snapshot(8, 'oy', 'f'), me(8, 1)`), becomes(`tell(v)`, "oy 1@8 live"), told("oyz 6@8 live"),
		run(`v.leave()`), becomes(`sockets.at(-1).closed + ''`, "true"),

		// Another member for the same list: offered, and nothing of the one is told of the other.
		run(`var old = sockets.at(-2); same.leave(); u.leave(); u = watch({top: 3, me: 'w'})`),
		becomes(`asked(old)`, "3 w 0 f8"), told("oyz  live"),
		run(`old.say(me(9, 7), {type: 'ok', id: old.sent.at(-1).id}, me(9, 7), delta(8, 8, 0, '', 3))`), told("oyz  live"),
		run(`old.say(me(8, 2))`), told("oyz 2@8 live"),

		// A refusal is final, unless time heals it.
		run(`u.leave(); u = watch({top: 3, me: 'x'}); null`), becomes(`asked(old)`, "3 x 0 f8"),
		run(`old.say({type: 'error', id: old.sent.at(-1).id, code: 'unavailable', message: ''}); var tries = old.sent.length`), told("oyz  connecting"),
		becomes(`old.sent.length - tries + ''`, "1"),
		run(`old.say({type: 'error', id: old.sent.at(-1).id, code: 'invalid_request', message: ''})`), told("oyz  stopped invalid_request"),
	))
}
