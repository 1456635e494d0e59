//go:build !race

package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// The kit writes scores as the server does on cards.
func TestKitWritesScoresAsTheServer(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile("../../../server/internal/scoretext/testdata/cases.json")
	require.NoError(t, err)
	var texts []struct{ Text string }
	require.NoError(t, json.Unmarshal(cases, &texts))
	require.NotEmpty(t, texts)
	var want []string
	for _, c := range texts {
		want = append(want, c.Text)
	}
	p := launch(t)
	ctx := window(t, 800, 600)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.addr+"/embed/stars?lang=en"),
		script(`var written = ''; import('/kit/format.js').then(({scoreFormat}) => written = `+string(cases)+`.map(({score, display}) => scoreFormat(display ?? {})(score)).join('|'))`),
		becomes(`written`, strings.Join(want, "|"))))
}
