//go:build !race

package pages

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// scripts holds the scripts of tests: each page has those in page/, a test adds other libraries, and TestScripts runs the files
// of tests (.test.js).
//
//go:embed scripts
var scripts embed.FS

func scriptFile(t testing.TB, name string) string {
	text, err := scripts.ReadFile("scripts/" + name)
	require.NoError(t, err)
	return string(text)
}

// pageScript is the script that each page has: what tests read of a page, and do on it.
func pageScript(t testing.TB) (text string) {
	for _, name := range []string{"page", "boards", "columns", "finish", "layout", "show", "story", "wall"} {
		text += scriptFile(t, "page/"+name+".js")
	}
	return text
}

// step runs a script of scripts/steps on the page: one that is too long for the line of its test.
func step(t testing.TB, name string) chromedp.Action[chromedp.Void] {
	return script(scriptFile(t, "steps/"+name+".js"))
}

// standIn are the libraries of tests whose server is the test.
func standIn(t testing.TB) chromedp.Action[chromedp.Void] {
	var all []chromedp.Action[chromedp.Void]
	for _, name := range []string{"test.js", "sockets.js", "clock.js", "element.js", "order.js"} {
		all = append(all, script(scriptFile(t, name)))
	}
	return chromedp.Steps(all...)
}

// The tests of the kit and of the modules of pages that need no server are scripts. Each runs on a page of its own.
func TestScripts(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	files, err := fs.Glob(scripts, "scripts/*.test.js")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		file = path.Base(file)
		t.Run(strings.TrimSuffix(file, ".test.js"), func(t *testing.T) {
			t.Parallel()
			ctx := window(t, 800, 600)
			evaluateOnNewPage := func(t *testing.T, expression string) string {
				do(t, ctx, visit(p, "/healthz"), script(`localStorage.clear(); sessionStorage.clear()`), standIn(t),
					script("(() => {"+scriptFile(t, file)+"})()"))
				return value[string](t, ctx, expression)
			}
			tests := strings.Fields(evaluateOnNewPage(t, `[...tests.keys()].join(' ')`))
			require.NotEmpty(t, tests)
			for _, test := range tests {
				t.Run(test, func(t *testing.T) { evaluateOnNewPage(t, `tests.get('`+test+`')().then(() => '')`) })
			}
		})
	}
}

// The kit chooses the language of a text as the server does: both have the same cases.
func TestKitChoosesTheLanguage(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile("../../../../ranking/definition/testdata/labels.json")
	require.NoError(t, err)
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	do(t, ctx,
		visit(p, "/healthz"),
		script(fmt.Sprintf(`
			var wrong = 'pending';
			import('/kit/rankcast.js').then(({textIn}) => {
				const cases = %s;
				const failed = cases.filter(({label, tag, want}) => textIn(label, tag) !== want);
				wrong = textIn(undefined) === '' && cases.length > 9 ? JSON.stringify(failed) : 'incomplete';
			});`, cases)),
		becomes(`wrong`, "[]"),
	)
}

// A page may load the kit from both of its addresses: the element works once, and each copy finds the server.
func TestPageLoadsTheKitTwice(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--origins", "*")
	p.Post("stars", e2etest.Scores("ann", 40, "bob", 30))
	body := fmt.Sprintf(`<!doctype html><title>site</title><script>var faults = [];
			addEventListener('error', ({message}) => faults.push(message))</script>
			<script type="module" src="http://%[1]s/kit/v1/rankcast.js"></script><script type="module" src="http://%[1]s/kit/rankcast.js"></script>
			<live-leaderboard board="stars"></live-leaderboard>`, p.Addr)
	site := servePage(t, &body)
	do(t, window(t, 800, 600), chromedp.Navigate(site.URL), shows("ann", "bob"),
		script(`var lists = [];
			for (const path of ['kit/rankcast.js', 'kit/v1/rankcast.js', 'kit/v1/rankcast.js?2', 'kit/v1/format.js']) {
				import('http://`+p.Addr+`/' + path).then(({subscribe}) => subscribe('stars', {},
					{onTop: ({top}) => lists.push(top.map(({member}) => member).join(' '))}));
			}`),
		becomes(`lists.join()`, "ann bob,ann bob,ann bob,ann bob"), becomes(`faults.join()`, ""))
}

