//go:build !race

package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// The star-flower page of a server with an access file: a viewer with a token sends as its sub, what the event
// allows; the page goes on with another token when one expires; without a token it reads, and sends nothing.
func TestStarsPageOfAServerWithAnAccessFile(t *testing.T) {
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
	a := servertest.Request(t, "PUT", "http://"+p.Addr+"/v1/members/star/s17", `{"name":"Eli"}`, "Authorization", "Bearer "+key)
	require.Equal(t, 201, a.Status, a.Body)
	a = servertest.Request(t, "POST", "http://"+p.Addr+"/v1/events/gift", `{"star":"s17","user":"mochi","flowers":3}`,
		"Authorization", "Bearer "+key)
	require.Equal(t, 200, a.Status, a.Body)

	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/stars?star=s17&lang=en"),
		becomes(`document.querySelector('#stars').dataset.state`, "live"),
		becomes(gifts, "Only viewers with a token can send flowers here. Open this page by the link that holds yours."),
		becomes(boardOf("fans-today"), "1 mochi 3"),
		chromedp.Navigate("about:blank"),
		chromedp.Navigate("http://"+p.Addr+"/stars?star=s17&lang=en#token="+token("ana", time.Hour)),
		becomes(gifts, "sends, You are ana."),
		becomes(boardOf("fans-today"), "1 mochi 3 | ana no flowers yet"), // the rows move the buttons
		click(`[data-flowers="10"]`),
		becomes(textOf("#gift-note"), "Thank you! 10 flowers for Eli: you are No. 1 among today’s fans."),
		becomes(boardOf("fans-today"), "1 ana 10 | 2 mochi 3"),
	))
	require.Equal(t, 13, scoreOf(p, "stars", "s17"))
	// A token that was valid, and is not any more: the page says so, where the data would stand.
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank"),
		chromedp.Navigate("http://"+p.Addr+"/boards/stars?lang=en#token="+token("ana", -time.Hour)),
		becomes(`document.querySelector('live-leaderboard').shadowRoot.querySelector('[part=note]').textContent`,
			"You need a valid token to see this board."),
	))
	require.NotContains(t, p.Output(), secret)
}
