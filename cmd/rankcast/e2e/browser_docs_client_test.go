//go:build !race

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/server/servertest"
)

// The complete client of live.md comes back after a lost connection, and gets only what it has missed.
func TestDocsClientResumes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(moduleRoot, "web/docs/live.md"))
	require.NoError(t, err)
	blocks, err := parseBlocks("live.md", string(text))
	require.NoError(t, err)
	at := slices.IndexFunc(blocks, func(b block) bool { return b.lang == "js" && strings.Contains(b.text, "new WebSocket(") })
	require.NotEqual(t, -1, at)

	p := launch(t)
	send := func(body string) {
		require.Equal(t, 200, servertest.Request(t, "POST", "http://"+p.addr+"/v1/boards/points/scores", body).Status)
	}
	require.Equal(t, 201, servertest.Request(t, "PUT", "http://"+p.addr+"/v1/boards/points", `{}`).Status)
	// Of a longer list, a change of one row is smaller than a snapshot.
	send(`{"updates":[{"member":"ana","score":50},{"member":"eli","score":40},{"member":"mia","score":30},{"member":"leo","score":20}]}`)
	// Another client watches, so that the node knows the change that the first one misses.
	other, err := dialDocs(t.Context(), p.addr)
	require.NoError(t, err)
	defer other.close()
	require.NoError(t, other.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe","board":"points","top":10}`)))
	ctx := window(t, 800, 600)
	require.NoError(t, call(ctx, cdpage.SetBypassCSP, cdpage.SetBypassCSPParams{Enabled: true}))
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.addr+"/healthz"),
		// The page notes the sockets, and the types of the frames of each. It refuses to open others until it may.
		script(`document.body.innerHTML = '<div id="out"></div>';
			var sockets = [], may = true;
			globalThis.WebSocket = class extends WebSocket {
				constructor(url, protocol) {
					super(may ? url : url.replace('/v1/live', '/nothing'), protocol);
					this.types = [];
					this.addEventListener('message', ({data}) => this.types.push(JSON.parse(data).type));
					sockets.push(this);
				}
			};`),
		script(`import(URL.createObjectURL(new Blob([`+asJSON(blocks[at].text)+`], {type: 'text/javascript'})))`),
		becomes(`document.querySelector('#out').textContent`, "1. ana: 50\n2. eli: 40\n3. mia: 30\n4. leo: 20"),
		script(`may = false; sockets[0].close()`), becomes(`String(sockets.length > 1)`, "true"),
	))
	send(`{"member":"leo","score":5}`)
	require.NoError(t, chromedp.Do(ctx,
		script(`may = true`), becomes(`document.querySelector('#out').textContent`, "1. ana: 50\n2. eli: 40\n3. mia: 30\n4. leo: 25"),
		becomes(`sockets.at(-1).types.join()`, "ok,delta"),
	))
}
