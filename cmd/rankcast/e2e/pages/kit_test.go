//go:build !race

package pages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// The kit chooses the language of a text as the server does: both have the same cases.
func TestKitChoosesTheLanguage(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile("../../../../ranking/definition/testdata/labels.json")
	require.NoError(t, err)
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/healthz"),
		script(fmt.Sprintf(`
			var wrong = 'pending';
			import('/kit/rankcast.js').then(({textIn}) => {
				const cases = %s;
				const failed = cases.filter(({label, tag, want}) => textIn(label, tag) !== want);
				wrong = textIn(undefined) === '' && cases.length > 9 ? JSON.stringify(failed) : 'incomplete';
			});`, cases)),
		becomes(`wrong`, "[]"),
	))
}

// A page may load the kit from both of its addresses: the element works once, and each copy finds the server.
func TestPageLoadsTheKitTwice(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t, "--origins", "*")
	p.Post("stars", `{"updates":[{"member":"ann","score":40},{"member":"bob","score":30}]}`)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>site</title><script>var faults = [];
			addEventListener('error', ({message}) => faults.push(message))</script>
			<script type="module" src="http://%[1]s/kit/v1/rankcast.js"></script><script type="module" src="http://%[1]s/kit/rankcast.js"></script>
			<live-leaderboard board="stars"></live-leaderboard>`, p.Addr)
	}))
	defer site.Close()
	require.NoError(t, chromedp.Do(window(t, 800, 600), chromedp.Navigate(site.URL), shows("ann", "bob"),
		script(`var lists = []; for (const path of ['kit/rankcast.js', 'kit/v1/rankcast.js', 'kit/v1/rankcast.js?2', 'kit/v1/format.js']) {
			import('http://`+p.Addr+`/' + path).then(({subscribe}) => subscribe('stars', {},
				{onTop: ({top}) => lists.push(top.map(({member}) => member).join(' '))}));
		}`),
		becomes(`lists.join()`, "ann bob,ann bob,ann bob,ann bob"), becomes(`faults.join()`, "")))
}

// A page of another site is told what keeps it from watching, and from sending.
func TestKitTellsAPageOfAnotherSite(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>site</title><live-leaderboard board="stars"></live-leaderboard>`)
	}))
	defer site.Close()
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
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site.URL),
			script(`var count = 0, result, refused = 'none', watching;
				globalThis.WebSocket = class extends WebSocket { constructor(...args) { super(...args); count++; } };
				import('http://`+p.Addr+`/kit/rankcast.js').then(({connect, subscribe}) => {
					subscribe('stars', {}, {onState: (state, {problem}) => watching = state + ' ' + (problem?.message ?? '')});
					connect().feed('periods', {onItems: () => {},
						onError: error => refused = [error.code + ' ' + (error.field ?? ''), String(error)].join(', ')});
					connect().send('gift', {star: 's17', user: 'mochi', flowers: 3})
						.catch(error => result = [error.code + ' ' + (error.field ?? ''), String(error)].join(', '));
				})`),
			becomes(`result`, with(c.sending)), becomes(`watching`, c.watching+with(c.refuse)), becomes(`refused`, with(c.feed)),
			becomes(`document.querySelector('live-leaderboard').dataset.state`, strings.TrimSpace(c.watching)),
			becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=note]').textContent`, with(c.note)),
			becomes(`count + ''`, c.sockets),
		))
	}
}