// The kit tells a page of another site why it may not watch, or send.
func TestKitTellsAPageOfAnotherSite(t *testing.T) {
	t.Parallel()
	body := `<!doctype html><title>site</title><live-leaderboard board="stars"></live-leaderboard>`
	site := servePage(t, &body)
	ctx := window(t, 800, 600)
	for _, c := range []struct {
		origins         []string
		watching        string
		sending, feed   string
		sockets, refuse string
		note            string // below the element
	}{
		{nil, "stopped ", "closed , RankcastError: REASON", "closed , RankcastError: REASON", "2", "REASON", "REASON"},
		{[]string{"--origins", site.URL}, "live ",
			"forbidden type, RankcastError: type: update and event need a token from a page of another site; send auth first, or " +
				"send them from your own server, by HTTP", "none", "2", "", "No scores yet"},
	} {
		p := e2etest.Launch(t, c.origins...)
		reason := "origin not allowed: add " + site.URL + " to the server's --origins"
		with := strings.NewReplacer("REASON", reason).Replace
		do(t, ctx, chromedp.Navigate(site.URL),
			script(`var count = 0, result, refused = 'none', watching;
				globalThis.WebSocket = class extends WebSocket {
					constructor(...args) {
						super(...args);
						count++;
					}
				};
				import('http://`+p.Addr+`/kit/rankcast.js').then(({connect, subscribe}) => {
					subscribe('stars', {}, {onState: (state, {problem}) => watching = state + ' ' + (problem?.message ?? '')});
					connect().feed('periods', {onItems: () => {},
						onError: error => refused = [error.code + ' ' + (error.field ?? ''), String(error)].join(', ')});
					connect().send('gift', {star: 's17', user: 'mochi', flowers: 3})
						.catch(error => result = [error.code + ' ' + (error.field ?? ''), String(error)].join(', '));
				})`),
			becomes(`result`, with(c.sending)), becomes(`watching`, c.watching+with(c.refuse)), becomes(`refused`, with(c.feed)),
			becomes(`page.state()`, strings.TrimSpace(c.watching)),
			becomes(`page.part('note').textContent`, with(c.note)),
			becomes(`count + ''`, c.sockets),
		)
	}
}

// openBoard opens a page that has nothing but that board, once the server was asked for it.
func openBoard(t *testing.T, attributes string) (do func(actions ...chromedp.Action[chromedp.Void]), ctx context.Context) {
	p := e2etest.Launch(t)
	ctx = ownWindow(t, 800, 600)
	do = func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(ctx, actions...))
	}
	do(visit(p, "/healthz"), standIn(t), script(`make(`+attributes+`)`), becomes(`sockets.at(-1)?.sent.at(-1)?.type`, "subscribe"))
	return do, ctx
}

// A page that shows a busy board for hours keeps what it needs, and no more.
func TestElementLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	elementLeavesNothingBehind(t, 10, 5, 30) // 860 rows go meanwhile: left behind, they would be 14,000 nodes
}

// elementLeavesNothingBehind compares what a page keeps after its first and second rounds with what it keeps after the later
// rounds.
func elementLeavesNothingBehind(t *testing.T, first, second, later int) {
	do, ctx := openBoard(t, `{top: 200, me: 'm3'}`)
	// Members come and go, all that stay change places and scores, and one is followed.
	do(step(t, "busy-board"))
	sum := 0
	run := func(rounds int) kept {
		sum += rounds
		do(script(fmt.Sprintf(`busy(%d)`, rounds)), becomes(`done + ''`, fmt.Sprint(sum)))
		return keeps(t, ctx)
	}
	run(first)
	before := run(second)
	run(later).atMost(t, before, 1<<20)
}

