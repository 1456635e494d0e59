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

// show is a board with a title, members with names that look like markup, and an event that gives them gifts.
const show = `
boards:
  idols: {title: "<b>Idols</b>", kind: idol, period: week, display: {unit: votes}}
  "fans-of:{idol}": {kind: fan}
events:
  bouquet:
    sender: fan
    updates:
      - {board: idols, member: "{idol}", score: "{count}"}
      - {board: "fans-of:{idol}", member: "{fan}", score: "{count}"}
`

func launchBouquets(t *testing.T) *e2etest.Process {
	p := e2etest.LaunchBoards(t, show)
	p.Answers(201, "PUT", "/v1/members/idol/i1", `{"name":"<i>Ida</i>"}`)
	p.Answers(201, "PUT", "/v1/members/fan/f1", `{"name":"<u>Fay</u>"}`)
	return p
}

// send sends an event of the show.
func send(p *e2etest.Process, idol, fan string, count int) {
	p.Answers(200, "POST", "/v1/events/bouquet", fmt.Sprintf(`{"idol":%q,"fan":%q,"count":%d}`, idol, fan, count))
}

// The parts of the builder.
const (
	faults       = `page.all('.fault').filter(line => line.checkVisibility()).map(line => line.textContent).join(' ')`
	builtAddress = `(a => a.href && a.value)(Object.assign(document.querySelector('#address'), {href: '/'}))`
	framed       = `document.querySelector('#picture iframe:not([data-loading])').contentDocument`
	inFrame      = `(d => d.documentElement.dataset.theme + ' ' + d.querySelector('#title').textContent + ' '
		+ [...d.querySelector('live-leaderboard').shadowRoot.querySelectorAll('[data-member]')]
			.map(row => row.textContent.replace(/\s+/g, ' ').trim()).join(' | '))(` + framed + `)`
)

// choose sets fields of the builder, as a reader does.
func choose(fields ...string) chromedp.Action[chromedp.Void] {
	var steps strings.Builder
	for i := 0; i < len(fields); i += 2 {
		fmt.Fprintf(&steps, `((field, value) => {
			if (field instanceof RadioNodeList) field = [...field].find(one => one.value === value);
			if (/radio|checkbox/.test(field.type)) field.checked = value !== '';
			else field.value = value;
			for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, {bubbles: true}));
		})(document.querySelector('#options').elements.namedItem(%q), %q);`, fields[i], fields[i+1])
	}
	return script(steps.String())
}

// paste puts an address into the builder's field.
func paste(address string) chromedp.Action[chromedp.Void] {
	return script(fmt.Sprintf(`(field => {
		field.focus();
		field.value = %q;
		field.dispatchEvent(new InputEvent('input', {bubbles: true, inputType: 'insertFromPaste'}));
	})(document.querySelector('#address'))`, address))
}

