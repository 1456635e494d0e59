//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// stored is an expression for all that the site keeps for a viewer.
const stored = `Object.values(localStorage).join()`

// viewerName is an expression for who sends the flowers, as the page has it.
const viewerName = `document.querySelector('#viewer-name').textContent`

// The links of the pages pass the viewer on. The device remembers a viewer who types a nickname.
func TestShowRemembersTheViewer(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	give(p, "s1", "u1", 30)
	give(p, "s2", "u1", 20)
	ctx := window(t, 1280, 900)
	tap := func(star string) chromedp.Action[chromedp.Void] {
		return script(fmt.Sprintf(`page.root('star-board').querySelector('[data-member=%s] a').click()`, star))
	}
	do(t, ctx,
		visit(p, "/show/gift?lang=en"), watching,
		becomes(`page.fields('star-board')`, "1 s1 30 | 2 s2 10 to next 20"), tap("s1"), becomes(address, "/show/gift/s1?lang=en"),
		becomes(viewerName, "Set a nickname"), click("#viewer"), becomes(`page.focus()`, "me"),
		typeInto("#me", "mochi\r"), becomes(address, "/show/gift/s1?me=mochi&lang=en"), becomes(stored, "mochi"),
		becomes(`page.focus()`, "viewer"),
		// The page made this link before the viewer typed the nickname.
		tap("s2"), becomes(address, "/show/gift/s2?me=mochi&lang=en"), becomes(viewerName, "mochi"),
		script(`history.go(-2)`), becomes(address, "/show/gift?me=mochi&lang=en"), becomes(stored, "mochi"),
		script(`history.forward()`), becomes(address, "/show/gift/s1?me=mochi&lang=en"), becomes(viewerName, "mochi"),
		becomes(`document.querySelector('#fans').getAttribute('me')`, "mochi"), becomes(`stays`, "yes"),

		// A shared link shows the page as its sender saw it. The device still remembers this viewer.
		visit(p, "/show/gift/s2?me=taro&lang=en"), watching,
		becomes(viewerName, "taro"), becomes(stored, "mochi"),
		script(`document.querySelector('#back').click()`), becomes(address, "/show/gift?me=taro&lang=en"), becomes(stored, "mochi"),
		visit(p, "/show/gift/s1?lang=en"), becomes(address, "/show/gift/s1?me=mochi&lang=en"),
		becomes(viewerName, "mochi"),

		// The viewer takes the nickname of the link, and then none.
		visit(p, "/show/gift/s2?me=taro&lang=en"), watching,
		click("#viewer"), becomes(`document.querySelector('#me').value`, "taro"), click("#nickname-done"), becomes(stored, "taro"),
		click("#viewer"), script(`document.querySelector('#me').value = ''`), click("#nickname-done"),
		becomes(address, "/show/gift/s2?lang=en"), becomes(stored, ""),
	)
}

// For a viewer who comes back from a star outside the list, the focus is on the main part of the page.
func TestShowBackFromBeyondTheList(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	for i := range 25 {
		give(p, fmt.Sprintf("s%02d", i), "u1", 50-i)
	}
	const listed = `page.root('star-board').querySelectorAll('[data-member]').length + ''`
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/show/gift?lang=en"), watching, becomes(listed, "20"),
		script(`history.pushState(null, '', '/show/gift/s22?lang=en'); history.pushState(null, '', '/show/gift?lang=en'); history.back()`),
		becomes(`page.focus()`, "star-name"), becomes(listed, "21"),
		script(`history.back()`), becomes(`document.title`, "Star flowers · Rankcast"), becomes(listed, "20"), becomes(`page.focus()`, "main"),
		script(`history.pushState(null, '', '/show/gift/s02?lang=en'); history.pushState(null, '', '/show/gift?lang=en'); history.back()`),
		becomes(`page.focus()`, "star-name"), becomes(textOf("#star-name"), "s02"),
		script(`history.back()`), becomes(`document.title`, "Star flowers · Rankcast"), becomes(`page.focus()`, "link"), becomes(`stays`, "yes"),
	)
}