// For a reader who prefers reduced motion, or on a calm element, nothing rolls, glides or shines. The marks stay.
func TestCalmRows(t *testing.T) {
	t.Parallel()
	for _, attributes := range []string{`{top: 3, calm: ''}`, `{top: 3}`} {
		do, _ := openBoard(t, attributes)
		if attributes == `{top: 3}` {
			do(media("prefers-reduced-motion", "reduce"))
		}
		do(script(`watchMarks(); say(list(1, [['a', 30], ['b', 20]]))`), becomes(`text()`, "1 a 30, 2 b 20"),
			script(`say(list(2, [['b', 40], ['a', 30]]))`), becomes(`text()`, "1 b 40, 2 a 30"), becomes(`moves()`, "b▲1 a▼1"),
			becomes(`gains() + rolls() + root.querySelectorAll('[data-leads]').length + root.getAnimations()
				.filter(animation => animation.constructor === Animation).length`, "b a00"))
	}
}

// A row is picked by a click anywhere on it, and by keyboard.
func TestElementPicks(t *testing.T) {
	t.Parallel()
	do, _ := openBoard(t, `{top: 3, me: 'u', pickable: ''}`)
	do(script(`var picks = []; board.addEventListener('pick', ({detail: {member, entry}}) => picks.push(member + ' ' + entry?.score))`),
		script(`say(list(1, [['a', 30], ['b', 20]]), own(1, null, null))`), becomes(`text()`, "1 a 30, 2 b 20, below u has no score yet"),
		script(`root.querySelector('[data-member=b] [part=score]').click()`), becomes(`picks.splice(0).join()`, "b 20"),
		script(`root.querySelector('[data-member=a] button').focus()`), chromedp.KeyEvent("\r"), becomes(`picks.splice(0).join()`, "a 30"),
		script(`root.querySelector('[data-member=u] button').click()`), becomes(`picks.splice(0).join()`, "u undefined"),
		script(`root.querySelector('[part=note]').click()`), becomes(`picks.length + ''`, "0"),
		script(`board.removeAttribute('pickable'); root.querySelector('[data-member=b]').click()`), becomes(`picks.length + ''`, "0"))
}

// loads counts how often a page has loaded the second file of the kit.
const loads = `performance.getEntriesByType('resource').filter(({name}) => name.includes('on-demand')).length + ''`

// onDemandSite is a page of another site under a strict policy, as the documentation describes it, with an element.
func onDemandSite(t *testing.T, p *e2etest.Process, element string) *httptest.Server {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		const policy = "default-src 'none'; script-src http://%[1]s 'nonce-own'; connect-src ws://%[1]s http://%[1]s"
		w.Header().Set("Content-Security-Policy", fmt.Sprintf(policy, p.Addr))
		fmt.Fprintf(w, `<!doctype html><title>site</title><script nonce="own">
			var refused = [], told = [];
			document.addEventListener('securitypolicyviolation', ({violatedDirective, blockedURI}) => refused.push(violatedDirective
				+ ' ' + blockedURI));
			document.addEventListener('new-leader', ({detail}) => told.push(detail.before.member + ' → ' + detail.entry.member));</script>
			<script type="module" src="http://%s/kit/v1/rankcast.js?2"></script>%s`, p.Addr, element)
	}))
	t.Cleanup(site.Close)
	return site
}

// A page of another site loads the second file of the kit once it needs it, also under a strict policy: not for scores that
// change, but for the first row that changes its place. What that row causes is not lost.
func TestKitLoadsTheRestOnDemand(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--origins", "*")
	p.Post("stars", e2etest.Scores("ann", 40, "bob", 30))
	site := onDemandSite(t, p, `<live-leaderboard board="stars"></live-leaderboard>`)
	ctx := window(t, 800, 600)
	const (
		root = `page.root()`
		rows = `[...` + root +
			`.querySelectorAll('[part~=row]')].map(row => row.dataset.member + ' ' + row.querySelector('[part=score]').textContent).join()`
		marks = `[...` + root + `.querySelectorAll('[data-move]')].map(mark => mark.dataset.move).join()`
	)
	do(t, ctx, chromedp.Navigate(site.URL), shows("ann", "bob"))
	p.Post("stars", `{"member":"bob","score":5}`)
	do(t, ctx, becomes(rows, "ann 40,bob 35"), becomes(loads, "0"))
	p.Post("stars", `{"member":"bob","score":10}`)
	do(t, ctx, shows("bob", "ann"), becomes(loads, "1"), becomes(`told.join()`, "ann → bob"), becomes(marks, "▲1,▼1"))
	p.Post("stars", `{"member":"ann","score":10}`)
	do(t, ctx, shows("ann", "bob"), becomes(`told.join()`, "ann → bob,bob → ann"), becomes(loads, "1"), becomes(`refused.join()`, ""))
	// A search needs the file too.
	do(t, ctx, chromedp.Navigate(site.URL), shows("ann", "bob"), becomes(loads, "0"),
		script(`var found; import('http://`+p.Addr+`/kit/v1/rankcast.js?2')
			.then(({connect}) => connect().search('stars', 'bo')).then(({entries}) => found = entries[0].member)`),
		becomes(`found`, "bob"), becomes(loads, "1"), becomes(`refused.join()`, ""))
}