// The builder shows the overlay that its form describes. The address of the overlay holds only what differs from the defaults. The
// builder reads a pasted address into the form, and its own address keeps the form. It shows markup as text.
func TestBuilderMakesAnOverlay(t *testing.T) {
	t.Parallel()
	p := launchBouquets(t)
	send(p, "i1", "f1", 30)
	send(p, "i2", "f1", 20)
	at := "http://" + p.Addr + "/overlay/idols"
	ctx := window(t, 1280, 900)
	do(t, ctx, visit(p, "/boards/idols/overlay"),
		becomes(builtAddress, at), becomes(inFrame, "dark <b>Idols</b> 1 <i>Ida</i> 30 votes | 2 i2 20 votes"),
		choose("theme", "light", "top", "1", "title", "Best of <s>all</s>", "unit", "♥", "ends", "off", "place", "bottom-right"),
		becomes(builtAddress, at+"?theme=light&top=1&place=bottom-right&title=Best+of+%3Cs%3Eall%3C%2Fs%3E&unit=%E2%99%A5&ends=off"),
		becomes(inFrame, "light Best of <s>all</s> 1 <i>Ida</i> 30 ♥"),
		// The page keeps it, with the size.
		holds(`location.search.endsWith('&ends=off&layer-width=1920&layer-height=1080')`),
		chromedp.Reload(),
		becomes(inFrame, "light Best of <s>all</s> 1 <i>Ida</i> 30 ♥"),
		becomes(`[...new FormData(document.querySelector('#options'))].map(([name, value]) => name + '=' + value)
			.filter(field => /^(theme|top|place|title|unit|ends)=/.test(field)).join(' ')`,
			"top=1 title=Best of <s>all</s> unit=♥ ends=off theme=light place=bottom-right"),
		choose("has-title", "", "has-unit", "", "has-accent", "on", "accent", "#ff4400"),
		becomes(builtAddress, at+"?theme=light&top=1&place=bottom-right&accent=f40&title=&unit=&ends=off"),
		becomes(inFrame, "light  1 <i>Ida</i> 30"),

		// Of another host, with a size.
		paste("https://stream.example/x/overlay/idols?mode=me&me=i2&avatars=off&sound=on&layer-width=480&layer-height=100#a"),
		becomes(inFrame, "dark <b>Idols</b> 1 <i>Ida</i> 30 votes | 2 i2 20 votes 10 to next"),
		becomes(`page.text('#shown-width') + ' ' + page.text('#shown-height') + ' ' + page.text('#address-note')`,
			"480 100 Options set from this address. That address is of stream.example. This one is of the server you are on."),
		script(`document.querySelector('#address').blur()`),
		becomes(builtAddress, at+"?mode=me&me=i2&avatars=off&sound=on"),
		becomes(`document.querySelector('#drag').href`,
			at+"?mode=me&me=i2&avatars=off&sound=on&layer-width=480&layer-height=100&layer-name=%3Cb%3EIdols%3C%2Fb%3E"),
		// The builder reads a typed address when the field is left, and leaves out options that the mode does not use.
		script(`(field => {
			field.focus();
			field.value = '/overlay/idols?mode=compact&top=3&avatars=off&goal=5&event=bouquet'.replace(/^/, location.host);
			field.dispatchEvent(new InputEvent('input', {bubbles: true, inputType: 'insertText'}));
		})(document.querySelector('#address'))`),
		becomes(`document.querySelector('#options').elements.mode.value`, "me"),
		script(`document.querySelector('#address').dispatchEvent(new Event('change'))`),
		script(`document.querySelector('#address').blur()`), becomes(builtAddress, at+"?mode=compact&top=3"),
		choose("mode", "list"), becomes(builtAddress, at+"?top=3&avatars=off&goal=5"),
		// Another text than an address of an overlay changes nothing.
		paste("javascript:alert(1)//overlay/"), becomes(`page.text('#address-note')`, "This is no address of an overlay."),
		script(`document.querySelector('#address').blur()`), becomes(builtAddress, at+"?top=3&avatars=off&goal=5"),
		paste("/overlay/nothing"), becomes(`page.text('#address-note')`, "This server has no board “nothing”."),
		script(`document.querySelector('#address').blur()`), becomes(builtAddress, at+"?top=3&avatars=off&goal=5"),
		// The builder leaves out what is wrong. It says so below the field, or below the address if there is no field.
		paste(at+"?rows=2&top=200&theme=blue&gifts=x&scale=9999&layer-width=5&mode=me&me=i2&goal=5"),
		becomes(`page.text('#address-note')`, "Options set from this address, but for those that are wrong. Unknown parameter rows. "+
			"Known: mode, theme, top, me, pace, lang, scale, place, accent, face, title, unit, ends, avatars, motion, sound, gifts, event, goal "+
			"layer-width=5 is not valid. Want: 100–7680 This layout does not use: top, goal"),
		script(`document.querySelector('#address').blur()`), becomes(builtAddress, at+"?mode=me&me=i2"),
		becomes(faults, "theme=blue is not valid. Want: dark, light, clear scale=9999 is not valid. Want: 50–300 "+
			"gifts=x is not valid. Want: 0–9007199254740991"),
		choose("theme", "light", "mode", "list"), becomes(builtAddress, at+"?theme=light&me=i2&goal=5"),
		becomes(faults, "top=200 is not valid. Want: 1–100 scale=9999 is not valid. Want: 50–300 "+
			"gifts=x is not valid. Want: 0–9007199254740991"),
		choose("theme", "dark", "top", "3", "scale", "100", "gifts", "", "me", "", "goal", ""), becomes(faults, ""),
		// That of another board leads to its builder.
		paste(at+"/../fans-of:i1?mode=compact&title=%22%3E%3Cscript%3E"),
		becomes(builtAddress, "http://"+p.Addr+"/overlay/fans-of:i1?mode=compact&title=%22%3E%3Cscript%3E"),
		becomes(inFrame, `dark "><script> 1 <u>Fay</u> 30`),
	)
}

