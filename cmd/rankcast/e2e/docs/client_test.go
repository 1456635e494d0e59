//go:build !race

package docs

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

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/server/servertest"
)

// The complete client of live.md comes back after a lost connection, and gets only what it has missed.
func TestDocsClientResumes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(e2etest.ModuleRoot, "web/docs/live.md"))
	require.NoError(t, err)
	blocks, err := parseBlocks("live.md", string(text))
	require.NoError(t, err)
	at := slices.IndexFunc(blocks, func(b block) bool { return b.lang == "js" && strings.Contains(b.text, "new WebSocket(") })
	require.NotEqual(t, -1, at)

	p := e2etest.Launch(t)
	send := func(body string) {
		require.Equal(t, 200, servertest.Request(t, "POST", "http://"+p.Addr+"/v1/boards/points/scores", body).Status)
	}
	require.Equal(t, 201, servertest.Request(t, "PUT", "http://"+p.Addr+"/v1/boards/points", `{}`).Status)
	// Of a longer list, a change of one row is smaller than a snapshot.
	send(`{"updates":[{"member":"ana","score":50},{"member":"eli","score":40},{"member":"mia","score":30},{"member":"leo","score":20}]}`)
	// Another client watches, so that the node knows the change that the first one misses.
	other, err := dialDocs(t.Context(), p.Addr)
	require.NoError(t, err)
	defer other.close()
	require.NoError(t, other.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe","board":"points","top":10}`)))
	ctx := e2etest.Window(t, 800, 600)
	require.NoError(t, e2etest.Call(ctx, cdpage.SetBypassCSP, cdpage.SetBypassCSPParams{Enabled: true}))
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/healthz"),
		// The page notes the sockets, and the types of the frames of each. It refuses to open others until it may.
		e2etest.Script(`document.body.innerHTML = '<div id="out"></div>';
			var sockets = [], may = true;
			globalThis.WebSocket = class extends WebSocket {
				constructor(url, protocol) {
					super(may ? url : url.replace('/v1/live', '/nothing'), protocol);
					this.types = [];
					this.addEventListener('message', ({data}) => this.types.push(JSON.parse(data).type));
					sockets.push(this);
				}
			};`),
		e2etest.Script(`import(URL.createObjectURL(new Blob([`+asJSON(blocks[at].text)+`], {type: 'text/javascript'})))`),
		e2etest.Becomes(`document.querySelector('#out').textContent`, "1. ana: 50\n2. eli: 40\n3. mia: 30\n4. leo: 20"),
		e2etest.Script(`may = false; sockets[0].close()`), e2etest.Becomes(`String(sockets.length > 1)`, "true"),
	))
	send(`{"member":"leo","score":5}`)
	require.NoError(t, chromedp.Do(ctx,
		e2etest.Script(`may = true`),
		e2etest.Becomes(`document.querySelector('#out').textContent`, "1. ana: 50\n2. eli: 40\n3. mia: 30\n4. leo: 25"),
		e2etest.Becomes(`sockets.at(-1).types.join()`, "ok,delta"),
	))
}
