//go:build !race

package pages

import (
	"encoding/json"
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
)

// idolNight is a show that has no word of the demo.
const idolNight = `
boards:
  idols:
    title: {en: Idols of today, ja: 今日のアイドル}
    description: {en: Who moves you?, ja: 推しに花束を}
    icon: /assets/shared/favicon.svg
    kind: idol
    period: day
    display: {unit: {en: points, ja: 点}, decimals: 1}
  "fans-of:{idol}": {title: {en: "Who loves {idol}", ja: "{idol}のファン"}, kind: fan}
  "now:{idol}":     {title: {en: "With {idol}", ja: "{idol}と今"}, kind: fan, window: 1h, refresh: live}
events:
  bouquet:
    sender: fan
    fields: {n: {min: 1, max: 5000, choices: [50, 500]}, idol: {kind: idol}}
    show: {title: {en: Night of idols, ja: アイドルナイト}, board: idols, fans: "fans-of:{idol}", recent: "now:{idol}"}
    updates:
      - {board: idols,            member: "{idol}", score: "{n}"}
      - {board: "fans-of:{idol}", member: "{fan}",  score: "{n}"}
      - {board: "now:{idol}",     member: "{fan}",  score: "{n}"}
`

// words are all words of a page, also those of its boards and those for screen readers.
const words = `[document, ...page.all('live-leaderboard').map(board => board.shadowRoot)].flatMap(root =>
	[...root.querySelectorAll('*')].flatMap(({ariaLabel, title, localName, childNodes}) => ['script', 'style', 'template'].includes(localName)
		? [] : [ariaLabel, title, ...[...childNodes].filter(({nodeType}) => nodeType === 3).map(({data}) => data)])).join(' ')`

// The page of an own show has the words, languages, units, choices and the icon of its definitions, and the viewer of a token
// sends. It is the same where only a token may read the event.
func TestShowOfOnesOwn(t *testing.T) {
	t.Parallel()
	for _, anonymous := range []string{`{scopes: [read], boards: ["*"], events: [bouquet]}`, `{scopes: [read], boards: [none]}`} {
		dir, key, secret := t.TempDir(), access.NewKey(), []byte(strings.Repeat("secret ", 10))
		for name, text := range map[string]string{"secret": string(secret), "boards.yaml": idolNight, "access.yaml": fmt.Sprintf(
			"keys: [{name: ops, hash: %q, scopes: [admin]}]\nanonymous: %s\ntokens: {secret_file: secret}\n", access.HashKey(key), anonymous)} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		p := e2etest.Launch(t, "--access", filepath.Join(dir, "access.yaml"), "--boards", filepath.Join(dir, "boards.yaml"))
		signer, err := access.NewSecretSigner(secret)
		require.NoError(t, err)
		token, err := signer.Sign(access.TokenContent{Sub: "uma", Boards: []string{"*"}, Events: []string{"bouquet"},
			Expires: time.Now().Add(time.Hour)})
		require.NoError(t, err)
		for _, c := range [][3]string{{"PUT", "/v1/members/idol/ann", `{"name":"安室"}`}, {"PUT", "/v1/members/idol/bo", `{"name":"Bo"}`},
			{"POST", "/v1/events/bouquet", `{"idol":"bo","fan":"leo","n":5000}`},
			{"POST", "/v1/events/bouquet", `{"idol":"ann","fan":"leo","n":10}`}} {
			a := p.Request(c[0], c[1], c[2], "Authorization", "Bearer "+key)
			require.Equal(t, 2, a.Status/100, a.Body)
		}
		for lang, want := range map[string][7]string{
			"ja": {"アイドルナイト", "推しに花束を", "今日のアイドル", "安室のファン", "安室と今", "5.0 点,50.0 点", "Thank you! 50.0 点 for 安室: you are No. 1 among the fans."},
			"en": {"Night of idols", "Who moves you?", "Idols of today", "Who loves 安室", "With 安室", "5.0 points,50.0 points",
				"Thank you! 50.0 points for 安室: you are No. 1 among the fans."},
		} {
			ctx := ownWindow(t, 1280, 900)
			do(t, ctx,
				chromedp.Navigate("http://"+p.Addr+"/show/bouquet/ann?lang="+lang+"#token="+token),
				becomes(`page.state('star-board')`, "live"), becomes(`page.gifts()`, "sends, You are uma."),
				becomes(textOf("#title"), want[0]), becomes(textOf("#lead"), want[1]), becomes(textOf("#board-title"), want[2]),
				becomes(textOf("#fans-title"), want[3]), becomes(textOf("#recent-title"), want[4]),
				becomes(`page.all('.size-count').map(({textContent}) => textContent).join()`, want[5]),
				becomes(`document.title`, "安室 · "+want[0]+" · Rankcast"),
				becomes(`document.documentElement.lang`, "en"),
				click(`[data-amount="500"]`), becomes(textOf("#gift-note"), want[6]),
				becomes(`page.count('.feed-line')`, "1"),
				becomes(`page.all('svg.symbol, svg.flower').length + ' ' + page.count('.size img[src$="/assets/shared/favicon.svg"]')`, "0 6"),
				becomes(`String((`+words+`).match(/\b(stars?|flowers?|gifts?|users?|weeks?)\b/i))`, "null"),
				click("#back"), becomes(`location.pathname`, "/show/bouquet"), becomes(`document.title`, want[0]+" · Rankcast"),
				becomes(`page.root('star-board').querySelectorAll('img[part=symbol]').length + ''`, "2"),
			)
			a := p.Request("DELETE", "/v1/boards/fans-of:ann/members/uma", "", "Authorization", "Bearer "+key)
			require.Equal(t, 2, a.Status/100, a.Body)
		}
	}
}