// A mode that is about one member says that it needs one, and a goal that it needs levels. Amounts and levels that are wrong stay out.
func TestBuilderSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	p := launchBouquets(t)
	send(p, "i1", "f1", 30)
	at := "http://" + p.Addr + "/overlay/idols"
	const given = `page.all('#copy:enabled, #drag:not([hidden])').map(way => way.textContent).reverse().join(' ') || 'nothing'`
	ctx := window(t, 390, 844)
	do(t, ctx, visit(p, "/boards/idols/overlay?mode=goal"),
		becomes(faults, "Name in “Follows” who this is about. Give the levels in “Goal”, such as 500,1000."),
		becomes(given, "nothing"),
		becomes(framed+`.querySelector('#hint').textContent`,
			"Name in “Follows” who this is about.\nGive the levels in “Goal”, such as 500,1000."),
		// The builder replaces a member's name by the id. It says so if nobody has the name.
		choose("me", "<i>Ida</i>"), becomes(builtAddress, at+"?mode=goal&me=i1"), becomes(given, "nothing"),
		choose("goal", "5", "me", "Ida"), becomes(faults, "No member has the id or the name “Ida”."),
		choose("me", "i1", "goal", "40,x", "gifts", "-5", "pace", "1e9"), becomes(builtAddress, at+"?mode=goal&me=i1"),
		becomes(given, "nothing"),
		becomes(faults, "goal=40,x is not valid. Want: 1–10 rising levels, such as 500,1000,5000 "+
			"gifts=-5 is not valid. Want: 0–9007199254740991 "+
			"pace=1e9 is not valid. Want: 0–60000"),
		choose("goal", "40,100", "gifts", "10", "pace", "0"), becomes(builtAddress, at+"?mode=goal&me=i1&pace=0&gifts=10&goal=40,100"),
		becomes(faults, ""), becomes(given, "Copy Drag this into OBS"),
		becomes(framed+`.querySelector('live-leaderboard').shadowRoot.querySelector('[part=goal-text]').textContent`, "10 votes to go"),
		holds(`document.documentElement.scrollWidth <= innerWidth`),
	)
}

// The overlay stands where its address says, at each size of a picture, with texts as large as it says, and within the picture.
func TestOverlayStandsInItsPlace(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 9)
	ctx := window(t, 1280, 900)
	const where = `(({left, right, top, bottom}) => [
		left < innerWidth - right - 2 ? 'left' : left > innerWidth - right + 2 ? 'right' : 'center',
		top < innerHeight - bottom - 2 ? 'top' : top > innerHeight - bottom + 2 ? 'bottom' : 'center',
		left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight ? 'whole' : 'cut'].join(' '))(page.box('#frame'))`
	for place, want := range map[string]string{
		"": "left top", "top": "center top", "top-right": "right top", "left": "left center", "center": "center center",
		"right": "right center", "bottom-left": "left bottom", "bottom": "center bottom", "bottom-right": "right bottom",
	} {
		do(t, ctx, overlay(p, "stars", "scale=50&me=m07&place="+place), isLive)
		for _, size := range [][2]int64{{1920, 1080}, {2560, 1440}, {1080, 1920}, {1440, 2560}} {
			require.NoError(t, chromedp.Do(ctx, resize(size[0], size[1]), becomes(where, want+" whole")), "%v %s", size, place)
		}
	}
	const height = `page.members()[0].offsetHeight`
	sizes := make(map[string]float64)
	for _, scale := range []string{"50", "100", "200"} {
		do(t, ctx, chromedp.EmulateViewport(1920, 1080), overlay(p, "stars", "scale="+scale), isLive)
		sizes[scale] = value[float64](t, ctx, height)
	}
	require.InDelta(t, sizes["100"]/2, sizes["50"], 3)
	require.InDelta(t, sizes["100"]*2, sizes["200"], 3)
	// As it comes, it leaves most of the picture to the game, and on a larger one it has the same share.
	var shares []float64
	for _, size := range [][2]int64{{1920, 1080}, {2560, 1440}} {
		do(t, ctx, chromedp.EmulateViewport(size[0], size[1]), overlay(p, "stars", ""), isLive)
		shares = append(shares, value[float64](t, ctx, `page.box('#frame').height / innerHeight`))
	}
	require.InDelta(t, 0.3, shares[0], 0.04)
	require.InDelta(t, shares[0], shares[1], 0.02)
}

