//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/server/servertest"
)

// inOrder is a function of the page: ” if, in each row, the rank stands left of the name and the name
// left of the score, and the digits of rank and score stand in the order in which they are written. The
// rectangles are those of single characters, as the browser paints them.
const inOrder = `
	var at = (field, index) => {
		const range = document.createRange();
		range.setStart(field.firstChild, index);
		range.setEnd(field.firstChild, index + 1);
		return range.getBoundingClientRect();
	};
	var edges = field => {
		const all = [...field.textContent].length ? [...Array(field.textContent.length).keys()].map(i => at(field, i))
			.filter(({width}) => width > 0) : [];
		return [Math.min(...all.map(({left}) => left)), Math.max(...all.map(({right}) => right))];
	};
	var digitsInOrder = field => [...field.textContent].every((_, i) => i === 0 || at(field, i - 1).left < at(field, i).left);
	var inOrder = rows => rows.map(row => {
		const [rank, name, score] = ['rank', 'name', 'score'].map(field => row.querySelector('[data-field=' + field + ']'));
		const right = edges(rank)[1] <= edges(name)[0] + 1 && edges(name)[1] <= edges(score)[0] + 1 && digitsInOrder(rank)
			&& digitsInOrder(score);
		return right ? '' : row.textContent;
	}).join('');
	var rowsOf = board => [...board.shadowRoot.querySelectorAll('[data-member]')];
	var visible = row => /\w|[\u0590-\u06ff]/.test(row.querySelector('[data-field=name]').textContent)`

// Whatever its direction, a name leaves the rank and the score beside it in place, in the rows of the
// kit and in a page's own row of one line.
func TestElementIsolatesNames(t *testing.T) {
	t.Parallel()
	do, _ := page(t, `{}`)
	const names = `['Ann', 'אבג', 'محمد 12', '12 אבג 34', '\u202egnorw', '\u202e', '\u2067x', 'a\u202d\u202e', '\u200fb',
		'אב\u2029גד'].map((name, i) => ['m' + i, 1234 - i, undefined, name])`
	do(script(inOrder),
		script(`var named = top => ({...list(1, []), total: top.length,
			top: top.map(([member, score, , name], i) => ({rank: i + 12, member, score, name}))})`),
		script(`say(named(`+names+`))`),
		becomes(`String(rowsOf(board).length)`, "10"),
		becomes(`inOrder(rowsOf(board).filter(visible))`, ""),
		script(`
			var template = document.createElement('template');
			template.slot = 'row';
			template.innerHTML = '<p><span data-field="rank"></span>. <span data-field="name"></span>: <span data-field="score"></span></p>';
			board.append(template);
			document.body.append(board)`),
		script(`say(named(`+names+`))`),
		becomes(`String(rowsOf(board).length) + rowsOf(board)[0].querySelectorAll('p').length`, "101"),
		becomes(`inOrder(rowsOf(board).filter(visible))`, ""))
}

// Each place of the pages that shows a name keeps it apart from the text around it.
func TestPagesIsolateNames(t *testing.T) {
	t.Parallel()
	p := launchStars(t)
	const star, user = "כוכב", "مستخدم"
	give(p, star, user, 30)
	give(p, "s2", user, 12)
	for _, member := range []string{star, "s2"} {
		require.Equal(t, 201, servertest.Request(t, "PUT", "http://"+p.Addr+"/v1/members/star/"+member, `{"name":"`+star+` (1)"}`).Status)
	}
	isolates := func(selector string) string {
		return fmt.Sprintf(`(() => {
			const found = [document, ...[...document.querySelectorAll('live-leaderboard')].map(board => board.shadowRoot)]
				.flatMap(root => [...root.querySelectorAll(%q)]).filter(e => e.textContent);
			return found.length > 0 && found.every(e => ['isolate', 'plaintext'].includes(getComputedStyle(e).unicodeBidi)) + '';
		})()`, selector)
	}
	ctx := window(t, 1280, 900)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate("http://"+p.Addr+"/?lang=en"), becomes(isolates(".card-member"), "true"),
		// A name begins beside its portrait, whatever its direction.
		becomes(`(name => { const range = document.createRange(); range.selectNodeContents(name);
			return String(range.getBoundingClientRect().left - name.getBoundingClientRect().left < 1);
				})(document.querySelector('.card-member'))`, "true"),
		chromedp.Navigate("http://"+p.Addr+"/boards/stars?lang=en"), becomes(isolates(".trend-name"), "true"),
		becomes(isolates("[part=member]"), "true"),
		chromedp.Navigate("http://"+p.Addr+"/boards/fans:"+star+"?lang=en"), becomes(`document.title`, "\u2068fans:"+star+"\u2069 · Rankcast"),
		chromedp.Navigate("http://"+p.Addr+"/stars?lang=en"), watching, becomes(isolates("[part=member]"), "true"),
	))
	give(p, star, user, 1)
	require.NoError(t, chromedp.Do(ctx,
		becomes(isolates(".feed-user"), "true"), becomes(isolates(".feed-star"), "true"),
		// No week is over yet, so there are no winners but this one.
		script(`document.querySelector('#podium').innerHTML = '<li><a class="podium-name">x</a></li>'`),
		becomes(isolates(".podium-name"), "true"),
		script(inOrder), becomes(`inOrder(rowsOf(document.querySelector('#stars')))`, ""),
		chromedp.Navigate("http://"+p.Addr+"/stars?lang=en&star="+star), watching, becomes(isolates("#star-name"), "true"),
		becomes(`document.title`, "\u2068"+star+" (1)\u2069 · Star flowers · Rankcast"),
	))
	for _, mode := range []string{"list", "compact"} {
		require.NoError(t, chromedp.Do(ctx,
			chromedp.Navigate("http://"+p.Addr+"/overlay/stars?mode="+mode), becomes(isolates("[part=member]"), "true"),
			script(inOrder), becomes(`inOrder(rowsOf(document.querySelector('live-leaderboard')))`, "")))
	}
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/overlay/stars?mode=me&me=s2"),
		becomes(isolates("[part=member]"), "true")))
	// A long name keeps its beginning.
	setName(p, "star", "s3", strings.Repeat(star+" ", 14))
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/stars?lang=en"), watching))
	give(p, "s3", user, 1)
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(390, 844),
		becomes(`(star => String(star.checkVisibility() && star.textContent.length > 50))(document.querySelector('.feed-star'))`, "true"),
		script(inOrder), becomes(`((first, line) => String(first.left >= line.left
			&& first.right <= line.right))(at(document.querySelector('.feed-star'), 0),
				document.querySelector('.feed-to').getBoundingClientRect())`, "true")))
}
