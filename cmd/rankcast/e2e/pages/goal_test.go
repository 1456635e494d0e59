//go:build !race

package pages

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// goalBoards are a board of stars and the total of all of them, of one event.
const goalBoards = `boards:
  stars: {title: Stars of the week, kind: star, display: {unit: flowers}}
  total: {title: All together, kind: total, display: {unit: flowers}}
  round: {kind: star, period: 4s, base: "2026-01-01T00:00:00Z", keep: 1000}
events:
  gift:
    updates:
      - {board: stars, member: "{star}", score: "{flowers}"}
      - {board: total, member: all, score: "{flowers}"}
`

// goalSite is a page of another site with an element, which notes the events of goals.
func goalSite(t *testing.T, p *e2etest.Process, attributes string) context.Context {
	t.Helper()
	body := fmt.Sprintf(`<!doctype html><html lang="en"><title>site</title><script>var reached = [], rises = [];
		addEventListener('goal', ({detail: {member, goal, score, next}}) => reached.push([member, goal, score, next].join(' ')));
		addEventListener('rank-up', ({detail: {passed}}) => rises.push(passed.map?.(({name, score}) => name + ' ' + score).join() ?? passed));
		</script><script type="module" src="http://%s/kit/rankcast.js"></script><live-leaderboard %s></live-leaderboard>`, p.Addr, attributes)
	site := servePage(t, &body)
	ctx := window(t, 480, 500)
	do(t, ctx, chromedp.Navigate(site.URL), isLive)
	return ctx
}

// goalSays waits until the part of the goals has these words.
func goalSays(words string) chromedp.Action[chromedp.Void] {
	return becomes(`page.words(page.part('goal'))`, words)
}

// reached waits until these goals were told since the last call, or before.
func reached(all ...string) chromedp.Action[chromedp.Void] {
	return becomes(`reached.join()`, strings.Join(all, ","))
}

// The goals of a total count each gift once: not a retry, nor one that is taken back and comes again, nor a server that begins anew.
// The element names the member, and writes scores as the board does.
func TestGoalsOfATotal(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	args := []string{"--redis", r.URL(), "--boards", e2etest.Write(t, "boards.yaml", goalBoards), "--origins", "*"}
	p := e2etest.Launch(t, args...)
	p.Answers(201, "PUT", "/v1/members/total/all", `{"name":"The whole room"}`)
	give := func(id string, flowers int) {
		t.Helper()
		p.Answers(200, "POST", "/v1/events/gift", fmt.Sprintf(`{"id":%q,"star":"s17","flowers":%d}`, id, flowers))
	}
	give("g1", 400)
	ctx := goalSite(t, p, `board="total" me="all" goal="500,1000,5000"`)
	do(t, ctx, goalSays("The whole room 100 flowers to go 0 level 1 of 3 500"),
		becomes(`page.words(page.part('title'))`, "All together"), reached())
	give("g2", 99)
	do(t, ctx, goalSays("The whole room 1 flowers to go 0 level 1 of 3 500"), reached())
	give("g3", 700)
	do(t, ctx, reached("all 1000 1199 5000"), goalSays("The whole room Goal reached 500 level 2 of 3 1,000"))
	give("g3", 700)
	p.Answers(200, "POST", "/v1/events/gift/take-back", `{"id":"g3"}`)
	do(t, ctx, becomes(`page.words(page.part('score'))`, "499 flowers"))
	give("g4", 600)
	do(t, ctx, becomes(`page.words(page.part('score'))`, "1,099 flowers"), reached("all 1000 1199 5000"))
	p.Kill()
	do(t, ctx, becomes(`page.state()`, "away"))
	p = e2etest.Launch(t, append(args, "--addr", p.Addr)...)
	do(t, ctx, isLive, reached("all 1000 1199 5000"))
	give("g5", 4000)
	do(t, ctx, reached("all 1000 1199 5000", "all 5000 5099 "), goalSays("The whole room Goal reached 1,000 level 3 of 3 5,000"))
}

