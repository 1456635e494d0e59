//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// On a phone, the first three stars stand on a podium, the leader in the middle and above, with the list below and the gifts as
// one line above; all of it is in the first screen with the first answer, and the scripts leave it where it is.
func TestShowPodiumOnAPhone(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	for i := range 8 {
		give(p, fmt.Sprint("s", i), "u1", 100-10*i)
	}
	addr, release := slowLine(t, p.Addr)
	ctx := window(t, 390, 844)
	const places = `page.podiumPlaces()`
	const podium = `(() => {
		const [one, two, three, four] = ` + places + `.match(/\d+,\d+/g).filter((_, i) => i % 4 === 0).map(place => place.split(',').map(Number));
		return [two[0] < one[0], one[0] < three[0], one[1] < two[1], two[1] < three[1] || two[1] - three[1] < 8,
			three[1] < four[1], 2 * four[1] < 700].join();
	})()`
	const oneLine = `(height => String(height > 40 && height < 64))(page.box('#feed').height)`
	do(t, ctx,
		navigateWithoutLoad("http://"+addr+"/show/gift?lang=en"),
		holds(`page.painted() && document.querySelectorAll('.first-rows tbody tr').length === 8`),
		becomes(podium, "true,true,true,true,true,true"), becomes(oneLine, "true"))
	first := value[string](t, ctx, `page.podiumPlaces()`)
	release()
	do(t, ctx, watching, becomes(podium, "true,true,true,true,true,true"))
	then := value[string](t, ctx, `page.podiumPlaces()`)
	require.Equal(t, first, then)
	give(p, "s1", "u1", 50)
	give(p, "s2", "u2", 1)
	do(t, ctx,
		becomes(`page.fields('star-board').slice(0, 9)`, "1 s1 140 "), becomes(podium, "true,true,true,true,true,true"),
		becomes(oneLine, "true"), becomes(`page.gainIsInItsRow()`, "true"),
		becomes(`document.querySelector('.feed-line .feed-fan').textContent`, "u2"),
		// A wider window has the list, and all lines of the feed.
		resize(1280, 900), becomes(podium, "false,false,true,true,true,true"),
		becomes(oneLine, "false"),
	)
}

// A sentence about a pass is whole in the narrowest window, and moves nothing.
func TestShowMomentIsWholeOnAPhone(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	setName(p, "star", "s1", "Solveig Harte")
	setName(p, "star", "s2", "Juno Harrowby")
	give(p, "s1", "u1", 9)
	give(p, "s2", "u1", 5)
	const (
		moment = `page.part('moment', 'star-board')`
		list   = `String(page.part('list', 'star-board').getBoundingClientRect().top)`
	)
	ctx := window(t, 360, 800)
	for _, c := range []struct{ lang, star, want string }{{"en", "s2", "Juno Harrowby passed Solveig Harte for No. 1"},
		{"zh", "s1", "Solveig Harte 超过 Juno Harrowby，升至第 1 名"}} {
		do(t, ctx, chromedp.Navigate("http://"+p.Addr+"/show/gift?lang="+c.lang), watching)
		top := value[string](t, ctx, list)
		give(p, c.star, "u1", 5)
		do(t, ctx,
			becomes(`(moment => {
				const range = new Range();
				range.selectNodeContents(moment);
				const text = range.getBoundingClientRect(), room = moment.getBoundingClientRect();
				return moment.textContent + (text.right <= room.right && text.bottom <= room.bottom ? '' : ' is cut off');
			})(`+moment+`)`, c.want),
			becomes(list, top),
		)
	}
}

