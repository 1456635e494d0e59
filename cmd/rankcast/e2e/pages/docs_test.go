//go:build !race

package pages

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// docsPages are the paths of the documentation.
var docsPages = func() (paths []string) {
	names, err := filepath.Glob(filepath.Join(e2etest.ModuleRoot, "web/docs/*.md"))
	if err != nil {
		panic(err) // the pattern is wrong
	}
	for _, name := range names {
		paths = append(paths, "/docs/"+strings.TrimSuffix(filepath.Base(name), ".md"))
	}
	return paths
}()

// docsReady waits until the script of a page of the documentation has run, and knows the boxes that scroll.
var docsReady = holds(`document.querySelector('#docs-search').checkVisibility() &&
	page.all('#docs-article :is(pre, .table)')
		.every(box => box.scrollWidth > box.clientWidth === (box.tabIndex === 0))`)

// lookOrRead opens a page in a size, theme and language, and waits until it shows rows or cards, or until the
// script of a page of the documentation has run.
func lookOrRead(t *testing.T, ctx context.Context, addr, path string, width, height int, theme, lang string) {
	t.Helper()
	if !slices.Contains(docsPages, path) {
		look(t, ctx, addr, path, width, height, theme, lang)
		return
	}
	open(t, ctx, addr, path, width, height, theme, lang)
	require.NoError(t, chromedp.Do(ctx, docsReady), "%s %d %s %s", path, width, theme, lang)
}

// docsSample is what the renderer makes of code and tables that are too wide for a phone, and of some that
// are not.
var docsSample = `
<h2 id="sample-section"><a href="#sample-section">A sample section with aVeryLongNameThatHasNoPlaceToBreakAtAll</a></h2>
<figure class="code" data-copy="Copy the command"><pre><code>curl ` + strings.Repeat("long ", 60) + `&amp;&amp; echo
</code></pre></figure>
<figure class="code" data-kind="output"><figcaption>Output</figcaption><pre><code>short
</code></pre></figure>
<figure class="code" data-copy="Copy page.html"><figcaption>page.html</figcaption><pre><code>&lt;b&gt;
  two lines
</code></pre></figure>
<div class="table"><table><thead><tr><th>wide</th><th align="right">b</th><th>c</th></tr></thead>
<tbody><tr><td nowrap><code>` + strings.Repeat("w", 45) + `</code></td><td align="right">2</td><td>words that wrap, and ` +
	"`code`" + `</td></tr></tbody></table></div>
<div class="table"><table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table></div>
<p>Text with <code>` + strings.Repeat("code", 40) + `</code> and a <a href="https://a.example/">` + strings.Repeat("link", 40) + `</a>.</p>`

// withSample has each page of the window that loads from now on hold docsSample before its script runs.
func withSample(t *testing.T, ctx context.Context) {
	_, err := chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(
		`document.addEventListener('readystatechange',
			() => document.querySelector('#docs-article')?.insertAdjacentHTML('beforeend', %q), {once: true})`, docsSample)})
	require.NoError(t, err)
}

