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
	"rankcast/server/servertest"
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

	lines, err := csv.NewReader(strings.NewReader(servertest.Request(t, "GET",
		"http://"+p.Addr+"/v1/boards/laps/export?format=csv", "").Body)).ReadAll()
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
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+page),
			becomes(`document.querySelector('live-leaderboard').dataset.state`, "live"),
			becomes(shown(`[...document.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[data-member]')]`),
				strings.Join(rows, "\n"))))
	}
	first := servertest.Request(t, "GET", "http://"+p.Addr+"/embed/laps?top=50&lang=en", "").Body
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank"),
		script(`var page = new DOMParser().parseFromString(`+quoted(t, first)+`, 'text/html')`),
		becomes(`[...page.querySelectorAll('.first-rows tbody tr')].map(row => row.textContent.replace(/\s+/g, ' ').trim()).length + ''`,
			fmt.Sprint(len(rows))),
		becomes(`String(`+quoted(t, strings.Join(rows, "\n"))+`.split('\n').every((row, i) => {
			const text = page.querySelectorAll('.first-rows tbody tr')[i].textContent;
			return text.includes(row.split(' ').slice(1, -2).join(' ')) && text.includes(row.split(' ').slice(-2).join(' '));
		}))`, "true")))

	// A template shows the fields that an entry has, and none of what objects inherit.
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/embed/open?lang=en"),
		becomes(`document.querySelector('live-leaderboard').dataset.state`, "live"), script(`
		var template = document.createElement('template');
		template.slot = 'row';
		for (const field of ['data.own', 'data.constructor', 'data.toString', 'data.__proto__', 'data.own.length',
			'data.own.length.constructor', 'data.own.at', 'data.own.0',
			'data.none.length', 'data.length', 'constructor', 'toString', '__proto__', 'data', 'none', 'none.length']) {
			const part = Object.assign(document.createElement('i'), {textContent: '?'});
			part.dataset.field = field;
			template.content.append(part);
		}
		var board = document.querySelector('live-leaderboard');
		board.append(template); board.setAttribute('top', '2'); board.setAttribute('board', 'laps')`),
		becomes(`[...board.shadowRoot.querySelectorAll('[data-member]')].map(row => [...row.querySelectorAll('i')]
			.map(i => i.textContent).join('|')).join(' ')`, "mine||||||||||||||| mine|||||||||||||||")))
}

// Half an emoji is told at once: to the page that sends it, and by the element that follows or shows it.
func TestKitTellsHalfAnEmoji(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, "boards: {stars: {}}\nevents: {gift: [{board: stars, member: \"{user}\", score: 1}]}")
	p.Post("stars", `{"member":"ann","score":1}`)
	ctx := window(t, 500, 400)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/embed/stars?lang=en"),
		becomes(`document.querySelector('live-leaderboard').dataset.state`, "live"), script(`
		var half = 'Ana \u{1f600}'.slice(0, 5), told = {}, tell = name => error => told[name] = [error.code, error.field].join(' ');
		import('/kit/rankcast.js').then(({connect}) => {
			const connection = connect();
			connection.send('gift', {user: half}).catch(tell('send'));
			connection.send(half, {user: 'u'}).catch(tell('event'));
			connection.subscribe('stars', {me: half}, {onState: (state, {problem}) => problem && tell('me')(problem)});
			connection.subscribe(half, {}, {onState: (state, {problem}) => problem && tell('board')(problem)});
			connection.feed(half, {onError: tell('feed')});
			connection.search('stars', half).catch(tell('search'));
			connection.search(half, 'ann').catch(tell('searched'));
			document.querySelector('live-leaderboard').setAttribute('me', half);
		})`),
		becomes(`Object.keys(told).sort().map(name => name + ': ' + told[name]).join(', ')`,
			"board: invalid_request board, event: invalid_request event, feed: invalid_request feed, me: invalid_request me, "+
				"search: invalid_request , searched: invalid_request , send: invalid_request data.user"),
		becomes(`document.querySelector('live-leaderboard').dataset.state`, "stopped")))
}

// The title of a page has the name of its board once, whether the page or the server has put it there.
func TestTitlesNameTheBoardOnce(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 500, 400)
	for path, title := range map[string]string{"/overlay/stars?mode=compact&lang=en": "stars · Overlay · Rankcast",
		"/embed/stars?lang=en": "stars · Board · Rankcast"} {
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+path),
			becomes(`document.querySelector('live-leaderboard').dataset.state`, "live"), becomes(`document.title`, title)))
	}
}

// Boards and instances may have the names that objects of JavaScript have.
func TestNamesOfObjectsAreNames(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {constructor: {kind: constructor}, "valueof:{constructor}": {kind: constructor}}`)
	for _, board := range []string{"constructor", "valueof:__proto__", "valueof:toString"} {
		require.Equal(t, 200, p.Post(board, `{"updates":[{"member":"__proto__","score":2},{"member":"toString","score":1}]}`).Status)
	}
	ctx := window(t, 1280, 900)
	for _, board := range []string{"constructor", "valueof:__proto__", "valueof:toString"} {
		for _, page := range []string{"/boards/", "/embed/", "/overlay/"} {
			require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+page+board+"?lang=en&me=toString"),
				becomes(seen, "1 __proto__ 2 | 2 toString 1 to next 1")))
		}
	}
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/?lang=en"),
		becomes(`['constructor', 'valueof:__proto__', 'valueof:toString']
			.filter(name => !document.body.textContent.includes(name.split(':').at(-1))).join()`, "")))
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/members/constructor/__proto__?lang=en"),
		becomes(`String(document.body.textContent.includes('valueof:toString') && document.body.textContent.includes('No. 1'))`, "true")))
}

// quoted is a text as a literal of JavaScript.
func quoted(t *testing.T, text string) string {
	b, err := json.Marshal(text)
	require.NoError(t, err)
	return string(b)
}
