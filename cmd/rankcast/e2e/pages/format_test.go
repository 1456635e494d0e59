//go:build !race

package pages

import (
	"cmp"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

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
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/embed/stars?lang="+lang),
			script(`var scoreFormat, cases = `+string(cases)+`; import('/kit/rankcast.js').then(kit => ({scoreFormat} = kit))`),
			becomes(written("Infinity"), strings.Join(whole, "|")), becomes(written("13"), strings.Join(short, "|"))))
	}
}

// The kit draws the portraits of members as the first answer of the server does: TestPortraits reads the same table.
func TestKitDrawsPortraitsAsTheServer(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile("../../../../web/testdata/portraits.json")
	require.NoError(t, err)
	p := e2etest.Launch(t)
	require.NoError(t, chromedp.Do(window(t, 800, 600), chromedp.Navigate("http://"+p.Addr+"/embed/stars"),
		script(`var wrong, cases = `+string(cases)+`; import('/kit/rankcast.js').then(({hueOf, initialOf}) =>
			wrong = cases.filter(({id, name, initial, hue}) => hueOf(id) !== hue || initialOf(name) !== initial).map(({id}) => id))`),
		becomes(`String(wrong) + ' of ' + cases.length`, " of 12")))
}
