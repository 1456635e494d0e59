//go:build !race

package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/embedded"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
)

const hostileName = `<img src=x onerror=alert(1)>"'&`

// raceSteps are the updates of the board race, by minutes since its start. Between minutes 50 and 100 no node records it.
var raceSteps = []struct {
	minute  int
	updates []definition.Update
}{
	{0, []definition.Update{{Member: "ann", Score: 30}, {Member: "bob", Score: 20}, {Member: "cid", Score: 10}}},
	{10, []definition.Update{{Member: "bob", Score: 25}}},
	{20, nil},
	{30, []definition.Update{{Member: "cid", Score: 30}}},
	{40, []definition.Update{{Member: "ann", Score: 40}, {Member: "dan", Score: 5}}},
	{50, nil},
	{100, []definition.Update{{Member: "dan", Score: 90}}},
	{110, nil},
	{120, []definition.Update{{Member: "bob", Score: 60}}},
}

// race starts a server whose board race has two hours of history, with a gap.
func race(t *testing.T, args ...string) (p *e2etest.Process, begin time.Time) {
	t.Helper()
	redis, err := embedded.Start()
	require.NoError(t, err)
	t.Cleanup(redis.Close)
	begin = time.Now().Add(-2 * time.Hour).Truncate(time.Second)
	redis.SetClock(begin)
	rdb := redistest.Dial(t, redis.URL())
	store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	board := definition.Board{Name: "race", Title: definition.Label{"en": "The race", "zh": "比赛"}, Kind: "player",
		Display: definition.Display{Unit: definition.Label{"": "pts"}}, History: 10 * time.Minute}
	require.NoError(t, store.Define(t.Context(), definition.Set{Boards: []definition.Board{board, {Name: "plain"}}}))
	_, err = store.SetProfile(t.Context(), "player", "cid", ranking.Profile{Name: hostileName})
	require.NoError(t, err)
	for _, step := range raceSteps {
		redis.SetClock(begin.Add(time.Duration(step.minute) * time.Minute))
		if len(step.updates) > 0 {
			_, err = store.Apply(t.Context(), "race", step.updates)
			require.NoError(t, err)
		}
		require.NoError(t, store.RecordHistory(t.Context(), "race"))
	}
	board.History = 10 * time.Second
	require.NoError(t, store.Define(t.Context(), definition.Set{Boards: []definition.Board{board}}))
	store.Close()
	redis.ResetClock()
	return e2etest.Launch(t, append(args, "--redis", redis.URL())...), begin
}

// standing is an expression for the board beside the chart.
const standing = `page.all('#standing > li')
	.map(row => ['rank', 'name', 'score'].map(part => row.querySelector('.standing-' + part).textContent).join(' ')).join(', ')`

// slideTo is a script that moves the slider to a share of the story.
func slideTo(share float64) chromedp.Action[chromedp.Void] {
	return script(fmt.Sprintf(`(slider => {
		slider.value = Math.round(%g * slider.max);
		slider.dispatchEvent(new Event('input'));
	})(document.querySelector('#slider'))`, share))
}

