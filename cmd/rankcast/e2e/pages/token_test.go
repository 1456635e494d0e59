//go:build !race

package pages

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
)

// doorman stands between a browser and a server. It accepts each token, notes what browsers send, and refuses
// the boards' data as the test wants it.
type doorman struct {
	*httptest.Server
	target *url.URL
	// sender is the value of data-anonymous-sends in pages; "": as the server has it.
	sender string
	// refusal is the status that answers requests below /v1/; 0: what the server answers.
	refusal int

	mu      sync.Mutex
	urls    []string // of all requests, with the Referer
	bearers []string // of the requests below /v1/, one for each
	sent    []string // over sockets: messages of the types auth and event
}

// startDoorman starts one. The caller sets its fields before the first request.
func startDoorman(t *testing.T, p *e2etest.Process) *doorman {
	target, err := url.Parse("http://" + p.Addr)
	require.NoError(t, err)
	d := &doorman{target: target}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = target.Host
			r.Out.Header.Del("Authorization")
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(r *http.Response) error {
			if d.sender == "" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
				return nil
			}
			page, err := io.ReadAll(r.Body)
			page = bytes.Replace(page, []byte(`data-anonymous-sends="true"`), []byte(`data-anonymous-sends="`+d.sender+`"`), 1)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(page)), int64(len(page))
			r.Header.Del("Content-Length")
			return err
		},
	}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		d.urls = append(d.urls, r.URL.String()+" "+r.Referer())
		if strings.HasPrefix(r.URL.Path, "/v1/") && r.URL.Path != "/v1/live" {
			d.bearers = append(d.bearers, r.Header.Get("Authorization"))
		}
		d.mu.Unlock()
		switch {
		case r.URL.Path == "/rankcast-token":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"token":%q}`, tokenFor("u4", "gift"))
		case r.URL.Path == "/v1/live":
			d.pipe(w, r)
		case d.refusal != 0 && strings.HasPrefix(r.URL.Path, "/v1/"):
			http.Error(w, `{}`, d.refusal)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(d.Close)
	return d
}

// pipe passes the messages of a socket on, but answers auth itself, and what it refuses.
func (d *doorman) pipe(w http.ResponseWriter, r *http.Request) {
	options := websocket.AcceptOptions{Subprotocols: []string{"rankcast.v1"}}
	client, err := websocket.Accept(w, r, &options)
	if err != nil {
		return
	}
	defer client.CloseNow()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	server, _, err := websocket.Dial(ctx, d.target.JoinPath("v1/live").String(), &websocket.DialOptions{Subprotocols: options.Subprotocols})
	if err != nil {
		return
	}
	defer server.CloseNow()
	var back sync.WaitGroup
	defer back.Wait()
	back.Go(func() {
		defer cancel()
		for {
			kind, message, err := server.Read(ctx)
			if err != nil || client.Write(ctx, kind, message) != nil {
				return
			}
		}
	})
	for {
		kind, message, err := client.Read(ctx)
		if err != nil {
			cancel()
			return
		}
		var frame struct {
			Type string
			ID   int
		}
		if json.Unmarshal(message, &frame) != nil {
			continue
		}
		if frame.Type == "auth" || frame.Type == "event" {
			d.mu.Lock()
			d.sent = append(d.sent, string(message))
			d.mu.Unlock()
		}
		code := map[int]string{401: "unauthorized", 403: "forbidden"}[d.refusal]
		switch {
		case frame.Type == "auth":
			client.Write(ctx, kind, fmt.Appendf(nil, `{"type":"ok","id":%d}`, frame.ID))
		case code != "" && frame.Type == "subscribe":
			client.Write(ctx, kind, fmt.Appendf(nil, `{"type":"error","id":%d,"code":%q,"message":"no"}`, frame.ID, code))
		default:
			server.Write(ctx, kind, message)
		}
	}
}

// all is what browsers have sent until now.
func (d *doorman) all() (urls, bearers, sent []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.urls...), append([]string(nil), d.bearers...), append([]string(nil), d.sent...)
}

// viewerFlowers is starFlowers with an event that viewers may send.
var viewerFlowers = strings.Replace(starFlowers, "gift:\n", "gift:\n    sender: user\n", 1)

// launchViewerStars starts a server with viewerFlowers.
func launchViewerStars(t *testing.T) *e2etest.Process {
	return e2etest.LaunchBoards(t, viewerFlowers)
}

// tokenFor is a token for a member, which may send events.
func tokenFor(sub string, events ...string) string {
	claims, _ := json.Marshal(map[string]any{"sub": sub, "exp": 4102444800, "rankcast": map[string]any{"boards": []string{"*"},
		"events": events}})
	return "eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString(claims) + ".c2lnbmF0dXJl"
}

// A page takes its token from the address and leaves it nowhere; its viewer sends as who the token says.
func TestShowViewerWithATokenSends(t *testing.T) {
	t.Parallel()
	p := launchViewerStars(t)
	d := startDoorman(t, p)
	d.sender = "false"
	token := tokenFor("莫奇", "gi*")
	ctx := window(t, 1280, 900)
	do(t, ctx,
		chromedp.Navigate(d.URL+"/show/gift/s17?me=someone&lang=en#token="+token),
		becomes(`page.state('star-board')`, "live"),
		becomes(`location.href`, d.URL+"/show/gift/s17?me=someone&lang=en"),
		becomes(`page.gifts()`, "sends, You are 莫奇."),
		click(`[data-amount="10"]`),
		becomes(textOf("#gift-note"), "Thank you! 10 for s17: you are No. 1 among the fans."),
		becomes(`page.fields('fans')`, "1 莫奇 10"),
		becomes(`document.querySelector('#fans').getAttribute('me')`, "莫奇"),
	)
	_, _, sent := d.all()
	require.Len(t, sent, 2)
	require.JSONEq(t, fmt.Sprintf(`{"type":"auth","id":1,"token":%q}`, token), sent[0])
	require.Contains(t, sent[1], `"user":"莫奇"`)

	secret := token[len(token)-30:]
	keeps := fmt.Sprintf(`[JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie, document.documentElement.outerHTML,
		...performance.getEntriesByType('resource').map(({name}) => name), JSON.stringify(history.state)]
			.filter(text => text.includes(%q)).join()`, secret)
	do(t, ctx,
		becomes(keeps, ""),
		// A link to another page passes the token on, and a copied link does not hold it.
		becomes(`String(page.all('a').some(({href}) => href.includes('token')))`, "false"),
		click(`.site a`),
		holds(`document.querySelector('.card') !== null`), becomes(`location.href`, d.URL+"/?lang=en"), becomes(keeps, ""),
		click(`.card [href*="boards/stars"]`), shows("s17"), becomes(`location.href`, d.URL+"/boards/stars?lang=en"),
		click(`#share`), script(`document.querySelector("#overlay-link").click()`), holds(`location.pathname === '/boards/stars/overlay'`),
		becomes(`document.querySelector('#picture iframe')?.contentDocument?.querySelector('live-leaderboard')?.dataset.state`, "live"),
	)
	urls, bearers, sent := d.all()
	require.NotContains(t, strings.Join(urls, "\n"), secret)
	require.NotEmpty(t, bearers)
	for _, bearer := range bearers {
		require.Equal(t, "Bearer "+token, bearer)
	}
	require.Contains(t, sent[len(sent)-1], token)

	// A new load begins without.
	do(t, ctx, chromedp.Navigate(d.URL+"/show/gift/s17?lang=en"),
		becomes(`page.gifts()`, "Only viewers with a token can send here. Open this page by the link that holds yours."),
		// Another token in the address of the page that is open.
		script(`location.hash = 'token=`+tokenFor("u4", "gift")+`'`), becomes(`page.gifts()`, "sends, You are u4."), becomes(`location.hash`, ""),
	)
}