// On a star's page the buttons stay at the bottom of a phone's window, with what the star needs to pass the next one; they cover
// nothing that the page ends with, nor the viewer's row, whatever their height, nor the star on a phone on its side.
func TestShowButtonsStayAtTheBottom(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, strings.Replace(starFlowers, "kind: star}", "kind: star, display: {unit: flower|flowers}}", 1))
	setName(p, "star", "s1", "鹿见汀")
	give(p, "s1", "u1", 136)
	for i := range 12 {
		give(p, "s2", fmt.Sprint("u", i), 8)
	}
	ctx := window(t, 390, 844)
	const bar = `page.box('.gift')`
	for lang, want := range map[string][2]string{
		"en": {"41 more flowers to pass 鹿见汀", "40 flowers ahead of s2"},
		"zh": {"再送 41 flowers 就能超过鹿见汀", "领先 s2 40 flowers"},
	} {
		do(t, ctx,
			chromedp.Navigate("http://"+p.Addr+"/show/gift/s2?me=mochi&lang="+lang), watching,
			becomes(`String(Math.abs(`+bar+`.bottom - innerHeight) < 1 && document.documentElement.scrollHeight > innerHeight)`, "true"),
			becomes(textOf("#gift-gap"), want[0]),
			script(`document.querySelector('.size-unit').textContent = 'of the meadows '.repeat(4)`),
			becomes(`String(`+bar+`.height > 160 && page.part('me', 'fans').getBoundingClientRect().bottom <= `+bar+`.top)`, "true"),
			script(`scrollTo(0, document.documentElement.scrollHeight)`),
			becomes(`String(Math.abs(`+bar+`.bottom - innerHeight) < 1 && page.box('#recent-panel').bottom <= `+bar+
				`.top)`, "true"),
			chromedp.Navigate("http://"+p.Addr+"/show/gift/s1?me=mochi&lang="+lang), becomes(textOf("#gift-gap"), want[1]),
		)
	}
	do(t, ctx, resize(844, 390), visit(p, "/show/gift/s2?me=mochi"), watching,
		becomes(`String(page.box('.star-head').bottom <= `+bar+`.top && Math.abs(`+bar+`.bottom - innerHeight) < 1)`, "true"),
		// They stay under the finger that taps.
		script(`var at = JSON.stringify(page.box('.sizes'))`), click(tenFlowers),
		becomes(textOf("#gift-note")+` + (JSON.stringify(page.box('.sizes')) === at)`,
			"Thank you! 10 flowers for s2: you are No. 1 among the fans.true"))
}

// A name in a script from right to left begins where other names do.
func TestShowNamesBeginOnOneLine(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	setName(p, "star", "s1", "نجمة")
	setName(p, "user", "u1", "مشجع")
	for i := range 2 {
		give(p, fmt.Sprint("s", i+1), "u1", 9-i)
		give(p, fmt.Sprint("s", i+1), "u2", 5)
	}
	starts := func(names string) string {
		return fmt.Sprintf(`(names => names.length < 2 ? 'too few'
			: [...new Set(names.map(name => {
				const range = new Range();
				range.selectNodeContents(name);
				return Math.round(range.getBoundingClientRect().left);
			}))].length + '')(%s)`, names)
	}
	const named = `[...document.querySelector('#%s').shadowRoot.querySelectorAll('[part=member]')]`
	for _, width := range []int{390, 1280} {
		ctx := window(t, width, 900)
		do(t, ctx,
			visit(p, "/show/gift/s1?lang=en"), watching,
			becomes(starts(fmt.Sprintf(named, "fans")), "1"),
			becomes(starts(`[document.querySelector('#star-name'), document.querySelector('.standing')]`), "1"),
		)
		if width > 992 {
			give(p, "s1", "u1", 1)
			give(p, "s1", "u2", 1)
			do(t, ctx, becomes(starts(fmt.Sprintf(named, "star-board")), "1"), becomes(starts(`page.all('.feed-fan')`), "1"))
		}
	}
}

// Names of members that have no profile cost no request that fails.
func TestShowNamesCostNoFailedRequest(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	setName(p, "user", "u1", "Uma")
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/show/gift/s9?me=mochi&lang=en"), watching)
	for i := range 4 {
		give(p, "s9", fmt.Sprint("u", i), 1)
	}
	do(t, ctx,
		becomes(`page.all('.feed-fan').map(user => user.textContent).sort().join()`, "Uma,u0,u2,u3"),
		becomes(`performance.getEntriesByType('resource').filter(({responseStatus}) => responseStatus >= 400).map(({name}) => name).join()`, ""),
	)
}