// The builder's own language is not that of its overlay, and an address keeps both.
func TestBuilderKnowsTwoLanguages(t *testing.T) {
	t.Parallel()
	p := launchBouquets(t)
	ctx := window(t, 1280, 900)
	at := "http://" + p.Addr + "/overlay/idols"
	const languages = `document.documentElement.lang + ' ' + document.querySelector('#options').elements.lang.value`
	do(t, ctx, visit(p, "/boards/idols/overlay?lang=zh"), becomes(languages, "zh-Hans "), becomes(builtAddress, at),
		// The picture shows the overlay in the language of its reader, until one is chosen.
		becomes(framed+`.documentElement.lang`, "zh-Hans"),
		choose("lang", "en"), becomes(builtAddress, at+"?lang=en"),
		holds(`location.search.includes('lang=zh') && location.search.includes('layer-lang=en')`), chromedp.Reload(),
		becomes(languages, "zh-Hans en"), becomes(builtAddress, at+"?lang=en"))
}

// The title and the time that is left stand above the rows, and a title of the address in the place of the board's. Nothing
// moves when the script starts.
func TestOverlayHasATitle(t *testing.T) {
	t.Parallel()
	p := launchBouquets(t)
	send(p, "i1", "f1", 30)
	for _, more := range []string{"i2", "i3", "i4"} {
		send(p, more, "f1", 40)
	}
	ctx := window(t, 1280, 900)
	const (
		line = `[['#title', document.querySelector('#heading')], ['ends', page.part('header')]]
			.filter(([, line]) => line.checkVisibility() && line.offsetHeight > 8)
			.map(([id]) => id === 'ends' ? page.part(id) : document.querySelector(id))
			.filter(part => part.checkVisibility() && part.textContent)
			.map(part => part.textContent.replace(/\d.*/, '…')).join(' | ')`
		above = `(({bottom}) => String(bottom <= page.members()[0].getBoundingClientRect().top))(page.box('#heading'))`
	)
	for _, c := range []struct {
		query         string
		width, height int64
		want          string
	}{
		{"", 400, 300, "<b>Idols</b> | ends in …"}, {"title=Tonight", 400, 300, "Tonight | ends in …"}, {"ends=off", 400, 300, "<b>Idols</b>"},
		{"title=", 400, 300, "ends in …"}, {"title=&ends=off", 400, 300, ""}, {"", 400, 100, ""},
		{"mode=compact", 800, 60, "<b>Idols</b>"}, {"mode=compact&scale=200", 1920, 1080, "<b>Idols</b>"},
		{"mode=compact", 1000, 60, "<b>Idols</b> | ends in …"}, {"mode=compact&scale=50", 800, 600, "<b>Idols</b> | ends in …"},
		{"mode=compact&title=", 1000, 60, "ends in …"},
		{"mode=compact&ends=off", 400, 60, "<b>Idols</b>"}, {"mode=compact", 400, 60, ""},
		{"mode=me&me=i1", 480, 100, "<b>Idols</b> | ends in …"},
		{"mode=me&me=i1&theme=clear", 1280, 200, "<b>Idols</b> | ends in …"},
	} {
		require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(c.width, c.height), overlay(p, "idols", c.query), isLive,
			script(`page.watchShifts()`), becomes(line, c.want)), c)
		if strings.Contains(c.query, "mode=me") {
			// The time is over the row, and near it where nothing else shows where the card ends.
			do(t, ctx, holds(`(({x, y, width, height}) => page.root().elementsFromPoint(x + width / 2, y + height / 2)
				.find(part => part.getRootNode() === page.root()) === page.part('ends'))(page.part('ends').getBoundingClientRect())`),
				holds(`page.box('#frame').width < 500`))
		}
		if !strings.Contains(c.query, "mode") {
			require.NoError(t, chromedp.Do(ctx, holds(`shifts === 0`)), c)
		}
		if c.height == 300 && c.want != "" {
			do(t, ctx, becomes(above, "true"))
		}
	}
}