// standingAt is the board at a time, as the history has it.
func standingAt(t *testing.T, p *e2etest.Process, at time.Time) string {
	t.Helper()
	a := p.Request("GET", "/v1/boards/race/history?limit=1&from="+
		url.QueryEscape(at.UTC().Format(time.RFC3339Nano)), "")
	require.Equal(t, 200, a.Status, a.Body)
	var history struct {
		Steps []struct {
			Entries []struct {
				Rank, Score int64
				Member      string
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(a.Body), &history))
	var rows []string
	for _, e := range history.Steps[0].Entries {
		rows = append(rows, fmt.Sprintf("%d %s %d pts", e.Rank, strings.ReplaceAll(e.Member, "cid", hostileName), e.Score))
	}
	return strings.Join(rows, ", ")
}

// shownTime reads the time of the story.
func shownTime(t *testing.T, ctx context.Context) time.Time {
	t.Helper()
	var at string
	do(t, ctx, evaluate(`document.querySelector('#moment').dateTime`, &at))
	parsed, err := time.Parse(time.RFC3339Nano, at)
	require.NoError(t, err)
	return parsed
}

// The slider shows the board as the history has it, and says where nothing was recorded. Names are text.
func TestStoryIsTheHistory(t *testing.T) {
	t.Parallel()
	p, begin := race(t)
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/race/story"),
		becomes(`document.querySelector('#name').textContent + document.querySelectorAll('.line').length`, "The race4"),
		becomes(standing, "1 bob 105 pts, 2 dan 95 pts, 3 ann 70 pts, 4 "+hostileName+" 40 pts"),
		becomes(`page.all('.place-name').map(e => e.textContent).join('|')`, "ann|bob|"+hostileName+"||"),
	)
	for _, minute := range []float64{5, 15, 35, 45, 105, 115} {
		at := begin.Add(time.Duration(minute * float64(time.Minute)))
		require.NoError(t, chromedp.Do(ctx, slideTo(minute/120),
			becomes(fmt.Sprintf(`String(Math.abs(Date.parse(document.querySelector('#moment').dateTime) - %d) < 30_000)`, at.UnixMilli()), "true"),
			becomes(standing, standingAt(t, p, at)),
		), "after %g minutes", minute)
	}
	do(t, ctx,
		// The history does not know the gap, so the chart has no line there.
		slideTo(75.0/120),
		becomes(standing, ""),
		holds(`document.querySelector('#moment').textContent.endsWith('Not recorded')`),
		becomes(`page.count('.gap')`, "1"),
		becomes(`(gap => {
			const [from, to] = [+gap.getAttribute('x') + 1, +gap.getAttribute('x') + +gap.getAttribute('width') - 1];
			return page.all('.stroke').map(path => {
				let inside = 0;
				for (let at = 0, end = path.getTotalLength(); at <= end; at++) {
					const {x} = path.getPointAtLength(at);
					if (x > from && x < to) inside++;
				}
				return inside;
			}).join(' ');
		})(document.querySelector('.gap'))`, "0 0 0 0"),
		becomes(`page.all('#leader-rows tr').map(row => row.cells[2].textContent + ' ' + row.cells[3].textContent).join(', ')`,
			"bob 105 pts, dan 95 pts, ann 70 pts, bob 45 pts, ann 30 pts"),
		becomes(`page.count('main img[src=x]')`, "0"),
	)
}

// A story that runs goes on by itself, and a reader who looks at an earlier time stays there.
func TestStoryGoesOn(t *testing.T) {
	t.Parallel()
	p, _ := race(t)
	ctx, other := window(t, 1280, 900), window(t, 1280, 900)
	for _, ctx := range []context.Context{ctx, other} {
		do(t, ctx, visit(p, "/boards/race/story"), becomes(`page.count('.line')`, "4"))
	}
	do(t, other, slideTo(0.01), becomes(standing, "1 ann 30 pts, 2 bob 20 pts, 3 "+hostileName+" 10 pts"))
	p.Update("race", `{"member":"eve","score":500}`)
	const later = "1 eve 500 pts, 2 bob 105 pts, 3 dan 95 pts, 4 ann 70 pts, 5 " + hostileName + " 40 pts"
	do(t, ctx, becomes(standing, later), becomes(`page.count('.line')`, "5"))
	do(t, other,
		becomes(`page.count('.line')`, "5"),
		becomes(standing, "1 ann 30 pts, 2 bob 20 pts, 3 "+hostileName+" 10 pts"),
		script(`document.querySelector('#latest').click()`),
		becomes(standing, later),
	)
}

// The story plays from its begin to its end, and shows each board on the way.
func TestStoryPlays(t *testing.T) {
	t.Parallel()
	p, _ := race(t)
	ctx := window(t, 1280, 900)
	const label = `document.querySelector('#play-label').textContent`
	do(t, ctx,
		visit(p, "/boards/race/story"),
		becomes(`page.count('.line')`, "4"),
		script(`globalThis.leaders = [];
			new MutationObserver(() => {
				const name = document.querySelector('#standing .standing-name')?.textContent ?? 'gap';
				if (leaders.at(-1) !== name) leaders.push(name);
			}).observe(document.querySelector('#standing'), {childList: true, subtree: true, characterData: true})`),
		script(`document.querySelector('#speed').value = 10; document.querySelector('#play').click()`),
		becomes(label, "Pause"),
		becomes(label, "Play"), // at the end
		becomes(`leaders.join(' ')`, "ann bob ann gap dan bob"),
		holds(`document.querySelector('#latest').disabled`),

		// It stops where the reader stops it.
		script(`document.querySelector('#play').click()`),
		becomes(standing, "1 ann 30 pts, 2 bob 20 pts, 3 "+hostileName+" 10 pts"),
		script(`document.querySelector('#play').click()`),
		becomes(label, "Play"),
		becomes(`String(document.querySelector('#latest').disabled)`, "false"),
		// The button is of no use at the end, and leaves the focus beside it.
		script(`document.querySelector('#latest').focus(); document.querySelector('#latest').click()`),
		becomes(`document.querySelector('#latest').disabled + document.activeElement.id`, "trueslider"),

		// An address may ask for it, in a time that the page offers.
		visit(p, "/boards/race/story?play=10"), becomes(label+` + document.querySelector('#speed').value`, "Pause10"),
		visit(p, "/boards/race/story?play=11"), becomes(`page.count('.line')`, "4"),
		becomes(label+` + document.querySelector('#speed').value`, "Play30"),
	)
}

