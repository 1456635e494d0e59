//go:build !race

package pages

import (
	"embed"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// scripts holds what pages run for tests: page.js is on each page, the other libraries where a test wants them, and the files
// of tests (.test.js) where TestScripts runs them.
//
//go:embed scripts
var scripts embed.FS

func scriptFile(t testing.TB, name string) string {
	text, err := scripts.ReadFile("scripts/" + name)
	require.NoError(t, err)
	return string(text)
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
	load := func(t *testing.T, name string) (do func(expression string) string) {
		ctx := window(t, 800, 600)
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/healthz"), standIn(t),
			script("(() => {"+scriptFile(t, name)+"})()")))
		return func(expression string) string {
			text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
			require.NoError(t, err)
			return text
		}
	}
	files, err := scripts.ReadDir("scripts")
	require.NoError(t, err)
	for _, file := range files {
		name, isTest := strings.CutSuffix(file.Name(), ".test.js")
		if !isTest {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, test := range strings.Fields(load(t, file.Name())(`[...tests.keys()].join(' ')`)) {
				t.Run(test, func(t *testing.T) {
					t.Parallel()
					load(t, file.Name())(`tests.get('` + test + `')().then(() => '')`)
				})
			}
		})
	}
}