// A gift of at least the amount is an alert, with who sent it and for whom, one after the other; a smaller one, and one for
// another board, is none.
func TestOverlayAlertsOfGifts(t *testing.T) {
	t.Parallel()
	p := launchBouquets(t)
	ctx := window(t, 1280, 720)
	const (
		alert = `(a => a.checkVisibility() ? page.words(a) : 'none')(document.querySelector('#alert'))`
		// The server has answered what the page sent after it asked for the feed, so the feed has begun.
		asked = `sent.some(text => text.includes('"feed"'))`
		begun = `ponged === 'yes'`
		ping  = `var ponged; import('/kit/rankcast.js').then(kit => kit.connect().ping()).then(() => ponged = 'yes')`
		// The profile of the first one who gives comes last.
		slow = `var sent = [];
			WebSocket.prototype.send = (real => function (text) { sent.push(text); real.call(this, text); })(WebSocket.prototype.send);
			var second = Promise.withResolvers();
			globalThis.fetch = (real => async (to, ...more) => {
				const answer = await real(to, ...more);
				if (String(to).includes('id=f1')) await second.promise;
				if (String(to).includes('id=f2')) second.resolve();
				return answer;
			})(fetch)`
		// The wait for the next alert ends when the test says so.
		waits = `var waits = [];
			globalThis.setTimeout = (real => (run, ms, ...more) => ms === 5e3 || ms === 3e3 ? waits.push(run) : real(run, ms, ...more))(setTimeout)`
	)
	do(t, ctx, beforeScripts(slow))
	for _, c := range []struct{ board, query, unit string }{{"idols", "gifts=50", " votes"}, {"idols", "gifts=50&event=bouquet&unit=♥", " ♥"},
		{"fans-of:i1", "gifts=50&mode=compact", ""}} {
		do(t, ctx, overlay(p, c.board, c.query), isLive, script(waits), holds(asked), script(ping), holds(begun))
		send(p, "i1", "f1", 49)
		send(p, "i1", "f1", 50)
		send(p, "i1", "f2", 60)
		do(t, ctx, holds(`waits.length === 1`), becomes(alert, "U<u>Fay</u>for <i>Ida</i>50"+c.unit), script(`waits.pop()()`),
			becomes(alert, "Ff2for <i>Ida</i>60"+c.unit))
		send(p, "i2", "f2", 70)
		if c.board == "idols" {
			do(t, ctx, script(`waits.pop()()`), becomes(alert, "Ff2for i270"+c.unit))
		}
		do(t, ctx, script(`waits.pop()()`), becomes(alert, "none"))
	}
	do(t, ctx, overlay(p, "idols", "gifts=50&event=nothing"), isLive,
		becomes(`document.querySelector('#hint').textContent`, "No event “nothing” gives this board gifts."))
	// One fault, however often the page looks, until there is such an event.
	const hint = `document.querySelector('#hint').textContent`
	const look = `dispatchEvent(new Event('online'))`
	p.Answers(201, "PUT", "/v1/boards/lonely", `{}`)
	do(t, ctx, overlay(p, "lonely", "gifts=50"), becomes(hint, "No event gives this board gifts."), script(look+`;`+look),
		holds(`performance.getEntriesByType('resource').filter(({name}) => name.endsWith('/v1/events')).length >= 3`),
		becomes(hint, "No event gives this board gifts."))
	p.Answers(201, "PUT", "/v1/events/wave", `{"updates":[{"board":"lonely","member":"{who}","score":"{count}"}]}`)
	do(t, ctx, script(look), becomes(hint, ""))
}

// The wrong parameters stand over a game for some seconds, and no longer.
func TestOverlayTakesItsFaultsAway(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 2)
	ctx := window(t, 640, 360)
	do(t, ctx, beforeScripts(`var ends = [];
		globalThis.setTimeout = (real => (run, ms, ...more) => ms === 2e4 ? ends.push(run) : real(run, ms, ...more))(setTimeout)`),
		overlay(p, "stars", "theme=blue"), isLive, holds(`document.querySelector('#hint').textContent !== ''`),
		script(`ends.forEach((end) => end())`), becomes(`document.querySelector('#hint').textContent`, ""))
}