// Each page of the documentation fits a phone. A part that is too wide scrolls by itself, also by the
// keyboard. Tables, commands and JSON are never too wide for a phone. Short code does not break. No page
// logs an error to the console.
func TestDocsFitAPhone(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 390, 844)
	do(t, ctx, chromedp.Navigate("about:blank"))
	faults := e2etest.Listen(t, ctx)
	withSample(t, ctx)
	// The boxes of the sample that scroll, with the names that a screen reader has for them.
	const boxes = `page.all('#sample-section ~ * pre, #sample-section ~ .table').map(box =>
		box.scrollWidth > box.clientWidth ? box.tabIndex + box.role + /^(Code|Table) \d+$/.test(box.ariaLabel) : box.tabIndex
			+ String(box.role)).join(' ')`
	const tooWide = `page.all('.table, pre:has(.line)').filter(box => !box.matches('#sample-section ~ *')
		&& box.scrollWidth > box.clientWidth).map(box => box.textContent.trim().slice(0, 60)).join(' | ')`
	const broken = `page.all('.whole').filter(code => code.getClientRects().length > 1).map(code => code.textContent).join(' | ')`
	for _, path := range docsPages {
		require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(320, 844), visit(p, path), docsReady), path)
		for _, width := range []int64{320, 360, 1000} {
			wantBoxes := "0regiontrue -1null -1null 0regiontrue -1null"
			if width >= 1000 {
				wantBoxes = "0regiontrue -1null -1null -1null -1null"
			}
			require.NoError(t, chromedp.Do(ctx, resize(width, 844),
				holds(`document.querySelector('#sample-section').checkVisibility()`),
				becomes(`document.documentElement.scrollWidth > innerWidth ? document.documentElement.scrollWidth + ' px' : ''`, ""),
				becomes(fmt.Sprintf(`innerWidth > 640 ? '' : %s`, tooWide), ""), becomes(fmt.Sprintf(`innerWidth < 352 ? '' : %s`, broken), ""),
				becomes(boxes, wantBoxes),
			), "%s at %d", path, width)
		}
	}
	// There, each row of a table with several columns is a block: its cells stand below each other, with the
	// names of their columns.
	const row = `[...document.querySelector('#attributes ~ .stack tbody tr').cells]`
	do(t, ctx, chromedp.EmulateViewport(390, 844), visit(p, "/docs/pages"), docsReady,
		becomes(row+`.map(cell => getComputedStyle(cell, '::before').content.replace(' / ""', '')).join()`, `none,"values","default","meaning"`),
		becomes(`String(`+row+
			`.every((cell, i, all) => i === 0 || cell.getBoundingClientRect().top >= all[i - 1].getBoundingClientRect().bottom))`, "true"),
		// The link in the corner leads back to the contents, and opens them.
		script(`document.querySelector('#functions').scrollIntoView()`),
		holds(`page.box('.up').bottom <= innerHeight && scrollY > 2000`),
		script(`document.querySelector('.up').click()`),
		holds(`scrollY < 500 && document.querySelector('.fold .contents').checkVisibility()`),
		chromedp.EmulateViewport(1280, 844), becomes(`String(document.querySelector('.up').checkVisibility())`, "false"),
		becomes(`getComputedStyle(`+row+`[1], '::before').content`, "none"),
		chromedp.Navigate("http://"+p.Addr+docsPages[len(docsPages)-1]), docsReady,
	)
	// On a phone, the menu and the contents are folded, and a reader needs no script to open them.
	do(t, ctx, chromedp.EmulateViewport(390, 844),
		becomes(`String(page.all('.menu').some(menu => menu.checkVisibility()))`, "false"),
		script(`document.querySelector('.fold summary').click()`),
		becomes(`page.all('.menu a').filter(link => link.checkVisibility()).length + ' '
			+ (document.querySelector('.menu [aria-current=page]').textContent === document.querySelector('h1').textContent)`,
			fmt.Sprint(len(docsPages), " true")),
		chromedp.EmulateViewport(1280, 844),
		becomes(`page.all('.menu').map(menu => menu.checkVisibility()).join()`, "false,true"),
	)
	require.Empty(t, faults.All())
}

// A button copies the code as it is, or selects it where the page may not copy.
func TestDocsCopyCode(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	ctx := window(t, 1280, 844)
	do(t, ctx, chromedp.Navigate("about:blank"))
	withSample(t, ctx)
	const (
		buttons = `page.all('#sample-section ~ .code').map(figure => figure.querySelector('button')?.ariaLabel ?? '').join()`
		button  = `document.querySelector('#sample-section ~ [data-copy="Copy page.html"] button')`
		says    = button + `.textContent + ' ' + document.querySelector('#docs-copy-status').textContent`
	)
	do(t, ctx, visit(p, "/docs/start"), docsReady,
		becomes(buttons, "Copy the command,,Copy page.html"),
		script(`var copied = '', mayCopy = true;
			navigator.clipboard.writeText = async text => {
				if (!mayCopy) throw new DOMException('', 'NotAllowedError');
				copied = text;
			};
			`+button+`.focus()`),
		chromedp.KeyEvent("\r"), becomes(`copied`, "<b>\n  two lines\n"), becomes(says, "Copied Copied"),
		// The word goes by itself.
		becomes(says, " "),
		script(`mayCopy = false`), chromedp.KeyEvent("\r"), becomes(says, "Selected Selected"),
		becomes(`String(getSelection())`, "<b>\n  two lines"),
	)
}