// The keys of the chart move through time and from member to member, and a screen reader hears where that leads.
func TestStoryByKeyboard(t *testing.T) {
	t.Parallel()
	p, begin := race(t)
	const plot = "#plot"
	const chosen = `(document.querySelector('#standing [aria-current] .standing-name')?.textContent ?? 'none') + ' '
		+ (document.querySelector('.line[data-chosen]')?.dataset.member ?? 'none')`
	const spoken = `document.querySelector('#spoken').textContent.replace(/^.* · /, '')`
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/race/story?me=dan"),
		becomes(chosen, "dan dan"), // whom the address follows
		typeInto(plot, kb.Escape),
		becomes(chosen, "none none"),
		typeInto(plot, kb.Home),
		becomes(standing, "1 ann 30 pts, 2 bob 20 pts, 3 "+hostileName+" 10 pts"),
		typeInto(plot, kb.ArrowDown+kb.ArrowDown),
		becomes(chosen, "bob bob"),
		becomes(spoken, "bob: No. 2 with 20 pts"),
		typeInto(plot, kb.ArrowRight),
		becomes(standing, "1 bob 45 pts, 2 ann 30 pts, 3 "+hostileName+" 10 pts"),
		becomes(spoken, "bob: No. 1 with 45 pts"),
		becomes(`document.querySelector('#tip').textContent.replace(/ · .*/, '')`, "bob: No. 1 with 45 pts"),
		typeInto(plot, kb.ArrowUp), // above the first is nobody
		becomes(chosen, "bob bob"),
	)
	require.WithinDuration(t, begin.Add(10*time.Minute), shownTime(t, ctx), time.Second, "the next change")
	do(t, ctx,
		typeInto(plot, kb.ArrowLeft),
		becomes(spoken, "bob: No. 2 with 20 pts"),
		typeInto(plot, kb.End),
		becomes(spoken, "bob: No. 1 with 105 pts"),
		becomes(standing, "1 bob 105 pts, 2 dan 95 pts, 3 ann 70 pts, 4 "+hostileName+" 40 pts"),
		// A click on a row does the same as a key.
		script(`document.querySelector('#standing > li:nth-child(3)').click()`),
		becomes(chosen, "ann ann"),
	)
}

// A board without a history says how to record one, and one whose first step is not over when its story begins. The page of
// the former has no link to a story; that of a board with a history has.
func TestStoryOfABoardWithoutHistory(t *testing.T) {
	t.Parallel()
	p, _ := race(t)
	require.Equal(t, 2, p.Request("PUT", "/v1/boards/slow", `{"history":"1h"}`).Status/100)
	for _, board := range []string{"plain", "slow"} {
		p.Update(board, `{"member":"ann","score":1}`)
	}
	const link = `(link => link.checkVisibility() ? link.pathname : 'none')(document.querySelector('#story-link'))`
	const live = `page.state()`
	ctx := window(t, 390, 844)
	do(t, ctx,
		visit(p, "/boards/plain/story"),
		becomes(textOf("#note"), "This board records no history, so it has no story."),
		becomes(`String(document.querySelector('#story').checkVisibility())`, "false"),
		becomes(`document.querySelector('#none code').textContent`, "history: 1m"),
		becomes(`new URL(document.querySelector('#none a').href).pathname`, "/docs/boards"),
		visit(p, "/boards/slow/story"),
		becomes(textOf("#note"), "Nothing is recorded yet. The story begins within 1 hour of the first score."),
		visit(p, "/boards/plain"),
		becomes(live, "live"),
		becomes(link, "none"),
		visit(p, "/boards/race"),
		becomes(live, "live"),
		becomes(link, "/boards/race/story"),
		script(`document.querySelector('#story-link').click()`),
		becomes(`page.count('.line')`, "4"),
		visit(p, "/boards/race@-1/story"),
		becomes(textOf("#note"), "There is no such period, yet or any more."),
	)
}