// A list says how far a row is behind and who leads now, where there is room for it, and who comes close to the next place, in
// place of the title.
func TestOverlayTellsOfBattles(t *testing.T) {
	t.Parallel()
	p := launchBouquets(t)
	send(p, "i1", "f1", 30)
	send(p, "i2", "f1", 20)
	ctx := window(t, 1280, 720)
	const alert = `(a => a.checkVisibility() ? page.words(a) : 'none')(document.querySelector('#alert'))`
	const gaps = `page.all('[part=who]', page.root()).map(who => who.dataset.behind ?? 'first').join(' ')`
	do(t, ctx, overlay(p, "idols", "pace=0"), isLive, becomes(gaps, "first −10"),
		// Nothing of the next period while the result of the last one is there.
		script(`page.board().toggleAttribute('data-finish')`),
		script(`page.board().dispatchEvent(new CustomEvent('new-leader', {detail: {entry: {member: 'early'}}}))`),
		script(`page.board().dispatchEvent(new CustomEvent('moment', {detail: {kind: 'closing', text: 'early'}}))`),
		script(`page.board().toggleAttribute('data-finish')`))
	send(p, "i2", "f1", 20)
	do(t, ctx, becomes(alert, "Ii2leads now"),
		script(`page.board().dispatchEvent(new CustomEvent('moment', {detail: {kind: 'passed', text: 'no'}}))`),
		script(`page.board().dispatchEvent(new CustomEvent('moment', {detail: {kind: 'closing', text: '<b>close</b>'}}))`),
		becomes(`page.texts('#battle')`, "<b>close</b>"),
		script(`page.board().dispatchEvent(new CustomEvent('finish', {detail: {top: []}}))`), becomes(`page.texts('#battle')`, ""),
		chromedp.EmulateViewport(400, 200), overlay(p, "idols", "pace=0"), isLive, script(`var leads = 0;
			document.addEventListener('new-leader', () => leads++)`))
	send(p, "i1", "f1", 20)
	do(t, ctx, holds(`leads === 1`), becomes(alert, "none"))
	// The goal of one member has no crown for another.
	do(t, ctx, overlay(p, "idols", "pace=0&mode=goal&me=i1&goal=900"), isLive, script(`var crowns = [];
		document.addEventListener('new-leader', ({detail}) => crowns.push(detail.entry.member + page.box('#celebration').height))`))
	send(p, "i2", "f1", 50)
	do(t, ctx, becomes(`crowns.join()`, "i20"))
}

// The overlay plays a tone for a new leader where the page may play without a touch, as in OBS, and none unless it is asked to.
func TestOverlayPlaysATone(t *testing.T) {
	t.Parallel()
	p := withMembers(t, 2)
	ctx := window(t, 400, 300)
	const audio = `var tones = 0;
		globalThis.AudioContext = class { state = 'running'; currentTime = 0; resume() {} };
		globalThis.OscillatorNode = class { connect() { return this; } start() { tones++; } stop() {} };
		globalThis.GainNode = class { gain = new Proxy({}, {get: () => () => {}}); connect() { return this; } }`
	do(t, ctx, beforeScripts(audio))
	for i, sound := range []string{"on", "off"} {
		do(t, ctx, overlay(p, "stars", "pace=0&sound="+sound), isLive, script(`var leads = 0;
			document.addEventListener('new-leader', () => leads++)`))
		p.Update("stars", fmt.Sprintf(`{"member":"m0%d","score":100}`, 2-i))
		do(t, ctx, holds(`leads === 1`), becomes(`String(tones > 0)`, fmt.Sprint(sound == "on")))
	}
}

// The builder passes the token on to the overlay that it shows, and to the builder of another board, and puts it into no address.
func TestBuilderPassesItsTokenOn(t *testing.T) {
	t.Parallel()
	p := launchViewerStars(t)
	d := startDoorman(t, p)
	ctx := window(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(d.URL+"/boards/stars/overlay?lang=en#token="+tokenFor("u1", "gift")),
		holds(`document.querySelector('#options[data-ready]') !== null`),
		becomes(`document.querySelector('#picture iframe')?.contentDocument?.querySelector('live-leaderboard')?.dataset.state`, "live"),
		script(`(select => {
			select.append(new Option('fans:s17', 'fans:s17', true, true));
			select.dispatchEvent(new Event('change', {bubbles: true}));
		})(document.querySelector('#board-choice'))`),
		holds(`location.pathname === '/boards/fans:s17/overlay' && document.querySelector('#token-note:not([hidden])') !== null
			&& location.hash === ''`))
}