// A reader finds a section of another page by the keyboard alone.
func TestDocsSearch(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	var index []struct{ Page, Title, Heading, Anchor string }
	p.Request("GET", "/docs/search.json", "").Into(&index)
	ctx := window(t, 1280, 844)
	do(t, ctx, chromedp.Navigate("about:blank"))
	faults := e2etest.Listen(t, ctx)
	const (
		input   = `document.querySelector('#docs-search-input')`
		options = `page.all('[role=option]')`
		// Each result, with the marked words in brackets, and the one that Enter opens.
		results = options + `.map(option => (option.ariaSelected === 'true' ? '> ' : '') + [...option.cloneNode(true).children].map(part => {
			for (const mark of part.querySelectorAll('mark')) mark.replaceWith('[' + mark.textContent + ']');
			return part.textContent;
		}).join(': ')).join(' | ')`
		told = `[document.querySelector('#docs-search-status'), document.querySelector('#docs-search-note')]
			.map(node => node.textContent).join(' / ')`
		// What the combobox says of itself: whether it is open, and which option it points to.
		combobox = input + `.ariaExpanded + ' ' + (document.getElementById(` + input +
			`.getAttribute('aria-activedescendant'))?.ariaSelected ?? 'none')`
	)
	// The slash key. (With KeyEvent, a page cannot keep the sign from the box, as it can with a keyboard.)
	slash := script(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true, cancelable: true}))`)
	typed := func(text string) chromedp.Action[chromedp.Void] {
		return script(fmt.Sprintf(`%s.value = %q; %s.dispatchEvent(new Event('input', {bubbles: true}))`, input, text, input))
	}

	// The last section of the real index, whichever it is.
	last := index[len(index)-1]
	name, hash := last.Title, ""
	if last.Heading != last.Title {
		name, hash = last.Heading+" "+last.Title, "#"+last.Anchor
	}
	do(t, ctx, visit(p, "/docs/start"), docsReady,
		becomes(combobox, "false none"),
		slash, becomes(`page.focus()`, "docs-search-input"), becomes(input+`.value`, ""),
		chromedp.KeyEvent(name), becomes(combobox, "true true"),
		script(fmt.Sprintf(`var link = %s.find(option => option.firstChild.textContent === %q)`, options, name)),
	)
	to := value[int](t, ctx, options+`.indexOf(link)`)
	require.NotEqual(t, -1, to)
	for range to {
		do(t, ctx, chromedp.KeyEvent(kb.ArrowDown))
	}
	_, err := chromedp.RunResponse(ctx, chromedp.KeyEvent("\r"))
	require.NoError(t, err)
	do(t, ctx, becomes(`location.pathname + location.hash`, "/docs/"+last.Page+hash))

	// What readers type finds its section among the first four, also if the section has other words.
	do(t, ctx, visit(p, "/docs/start"), docsReady, script(input+`.focus()`))
	for query, section := range map[string]string{
		"CORS": "operations#pages-of-other-sites", "cross origin": "operations#pages-of-other-sites",
		"script tag": "pages#a-board-on-your-own-page", "my own css": "pages#look", "css": "pages#look",
		"data-field": "pages#rows-of-your-own", "subscribe": "pages#functions", "offline": "pages#connection",
		"iframe": "pages#a-board-on-your-own-page", "streamlabs": "pages#overlay-for-obs", "discord bot": "events#receive-the-webhook",
		"unity": "http#update-scores", "reset weekly": "boards#periods", "season": "boards#periods-of-any-length",
		"ban a cheater": "http#hide-a-member", "delete user": "http#erase-a-member", "GDPR": "http#erase-a-member",
		"docker": "operations#container-image", "kubernetes": "deploy#kubernetes", "nginx": "operations#a-proxy-for-browsers",
		"https": "operations#a-proxy-for-browsers", "password": "operations#who-can-reach-it", "login": "operations#who-can-reach-it",
		"rate limit": "operations#a-proxy-for-browsers", "backup": "http#export-and-import", "benchmark": "measured#writes",
	} {
		require.NoError(t, chromedp.Do(ctx, typed(query), becomes(fmt.Sprintf(
			`%s.value === %q && %s.slice(0, 4).some(option => option.getAttribute('href').endsWith(%q)) ? '' : %s.map(option => option.hash).join()`,
			input, query, options, "/docs/"+section, options), "")), query)
	}

	// The test replaces the index of the search, so that it knows each word in it.
	do(t, ctx, visit(p, "/docs/start?lang=zh"), docsReady,
		step(t, "search-index"),
		script(input+`.focus()`), typed("tie"), becomes(told,
			"The server can’t be reached. Type again to retry. / The server can’t be reached. Type again to retry."),
		becomes(combobox, "false none"),
		script(`fails = false; requests = 0`),
		// What begins a heading comes first; the middle of a word does not count; all words must be there.
		typed("tie"), becomes(results,
			"> [Tie]s Boards: Two members with one score. | Start: A [tie] of two. <b>Not a tag</b> | Retries Boards: No [tie]s here: "+
				strings.Repeat("word ", 27)+"…"),
		becomes(told, "3 results / "), becomes(combobox, "true true"),
		typed("TIE two"), becomes(results, "> [Tie]s Boards: [Two] members with one score. | Start: A [tie] of [two]. <b>Not a tag</b>"),
		typed("boards ties ."),
		becomes(results, "> [Ties] [Boards]: Two members with one score. | Retries [Boards]: No [ties] here: "+strings.Repeat("word ", 27)+"…"),
		typed("--orig"), becomes(results, "> Retries Boards: … "+strings.Repeat("word ", 6)+"and --[orig]ins at the end"),
		becomes(told, "1 result / "),
		typed("many"), becomes(options+`.length + ''`, "20"), becomes(told, "30 results / 10 more. Another word narrows the search."),
		typed("two members nothing"), becomes(results, "> Ties Boards: [Two] [members] with one score."),
		becomes(told, "1 result. No section has all these words. The results have most of them. / No section has all these "+
			"words. The results have most of them."),
		// Keywords come after headings, and before the text. They stay hidden.
		typed("embed"), becomes(results, "> [Embed] Boards: after | Keyed Boards: The text. | Text Boards: [embed] [embed] [embed]"),
		// A common word counts only alone, a plural finds the singular, and the parts of a word belong together.
		typed("the embeds"), becomes(results, "> [Embed] Boards: after | Keyed Boards: The text. | Text Boards: [embed] [embed] [embed]"),
		typed("the"), becomes(results, "> Retries Boards: … "+strings.Repeat("word ", 4)+
			"and --origins at [the] end | Keyed Boards: [The] text. | Prose Boards: [the] place around you"),
		typed("my-part"), becomes(results, "> Code Boards: … "+strings.Repeat("x", 38)+`{"[my-part]":1}, and my own part`),
		// An excerpt shows the text rather than the code.
		typed("around"), becomes(results, "> Prose Boards: the place [around] you"),
		typed("nothing"), becomes(results, ""), becomes(combobox, "false none"),
		becomes(told, "Nothing found. Try the beginning of another word. / Nothing found. Try the beginning of another word."),
		typed(".*("), becomes(results, ""), typed("  "), becomes(told, " / Nothing found. Try the beginning of another word."),
		becomes(`String(document.querySelector('#docs-search-panel').checkVisibility())`, "false"),
		becomes(`String(requests)`, "1"),

		// Arrows go round, Escape closes, and what has the focus stays.
		typed("tie two"), becomes(combobox, "true true"),
		chromedp.KeyEvent(kb.ArrowDown), becomes(results,
			"[Tie]s Boards: [Two] members with one score. | > Start: A [tie] of [two]. <b>Not a tag</b>"),
		chromedp.KeyEvent(kb.ArrowDown), becomes(results,
			"> [Tie]s Boards: [Two] members with one score. | Start: A [tie] of [two]. <b>Not a tag</b>"),
		chromedp.KeyEvent(kb.ArrowUp), becomes(options+`.map(option => option.ariaSelected).join()`, "false,true"),
		chromedp.KeyEvent(kb.Escape), becomes(combobox, "false none"), becomes(`page.focus() + `+input+`.value`, "docs-search-inputtie two"),
		chromedp.KeyEvent(kb.ArrowDown), becomes(combobox, "true true"),
		// A slash in the box is text.
		chromedp.KeyEvent("/"), becomes(input+`.value`, "tie two/"), becomes(combobox, "true true"),
		becomes(options+`.map(option => option.getAttribute('href').replace(location.origin, '')).join(' ')`,
			"/docs/boards?lang=zh#ties /docs/start?lang=zh"),
		// Elsewhere on the page, a click closes the list.
		chromedp.MouseClickXY(4, 800), becomes(combobox, "false none"),
		becomes(`String(document.activeElement !== `+input+`)`, "true"),
		slash, chromedp.KeyEvent("t"), becomes(input+`.value`, "t"),
		typed("tie two"), becomes(combobox, "true true"),
	)
	_, err = chromedp.RunResponse(ctx, click("#docs-search-results-0"))
	require.NoError(t, err)
	do(t, ctx, becomes(`location.pathname + location.search + location.hash`, "/docs/boards?lang=zh#ties"))
	require.Empty(t, faults.All())
}
