//go:build !race

package pages

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/definition"
	"rankcast/ranking/scoretext"
)

// The page with its first rows, the element, the overlay and the export show each name as it is, and each score as the
// table that cards and the terminal share. Names that objects of JavaScript have are names like others.
func TestSurfacesShowTheSameTexts(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../../../ranking/scoretext/testdata/names.json")
	require.NoError(t, err)
	var names []struct{ Name string }
	require.NoError(t, json.Unmarshal(b, &names))
	p := e2etest.LaunchBoards(t, `boards: {laps: {mode: last, display: {format: time_ms, unit: "≤"}}, open: {}}`)
	display := definition.Display{Format: "time_ms", Unit: definition.Label{"": "≤"}}
	var updates, rows []string
	var exported [][]string
	for i, n := range names {
		score := int64(11-i) * 1500
		member, err := json.Marshal(n.Name)
		require.NoError(t, err)
		updates = append(updates, fmt.Sprintf(`{"member":%s,"score":%d,"data":{"own":"mine"}}`, member, score))
		rows = append(rows, fmt.Sprint(i+1, " ", n.Name, " ", scoretext.Score(score, display, "en")))
		exported = append(exported, []string{n.Name, fmt.Sprint(score)})
	}
	a := p.Post("laps", `{"updates":[`+strings.Join(updates, ",")+`]}`)
	require.Equal(t, 200, a.Status)
	require.NotContains(t, a.Body, `"error"`)

	lines, err := csv.NewReader(strings.NewReader(p.Request("GET", "/v1/boards/laps/export?format=csv", "").Body)).ReadAll()
	require.NoError(t, err)
	for i, line := range lines[1:] {
		require.Equal(t, exported[i], line[:2])
	}
	ctx := window(t, 700, 1400)
	shown := func(rows string) string {
		return rows + `.map(row => ['rank', 'name', 'score']
			.map(field => row.querySelector('[data-field=' + field + ']').textContent).join(' ')).join('\n')`
	}
	for _, page := range []string{"/embed/laps?top=50", "/overlay/laps?top=25&pace=0", "/boards/laps?top=50"} {
		do(t, ctx, chromedp.Navigate("http://"+p.Addr+page),
			isLive,
			becomes(shown(`page.members()`),
				strings.Join(rows, "\n")))
	}
	first := p.Request("GET", "/embed/laps?top=50&lang=en", "").Body
	do(t, ctx, chromedp.Navigate("about:blank"),
		script(`var first = new DOMParser().parseFromString(`+quoted(t, first)+`, 'text/html')`),
		becomes(`[...first.querySelectorAll('.first-rows tbody tr')].map(page.words).length + ''`, fmt.Sprint(len(rows))),
		becomes(`String(`+quoted(t, strings.Join(rows, "\n"))+`.split('\n').every((row, i) => {
			const text = first.querySelectorAll('.first-rows tbody tr')[i].textContent;
			return text.includes(row.split(' ').slice(1, -2).join(' ')) && text.includes(row.split(' ').slice(-2).join(' '));
		}))`, "true"))

	// A template shows the fields that an entry has, and none of what objects inherit.
	do(t, ctx, visit(p, "/embed/open?lang=en"),
		isLive, step(t, "template-of-fields"),
		becomes(`[...board.shadowRoot.querySelectorAll('[data-member]')].map(row => [...row.querySelectorAll('i')]
			.map(i => i.textContent).join('|')).join(' ')`, "mine||||||||||||||| mine|||||||||||||||"))
}

// Half an emoji is told at once: to the page that sends it, and by the element that follows or shows it.
func TestKitTellsHalfAnEmoji(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, "boards: {stars: {}}\nevents: {gift: [{board: stars, member: \"{user}\", score: 1}]}")
	p.Post("stars", `{"member":"ann","score":1}`)
	ctx := window(t, 500, 400)
	do(t, ctx, visit(p, "/embed/stars?lang=en"),
		isLive, step(t, "half-an-emoji"),
		becomes(`Object.keys(told).sort().map(name => name + ': ' + told[name]).join(', ')`,
			"board: invalid_request board, event: invalid_request event, feed: invalid_request feed, me: invalid_request me, "+
				"search: invalid_request , searched: invalid_request , send: invalid_request data.user"),
		becomes(`page.state()`, "stopped"))
}

// The title of a page has the name of its board once, whether the page or the server has put it there.
func TestTitlesNameTheBoardOnce(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 500, 400)
	for path, title := range map[string]string{"/overlay/stars?mode=compact&lang=en": "stars · Overlay · Rankcast",
		"/embed/stars?lang=en": "stars · Board · Rankcast"} {
		do(t, ctx, visit(p, path), isLive, becomes(`document.title`, title))
	}
}