// Each period has its goals anew, and begins without one.
func TestGoalsOfEachPeriod(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, goalBoards, "--origins", "*")
	ctx := goalSite(t, p, `board="round" me="s17" goal="10" hold="0"`)
	for _, all := range [][]string{{"s17 10 12 "}, {"s17 10 12 ", "s17 10 12 "}} {
		do(t, ctx, becomes(`page.words(page.part('goal'))`, "s17 10 to go"))
		p.Post("round", `{"member":"s17","score":12}`)
		do(t, ctx, reached(all...))
	}
}

// A rise tells whom the member passed.
func TestRiseTellsWhomItPassed(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, goalBoards, "--origins", "*")
	p.Post("stars", e2etest.Scores("ann", 40, "bob", 30, "cid", 20, "dan", 10))
	for _, name := range []string{"Ann", "Bob", "Cid"} {
		p.Answers(201, "PUT", "/v1/members/star/"+strings.ToLower(name), fmt.Sprintf(`{"name":%q}`, name))
	}
	ctx := goalSite(t, p, `board="stars" me="dan" top="10"`)
	p.Post("stars", `{"member":"dan","score":25}`)
	do(t, ctx, becomes(`rises.join(' | ')`, "Bob 30,Cid 20"))
	fill(t, p, "stars", 20)
	do(t, ctx, becomes(`page.own()`, "below: 22 dan 5 to next 35 flowers"), script(`rises.length = 0`))
	p.Post("stars", `{"member":"dan","score":9950}`)
	do(t, ctx, becomes(`page.own().slice(0, 13)`, "below: 16 dan"), becomes(`rises.join(' | ')`, "6"))
}

// The pages of a board give the element the goals of their address, and keep room for them from the first paint. They show wrong
// goals as text.
func TestPagesHaveGoals(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, goalBoards)
	p.Post("stars", e2etest.Scores("ann", 40, "bob", 30, "cid", 20))
	const wrong = "<img src=x onerror=alert(1)>"
	for _, path := range []string{"/boards/stars", "/embed/stars"} {
		addr, release := lineThatHolds(t, p.Addr, func(r *http.Request) bool { return strings.Contains(r.URL.Path, "goal") })
		ctx := window(t, 1280, 900)
		do(t, ctx, chromedp.Navigate("http://"+addr+path+"?me=bob&goal=25,100&lang=en"), isLive,
			becomes(`document.fonts.status`, "loaded"), script(`var place = page.placesOfRows()`))
		release()
		do(t, ctx, goalSays("bob 70 flowers to go 25 level 2 of 2 100"), holds(`place === page.placesOfRows()`),
			becomes(`page.words(page.part('title'))`, ""))
		if moved := value[float64](t, ctx, `page.layoutShift()`); moved > 0 {
			t.Errorf("%s moves by %v", path, moved)
		}
		do(t, ctx, visit(p, path+"?me=bob&lang=en&goal="+wrong), isLive, holds(`!page.part('goal').checkVisibility()`),
			becomes(`page.count('img[src=x]')`, "0"))
	}
	ctx := window(t, 600, 500)
	do(t, ctx, visit(p, "/embed/stars?me=bob&lang=en&goal=5,3"),
		becomes(textOf("#hint"), "goal=5,3 is not valid. Want: 1–10 rising levels, such as 500,1000,5000"),
		visit(p, "/boards/stars?me=bob&goal=25,100&lang=en"), goalSays("bob 70 flowers to go 25 level 2 of 2 100"),
		script(`page.root().querySelector("[data-member=ann]").click()`), goalSays("ann 60 flowers to go 25 level 2 of 2 100"),
		becomes(`new URLSearchParams(location.search).get("goal")`, "25,100"))
}

// A board alone on the screen fits it with its goals.
func TestGoalsFitTheWholeScreen(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, goalBoards)
	fill(t, p, "stars", 12)
	const fits = `(e => e.scrollHeight > innerHeight ? 'ends at ' + e.scrollHeight : 'fits')(document.querySelector('#board'))`
	ctx := ownWindow(t, 390, 844)
	do(t, ctx, visit(p, "/boards/stars?me=m0012&goal=100,5000,20000&lang=en"),
		goalSays("m0012 10,012 flowers to go 5,000 level 3 of 3 20,000"), fullScreen)
	for _, size := range [][2]int64{{390, 844}, {1280, 720}, {1920, 1080}} {
		do(t, ctx, resize(size[0], size[1]), becomes(isFullScreen, "true"), becomes(fits, "fits"))
	}
}