// Petals that fly to a star end with its page.
func TestShowPetalsStayWithTheirStar(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	give(p, "s2", "u1", 5)
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/show/gift/s1?me=mochi&lang=en"), watching,
		// A paused petal would fly until the end of the test.
		script(`Element.prototype.animate = (real => function (frames, options) {
			const a = real.call(this, frames, options);
			if (this.className === 'petal') a.pause();
			return a;
		})(Element.prototype.animate)`),
		click(`[data-amount="10"]`), becomes(petals, "12"),
		script(`document.querySelector('#back').click()`), becomes(`String(document.querySelector('#star').checkVisibility())`, "false"),
		script(`page.root('star-board').querySelector('[data-member=s2] a').click()`),
		becomes(textOf("#star-name"), "s2"), becomes(petals, "0"),
	)
}

// petals is an expression for the number of petals that fly.
const petals = `page.count('.petal')`

// Petals fly at the tap from the button to the head of the star's page, and the score there says how
// many flowers have come, which covers neither the score nor the star's name; with reduced motion nothing flies.
func TestShowPetalsFlyToTheStar(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	give(p, "s1", "u1", 5)
	for _, c := range []struct {
		width, height int
		motion, to    string
	}{{1280, 900, "no-preference", "head"}, {390, 844, "no-preference", "head"}, {390, 844, "reduce", ""}} {
		ctx := window(t, c.width, c.height)
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: c.motion}}})
		require.NoError(t, err)
		require.NoError(t, chromedp.Do(ctx,
			visit(p, "/show/gift/s1?me=mochi&lang=en"), watching,
			// Records where the last petal arrives, the number that appears there, and what that covers.
			step(t, "record-flights"),
			script(`for (let i = 0; i < 2; i++) document.querySelector('[data-amount="10"]').click()`),
			becomes(`document.querySelector('#gift-note').textContent.slice(0, 13)`, "Thank you! 20"),
			becomes(`target()`, c.to), becomes(petals, "0"),
		), "%v", c)
		if c.to != "" {
			do(t, ctx, becomes(`counts.join()`, "+10,+20"))
		}
	}
}

// The page has one text for an id that no star can have, and another one for a star without flowers. The board goes on in both cases.
func TestShowNoSuchStar(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	give(p, "s1", "u1", 30)
	ctx := window(t, 1280, 900)
	for _, star := range []string{strings.Repeat("x", 129), strings.Repeat("x", 65), "a%0Ab", "a%3Ab", "a%2Fb"} {
		require.NoError(t, chromedp.Do(ctx,
			chromedp.Navigate("http://"+p.Addr+"/show/gift/"+star+"?lang=en"),
			becomes(textOf("#star-score"), "Nobody can have this id."), watching,
			becomes(`page.fields('star-board')`, "1 s1 30"), becomes(textOf("#star-score"), "Nobody can have this id."),
			becomes(`String(document.querySelector('#star-board').getAttribute('me') || 'none')`, "none"),
			script(`page.root('star-board').querySelector('a').click()`),
			becomes(textOf(".star-head"), "S s1 No. 1 30 In the lead"), becomes(`stays`, "yes"),
		), star)
	}
}

// The page says in its language why the server takes no flowers.
func TestShowSaysWhyNot(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	ctx := window(t, 1280, 900)
	for lang, want := range map[string][2]string{
		"en": {"This server takes nothing now. It was not sent.", "The server did not take it."},
		"zh": {"这台服务器现在不接受，这次没有送出。", "这次没有送出。"},
	} {
		define := func(score string) {
			t.Helper()
			a := p.Request("PUT", "/v1/events/gift", `{"show":{"board":"stars","fans":"fans:{star}"},"updates":[
				{"board":"stars","member":"{star}","score":"`+score+`"},{"board":"fans:{star}","member":"{user}","score":1}]}`)
			require.Equal(t, 2, a.Status/100, a.Body)
		}
		define("{flowers}")
		do(t, ctx, chromedp.Navigate("http://"+p.Addr+"/show/gift/s1?me=mochi&lang="+lang), watching)
		p.Answers(204, "DELETE", "/v1/events/gift", "")
		do(t, ctx, click(`[data-amount="10"]`), becomes(textOf("#gift-note"), want[0]))
		define("{petals}")
		do(t, ctx, click(`[data-amount="99"]`), becomes(textOf("#gift-note"), want[1]))
	}
}