// Who may send what, as the token and the page have it.
func TestShowAsksForANicknameWhereAnybodyMaySend(t *testing.T) {
	t.Parallel()
	p, keysOnly := launchViewerStars(t), launchShow(t)
	for _, c := range []struct {
		server                 *e2etest.Process
		anonymous, token, want string
	}{
		{p, "true", "", "asks, sends"},
		{p, "true", tokenFor("u4"), "sends, You are u4."},
		{p, "false", "", "Only viewers with a token can send here. Open this page by the link that holds yours."},
		{p, "false", tokenFor("u4", "gif", "*x", "g.*"), "Your token does not allow you to send."},
		{p, "false", tokenFor("u4", "g*f*"), "sends, You are u4."},
		{p, "false", "rck_key", "asks, sends"}, // it is for nobody in particular, and the server knows what it may
		// The server refuses an event without a sender from each viewer.
		{keysOnly, "false", tokenFor("u4", "gift"), "Viewers cannot send here: the event “gift” of this server names no sender."},
		{keysOnly, "true", tokenFor("u4", "gift"), "sends, You are u4."},
		{keysOnly, "false", "rck_key", "asks, sends"},
	} {
		d := startDoorman(t, c.server)
		d.sender = c.anonymous
		require.NoError(t, chromedp.Do(window(t, 1280, 900), chromedp.Navigate(d.URL+"/show/gift/s17?lang=en#token="+c.token),
			becomes(`page.state('star-board')`, "live"), becomes(`page.gifts()`, c.want)), "%s %s", c.anonymous, c.token)
	}
}