// An event that a page cannot fill has a page without buttons, which says so. A goal in the address of a star goes to its board.
func TestShowThatThePageCannotFill(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, strings.Replace(starFlowers, `member: "{user}", score: "{flowers}"}`,
		`member: "{user}", score: "{flowers}", data: {song: "{song}"}}`, 1))
	do(t, window(t, 1280, 900), visit(p, "/show/gift/s1?me=mochi&goal=500,1000&lang=en"), watching,
		becomes(textOf("#viewer-note"), "This page cannot send the event: it has more fields than a page can fill (song)."),
		becomes(`String(document.querySelector('.sizes').checkVisibility())`, "false"),
		becomes(`document.querySelector('#star-board').getAttribute('goal')`, "500,1000"),
		script(`history.pushState(null, '', '/show/gift?lang=en'); history.pushState(null, '', '?lang=en'); history.back()`),
		becomes(`String(document.querySelector('#star-board').getAttribute('goal'))`, "null"),
	)
}

// The script of the page offers the amounts that the server has put into it, or none where it cannot fill the event.
func TestShowScriptOffersTheSameChoices(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, strings.Replace(idolNight, "boards:\n",
		"boards:\n  solved: {columns: [{name: n, max: 99}, {name: m, max: 9}]}\n", 1))
	var cases []struct {
		Name    string          `json:"name"`
		Event   json.RawMessage `json:"event"`
		Choices []int           `json:"choices"`
	}
	table, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "web", "testdata", "choices.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(table, &cases))
	ctx := window(t, 1280, 900)
	for i, c := range cases {
		a := p.Request("PUT", fmt.Sprintf("/v1/events/case%d", i), string(c.Event))
		require.Equal(t, 201, a.Status, "%s: %s", c.Name, a.Body)
		do(t, ctx, visit(p, fmt.Sprintf("/show/case%d/ann?me=uma&lang=en", i)), watching,
			becomes(`'[' + page.all('.size').filter((size) => size.checkVisibility()).map(({dataset}) => dataset.amount).join(' ') + ']'`,
				fmt.Sprint(c.Choices)))
	}
}

// A star without a score, whose kind the rule of the field demands, has buttons if it has a profile. Otherwise the page says that
// nobody has this name.
func TestShowOfNobody(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, idolNight)
	a := p.Request("PUT", "/v1/members/idol/ann", `{"name":"Ann"}`)
	require.Equal(t, 201, a.Status, a.Body)
	const buttons = `page.all('.size').filter((size) => size.checkVisibility()).length + ''`
	ctx := window(t, 390, 844)
	do(t, ctx, visit(p, "/show/bouquet/nobody?me=uma&lang=en"), watching,
		becomes(textOf("#star-score"), "There is nobody of this name."), becomes(buttons, "0"),
		visit(p, "/show/bouquet/ann?me=uma&lang=en"), watching,
		becomes(textOf("#star-score"), "Nothing yet."), becomes(buttons, "2"))
}

// The thanks for a gift by which the star passes another one name that one.
func TestShowThanksForThePassing(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	give(p, "s1", "u1", 5)
	give(p, "s2", "u1", 3)
	do(t, window(t, 390, 844), visit(p, "/show/gift/s2?me=mochi&lang=en"), watching, becomes(textOf("#star-rank"), "No. 2"),
		click(tenFlowers), becomes(textOf("#gift-note"), "Thank you! 10 for s2, now ahead of s1."))
}