// The page leaves the winners and the focus on them as they are when it reads the same ones again.
func TestShowWinnersStay(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/show/gift?lang=en"), watching,
		// The week before has come to something; reads are counted once the page has done with them.
		step(t, "last-week"),
		becomes(textOf("#podium"), "Ss1 301Ss2 292Ss3 283"),
		script(`document.querySelectorAll('#podium a')[1].focus(); reads = 0; dispatchEvent(new Event('online'))`),
		becomes(`reads + ''`, "1"), becomes(`document.activeElement.textContent`, "s2"),
		script(`names.splice(1, 1); dispatchEvent(new Event('online'))`), becomes(textOf("#podium"), "Ss1 301Ss3 292"),
	)
}

// The page of a star says for a while that the star has risen, also where its board is out of sight, unless it falls again. Nothing
// moves for it.
func TestShowSaysThatTheStarRose(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	for i := range 4 {
		give(p, fmt.Sprint("s", i), "u1", 40-10*i)
	}
	ctx := window(t, 390, 844)
	do(t, ctx, visit(p, "/show/gift/s3?me=mochi&lang=en"), watching, becomes(textOf("#star-rank"), "No. 4"),
		becomes(sees("#star-board"), "false"),
		script(`var height = page.box('.star-head').height;
			globalThis.setTimeout = (real => (run, ms, ...more) => ms === 6e3 ? 0 : real(run, ms, ...more))(setTimeout)`))
	give(p, "s3", "u1", 25)
	do(t, ctx, becomes(textOf("#star-rank"), "No. 2"), becomes(textOf("#star-move"), "Up 2 places"),
		holds(`page.box('.star-head').height === height`))
	give(p, "s1", "u1", 25)
	do(t, ctx, becomes(textOf("#star-rank"), "No. 3"), becomes(textOf("#star-move"), ""))
}

// The largest of several choices rains over the window by the viewer's own tap, and a little by the gifts of others, but not with reduced
// motion, and not for a smaller gift. What fell is gone.
func TestShowRainsForTheLargestChoice(t *testing.T) {
	t.Parallel()
	p := launchShow(t)
	give(p, "s1", "u1", 5)
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/show/gift/s1?me=mochi&lang=en"), watching,
		script(`var most = 0; new MutationObserver(() => most = Math.max(most, page.count('.drop')))
			.observe(document.querySelector('.sky'), {childList: true})`),
		click(`[data-amount="10"]`), becomes(`page.fields('fans')`, "1 mochi 10 | 2 u1 5"), becomes(`most + ''`, "0"),
		click(`[data-amount="99"]`), becomes(`most + ''`, "44"), becomes(`page.count('.drop')`, "0"),
		// A page that was just opened.
		visit(p, "/show/gift?me=mochi&lang=en"), watching,
		script(`var most = 0; new MutationObserver(() => most = Math.max(most, page.count('.drop')))
			.observe(document.querySelector('.sky'), {childList: true})`),
	)
	give(p, "s1", "u1", 98)
	give(p, "s1", "u2", 520)
	do(t, ctx, becomes(`most + ''`, "7"))
	prefers(t, ctx, "light")
	do(t, ctx, visit(p, "/show/gift/s1?me=mochi&lang=en"), watching, click(`[data-amount="99"]`),
		becomes(textOf("#gift-note"), "Thank you! 99 for s1: you are No. 2 among the fans."), becomes(`page.count('.drop')`, "0"))
}