// In the place of a board that the reader may not see, the page says so.
func TestPagesSayWhatTheReaderMayNotSee(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	give(p, "s17", "mochi", 3)
	for refusal, says := range map[int]struct{ page, board, chinese string }{
		401: {"To see this, open the page by a link that holds a valid token.", "You need a valid token to see this board.",
			"请使用带有有效令牌的链接打开本页，才能查看此内容。"},
		403: {"Your token does not allow you to see this.", "Your token is not for this board.", "你的令牌不能查看此内容。"},
	} {
		d := startDoorman(t, p)
		d.refusal = refusal
		ctx := window(t, 1280, 900)
		note := func(id string) string {
			return fmt.Sprintf(`document.getElementById(%q).shadowRoot.querySelector('[part=note]').textContent`, id)
		}
		require.NoError(t, chromedp.Do(ctx,
			chromedp.Navigate(d.URL+"/?lang=en"), becomes(textOf("#overview-note"), says.page), becomes(textOf("#note"), ""),
			chromedp.Navigate(d.URL+"/?lang=zh"), becomes(textOf("#overview-note"), says.chinese),
			chromedp.Navigate(d.URL+"/boards/stars?lang=en"), becomes(note("leaderboard"), says.board), becomes(textOf("#note"), ""),
			chromedp.Navigate(d.URL+"/boards/fans:%7Bstar%7D?lang=en"), becomes(textOf("#instances-note"), says.page),
			chromedp.Navigate(d.URL+"/show/gift/s17?lang=en"), becomes(note("star-board"), says.board), becomes(note("fans"), says.board),
			becomes(textOf("#feed-empty"), says.page), becomes(textOf("#requirements"), ""), becomes(textOf("#no-winners"), says.page),
			chromedp.Navigate(d.URL+"/overlay/stars?lang=en"),
			becomes(`page.part('note').textContent`, says.board),
		), "%d", refusal)
	}
}

// The element requests the token from its page's site, with the site's cookies and past all caches.
func TestElementRequestsItsTokenURL(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	give(p, "s17", "mochi", 3)
	d := startDoorman(t, p)
	do(t, window(t, 800, 600), chromedp.Navigate(d.URL+"/healthz"),
		script(`document.body.innerHTML = '<live-leaderboard board="stars" token-url="/rankcast-token"></live-leaderboard>';
			import('/kit/rankcast.js')`),
		isLive, shows("s17"),
	)
	redistest.Eventually(t, "the token to be sent", func() error {
		if _, _, sent := d.all(); len(sent) != 1 || !strings.Contains(sent[0], tokenFor("u4", "gift")) {
			return fmt.Errorf("%s", sent)
		}
		return nil
	})
}

// The star-flower page of a server with an access file: a viewer with a token sends as its sub, what the event
// allows; the page goes on with another token when one expires; without a token it reads, and sends nothing.
func TestShowPageOfAServerWithAnAccessFile(t *testing.T) {
	t.Parallel()
	dir, key, secret := t.TempDir(), access.NewKey(), []byte(strings.Repeat("secret ", 10))
	for name, text := range map[string]string{
		"secret": string(secret),
		"access.yaml": fmt.Sprintf("keys: [{name: ops, hash: %q, scopes: [admin]}]\nanonymous: {scopes: [read], boards: [\"*\"], "+
			"events: [gift]}\n"+
			"tokens: {secret_file: secret}\n", access.HashKey(key)),
		"stars.yaml": strings.Replace(starFlowers, "gift:\n",
			"gift:\n    sender: user\n    fields: {flowers: {min: 1, max: 99}, star: {kind: star}}\n", 1),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	p := e2etest.Launch(t, "--access", filepath.Join(dir, "access.yaml"), "--boards", filepath.Join(dir, "stars.yaml"))
	signer, err := access.NewSecretSigner(secret)
	require.NoError(t, err)
	token := func(sub string, life time.Duration) string {
		text, err := signer.Sign(access.TokenContent{Sub: sub, Boards: []string{"*"}, Events: []string{"gift"}, Expires: time.Now().Add(life)})
		require.NoError(t, err)
		return text
	}
	a := p.Request("PUT", "/v1/members/star/s17", `{"name":"Eli"}`, "Authorization", "Bearer "+key)
	require.Equal(t, 201, a.Status, a.Body)
	a = p.Request("POST", "/v1/events/gift", `{"star":"s17","user":"mochi","flowers":3}`, "Authorization", "Bearer "+key)
	require.Equal(t, 200, a.Status, a.Body)

	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/show/gift/s17?lang=en"),
		becomes(`page.state('star-board')`, "live"),
		becomes(`page.gifts()`, "Only viewers with a token can send here. Open this page by the link that holds yours."),
		becomes(`page.fields('fans')`, "1 mochi 3"),
		chromedp.Navigate("about:blank"),
		chromedp.Navigate("http://"+p.Addr+"/show/gift/s17?lang=en#token="+token("ana", time.Hour)),
		becomes(`page.gifts()`, "sends, You are ana."),
		becomes(`page.fields('fans')`, "1 mochi 3 | ana nothing yet"), // the rows move the buttons
		click(`[data-amount="10"]`),
		becomes(textOf("#gift-note"), "Thank you! 10 for Eli: you are No. 1 among the fans."),
		becomes(`page.fields('fans')`, "1 ana 10 | 2 mochi 3"),
	)
	require.Equal(t, 13, scoreOf(p, "stars", "s17"))
	// A token that was valid, and is not any more: the page says so, where the data would stand.
	do(t, ctx, chromedp.Navigate("about:blank"),
		chromedp.Navigate("http://"+p.Addr+"/boards/stars?lang=en#token="+token("ana", -time.Hour)),
		becomes(`page.part('note').textContent`, "You need a valid token to see this board."),
	)
	require.NotContains(t, p.Output(), secret)
}