// Boards and instances may have the names that objects of JavaScript have.
func TestNamesOfObjectsAreNames(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {constructor: {kind: constructor}, "valueof:{constructor}": {kind: constructor}}`)
	for _, board := range []string{"constructor", "valueof:__proto__", "valueof:toString"} {
		p.Update(board, e2etest.Scores("__proto__", 2, "toString", 1))
	}
	ctx := window(t, 1280, 900)
	for _, board := range []string{"constructor", "valueof:__proto__", "valueof:toString"} {
		for _, page := range []string{"/boards/", "/embed/", "/overlay/"} {
			do(t, ctx, chromedp.Navigate("http://"+p.Addr+page+board+"?lang=en&me=toString"),
				becomes(`page.seen()`, "1 __proto__ 2 | 2 toString 1 to next 1"))
		}
	}
	do(t, ctx, visit(p, "/?lang=en"),
		becomes(`['constructor', 'valueof:__proto__', 'valueof:toString']
			.filter(name => !document.body.textContent.includes(name.split(':').at(-1))).join()`, ""))
	do(t, ctx, visit(p, "/members/constructor/__proto__?lang=en"),
		holds(`document.body.textContent.includes('valueof:toString') && document.body.textContent.includes('No. 1')`))
}

// quoted is a text as a literal of JavaScript.
func quoted(t *testing.T, text string) string {
	b, err := json.Marshal(text)
	require.NoError(t, err)
	return string(b)
}

// Each place of the pages that shows a name keeps it apart from the text around it.
func TestPagesIsolateNames(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	const star, user = "כוכב", "مستخدم"
	give(p, star, user, 30)
	give(p, "s2", user, 12)
	for _, member := range []string{star, "s2"} {
		p.Answers(201, "PUT", "/v1/members/star/"+member, `{"name":"`+star+` (1)"}`)
	}
	isolates := func(selector string) string {
		return fmt.Sprintf(`(() => {
			const found = [document, ...page.all('live-leaderboard').map(board => board.shadowRoot)]
				.flatMap(root => [...root.querySelectorAll(%q)]).filter(e => e.textContent);
			return found.length > 0 && found.every(e => ['isolate', 'plaintext'].includes(getComputedStyle(e).unicodeBidi)) + '';
		})()`, selector)
	}
	order, ctx := scriptFile(t, "order.js"), window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/?lang=en"), becomes(isolates(".card-member"), "true"),
		// A name begins beside its portrait, whatever its direction.
		becomes(`(name => {
			const range = document.createRange();
			range.selectNodeContents(name);
			return String(range.getBoundingClientRect().left - name.getBoundingClientRect().left < 1);
		})(document.querySelector('.card-member'))`, "true"),
		visit(p, "/boards/stars?lang=en"), becomes(isolates(".trend-name"), "true"),
		becomes(isolates("[part=member]"), "true"),
		chromedp.Navigate("http://"+p.Addr+"/boards/fans:"+star+"?lang=en"), becomes(`document.title`, "\u2068fans:"+star+"\u2069 · Rankcast"),
		visit(p, "/show/gift?lang=en"), watching, becomes(isolates("[part=member]"), "true"),
	)
	give(p, star, user, 1)
	do(t, ctx,
		becomes(isolates(".feed-fan"), "true"), becomes(isolates(".feed-star"), "true"),
		// No week is over yet, so there are no winners but this one.
		script(`document.querySelector('#podium').innerHTML = '<li><a class="podium-name">x</a></li>'`),
		becomes(isolates(".podium-name"), "true"),
		script(order), becomes(`inOrder(rowsOf(document.querySelector('#star-board')))`, ""),
		chromedp.Navigate("http://"+p.Addr+"/show/gift/"+star+"?lang=en"), watching, becomes(isolates("#star-name"), "true"),
		becomes(`document.title`, "\u2068"+star+" (1)\u2069 · Star flowers · Rankcast"),
	)
	for _, mode := range []string{"list", "compact"} {
		do(t, ctx,
			chromedp.Navigate("http://"+p.Addr+"/overlay/stars?mode="+mode), becomes(isolates("[part=member]"), "true"),
			script(order), becomes(`inOrder(rowsOf(page.board()))`, ""))
	}
	do(t, ctx, visit(p, "/overlay/stars?mode=me&me=s2"), becomes(isolates("[part=member]"), "true"))
	// A long name keeps its beginning.
	setName(p, "star", "s3", strings.Repeat(star+" ", 14))
	do(t, ctx, visit(p, "/show/gift?lang=en"), watching)
	give(p, "s3", user, 1)
	do(t, ctx, chromedp.EmulateViewport(390, 844),
		becomes(`(star => String(star.checkVisibility() && star.textContent.length > 50))(document.querySelector('.feed-star'))`, "true"),
		script(order), becomes(`((first, line) => String(first.left >= line.left
			&& first.right <= line.right))(at(document.querySelector('.feed-star'), 0),
				page.box('.feed-to'))`, "true"))
}