// The story stands with its rows in the first answer, and nothing jumps when the lines come. The slider is as wide as the chart.
func TestStoryDoesNotJump(t *testing.T) {
	t.Parallel()
	p, _ := race(t)
	for _, width := range []int{390, 1280} {
		addr, release := slowLine(t, p.Addr)
		ctx := window(t, width, 900)
		var first, then string
		do(t, ctx,
			timeZone("America/Argentina/Buenos_Aires"), // whose name is long
			navigateWithoutLoad("http://"+addr+"/boards/race/story"),
			holds(`page.painted()`),
			becomes(standing, "1 bob 105 pts, 2 dan 95 pts, 3 ann 70 pts, 4 "+hostileName+" 40 pts"),
			evaluate(`JSON.stringify(page.all('.standing-row, #play, #leaders').map(e => Math.round(e.getBoundingClientRect().top)))`, &first),
			script(`page.watchShifts()`),
		)
		release()
		do(t, ctx,
			becomes(`page.count('.line')`, "4"),
			becomes(`(([slider, plot]) => [slider.left - plot.left, slider.right - plot.right].map(Math.round)
				.join())(['#slider', '#plot'].map(one => document.querySelector(one).getBoundingClientRect()))`, "-8,8"),
			evaluate(`JSON.stringify(page.all('.standing-row, #play, #leaders').map(e => Math.round(e.getBoundingClientRect().top)))`, &then),
			holds(`shifts < 0.05`),
		)
		require.Equal(t, first, then, "at %d px", width)
	}
}

// The rows of a board that records a history have sparklines, which follow the rows. A phone has no room for them.
func TestRowsHaveTheirTrends(t *testing.T) {
	t.Parallel()
	p, _ := race(t)
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/race"),
		becomes(`page.besideRows()`, "bob dan ann cid"),
	)
	p.Update("race", `{"member":"cid","score":400}`)
	do(t, ctx,
		shows("cid", "bob", "dan", "ann"),
		becomes(`page.besideRows()`, "cid bob dan ann"),
		chromedp.EmulateViewport(390, 844),
		becomes(`page.besideRows()`, ""),
	)
}

// Where the history is not for everybody, a token opens it, and a link from the board's page passes the token on.
func TestStoryTakesAToken(t *testing.T) {
	t.Parallel()
	dir, secret := t.TempDir(), []byte(strings.Repeat("secret ", 10))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), secret, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "access.yaml"),
		[]byte("anonymous: {scopes: [read], boards: [plain]}\ntokens: {secret_file: secret}\n"), 0o600))
	p, _ := race(t, "--access", filepath.Join(dir, "access.yaml"))
	signer, err := access.NewSecretSigner(secret)
	require.NoError(t, err)
	token := func(board string) string {
		text, err := signer.Sign(access.TokenContent{Sub: "ana", Boards: []string{board}, Expires: time.Now().Add(time.Hour)})
		require.NoError(t, err)
		return text
	}
	const note, lines = `document.querySelector('#note').textContent`, `page.count('.line')`
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/boards/race/story"),
		becomes(note, "To see this, open the page by a link that holds a valid token."),
		becomes(`document.querySelector('#name').textContent`, "race"),
		becomes(`String(document.querySelector('#story').checkVisibility())`, "false"),
		chromedp.Navigate("about:blank"),
		chromedp.Navigate("http://"+p.Addr+"/boards/race/story#token="+token("other")),
		becomes(note, "Your token does not allow you to see this."),
		chromedp.Navigate("about:blank"),
		chromedp.Navigate("http://"+p.Addr+"/boards/race#token="+token("race")),
		holds(`document.querySelector('#story-link').checkVisibility()`),
		script(`document.querySelector('#story-link').click()`),
		becomes(lines, "4"),
		becomes(`document.querySelector('#name').textContent + note.textContent`, "The race"),
		script(`document.querySelector('#leaders').open = true; document.querySelector('#leader-rows a').click()`),
		becomes(`page.memberCards()`, "The race No. 1 of 4 members 105 pts charted"),
	)
}