// The end of a period is loaded in its last minute, and moves nothing when it comes: neither the countdown nor the result.
func TestKitLoadsTheEndWithoutAJump(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	addr, release := lineThatHolds(t, p.Addr, func(r *http.Request) bool { return strings.Contains(r.URL.Path, "on-demand") })
	ends := time.Now().Add(20 * time.Second).UTC().Format(time.RFC3339)
	p.Answers(201, "PUT", "/v1/boards/race", fmt.Sprintf(`{"ends":%q}`, ends))
	fill(t, p, "race", 10)
	const places = `page.partPlaces()`
	ctx := window(t, 800, 900)
	do(t, ctx, chromedp.Navigate("http://"+addr+"/embed/race"),
		isLive, becomes(`document.fonts.status`, "loaded"),
		becomes(`String(page.root().querySelectorAll('[part=list] > *').length)`, "10"),
		script(`var before = `+places+`, shifts = 0;
			new PerformanceObserver(list => {
				for (const {value} of list.getEntries()) shifts += value;
			}).observe({type: 'layout-shift'})`))
	release()
	do(t, ctx,
		holds(`page.part('countdown').checkVisibility()`),
		becomes(`String(before === `+places+`)`, "true"), becomes(`String(shifts)`, "0"),
		becomes(`String(page.root().querySelectorAll('[part=podium] > *').length)`, "3"),
		becomes(`String(before === `+places+`)`, "true"), becomes(loads, "1"))
}

// The kit writes scores as the server does on cards.
func TestKitWritesScoresAsTheServer(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile("../../../../ranking/scoretext/testdata/cases.json")
	require.NoError(t, err)
	var texts []struct {
		Text, Short string
		ShortZh     string `json:"short_zh"`
	}
	require.NoError(t, json.Unmarshal(cases, &texts))
	require.NotEmpty(t, texts)
	var whole, short, shortZh []string
	for _, c := range texts {
		whole, short, shortZh = append(whole, c.Text), append(short, cmp.Or(c.Short, c.Text)), append(shortZh, cmp.Or(c.ShortZh, c.Text))
	}
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	written := func(length string) string {
		return `cases.map(({score, display}) => scoreFormat(display ?? {}, ` + length + `)(score)).join('|')`
	}
	for lang, short := range map[string][]string{"en": short, "zh": shortZh} {
		do(t, ctx, chromedp.Navigate("http://"+p.Addr+"/embed/stars?lang="+lang),
			script(`var scoreFormat, cases = `+string(cases)+`; import('/kit/rankcast.js').then(kit => ({scoreFormat} = kit))`),
			becomes(written("Infinity"), strings.Join(whole, "|")), becomes(written("13"), strings.Join(short, "|")))
	}
}

// The kit draws the portraits of members as the first answer of the server does: TestPortraits reads the same table.
func TestKitDrawsPortraitsAsTheServer(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile("../../../../web/testdata/portraits.json")
	require.NoError(t, err)
	p := e2etest.Launch(t)
	do(t, window(t, 800, 600), visit(p, "/embed/stars"),
		script(`var wrong, cases = `+string(cases)+`;
			import('/kit/rankcast.js').then(({hueOf, initialOf}) =>
				wrong = cases.filter(({id, name, initial, hue}) => hueOf(id) !== hue || initialOf(name) !== initial).map(({id}) => id))`),
		becomes(`String(wrong) + ' of ' + cases.length`, " of 12"))
}
