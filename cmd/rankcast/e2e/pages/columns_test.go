//go:build !race

package pages

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// withColumns starts a server with the board contest, of two columns, and the board league, of eight.
func withColumns(t *testing.T) *e2etest.Process {
	t.Helper()
	p := e2etest.Launch(t)
	p.Answers(201, "PUT", "/v1/boards/contest", `{"title":"City Contest","kind":"team","columns":[{"name":"solved","max":20,
		"title":{"en":"Solved","zh":"解题"}},{"name":"penalty","order":"asc","max":99999,"title":{"en":"Penalty","zh":"罚时"},
		"display":{"unit":{"en":"min","zh":"分"}}}]}`)
	var columns, values []string
	for _, title := range strings.Fields("Points Played Won Drawn Lost For Against Difference") {
		columns = append(columns, fmt.Sprintf(`{"name":%q,"title":%q,"max":40}`, strings.ToLower(title), title))
		values = append(values, fmt.Sprintf(`%q:%d`, strings.ToLower(title), len(values)*4+7))
	}
	p.Answers(201, "PUT", "/v1/boards/league", fmt.Sprintf(`{"kind":"team","ties":"member","columns":[%s]}`, strings.Join(columns, ",")))
	var contest, league []string
	for i := range 12 {
		contest = append(contest, fmt.Sprintf(`{"member":"t%02d","columns":{"solved":%d,"penalty":%d}}`, i, 11-i, 97*(12-i)))
		league = append(league, fmt.Sprintf(`{"member":"t%02d","columns":{%s}}`, i, strings.Join(values, ",")))
	}
	p.Update("contest", `{"updates":[`+strings.Join(contest, ",")+`]}`)
	p.Update("league", `{"updates":[`+strings.Join(league, ",")+`]}`)
	p.Answers(201, "PUT", "/v1/members/team/t00", `{"name":"Tokyo"}`)
	return p
}

// On phones, screens, overlays and pages of other sites, each column has its head above its values. The rows of the first answer
// have them too, and the element takes their places.
func TestColumnsHavePlaces(t *testing.T) {
	t.Parallel()
	p := withColumns(t)
	for _, size := range []struct{ width, height int }{{1280, 900}, {390, 844}} {
		for _, path := range []string{"/boards/contest?me=t01", "/boards/contest?me=t11", "/boards/league", "/overlay/contest", "/overlay/league",
			"/embed/contest?top=5", "/embed/league"} {
			t.Run(fmt.Sprintf("%s at %d", path, size.width), func(t *testing.T) {
				t.Parallel()
				addr, release := slowLine(t, p.Addr)
				ctx := window(t, size.width, size.height)
				var rows, edges, rowsThen, edgesThen string
				do(t, ctx,
					navigateWithoutLoad("http://"+addr+path),
					holds(`page.painted() && document.querySelectorAll('.first-rows tbody tr').length >= 5`),
					evaluate(`page.placesOfRows()`, &rows), evaluate(`page.columnEdges()`, &edges),
				)
				release()
				do(t, ctx, isLive, holds(`page.columnParts().length > 5`), becomes(`page.columnFaults()`, ""),
					evaluate(`page.placesOfRows()`, &rowsThen), evaluate(`page.columnEdges()`, &edgesThen))
				require.Equal(t, rows, rowsThen, "the rows stay where they are")
				before, after := strings.Fields(edges), strings.Fields(edgesThen)
				require.Len(t, after, len(before))
				for i := range before {
					require.InDelta(t, numberIn(t, before[i]), numberIn(t, after[i]), 1, "%s: the columns stay where they are: %s", edges, edgesThen)
				}
			})
		}
	}
}

// numberIn is the number that a text is. A column that is crooked has none.
func numberIn(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// A page shows each column of a score, and by column what the next place takes.
func TestPagesSayColumns(t *testing.T) {
	t.Parallel()
	p := withColumns(t)
	ctx := window(t, 390, 844)
	do(t, ctx, visit(p, "/boards/contest?me=t01"), isLive,
		becomes(`page.columnLines().split(' | ').slice(0, 2).join(' | ')`, "Solved Penalty min | Solved 11 Penalty 1,164"),
		follows("listed: 2 t01 1 Solved to next Solved 10Penalty 1,067"),
		becomes(textOf("#rules"), "Scores add up, by Solved, by least Penalty"))
	p.Update("contest", `{"member":"t01","columns":{"solved":1,"penalty":120}}`)
	do(t, ctx, follows("listed: 2 t01 23 min less Penalty to next Solved 11Penalty 1,187"),
		becomes(`page.all('.trend-change').map(page.words).join(' | ')`, " | +1 Solved"),
		script(`document.querySelector('#find-input').focus(); document.execCommand('insertText', false, 'tokyo')`),
		becomes(`page.texts('.found-score')`, "Solved 11Penalty 1,164 min"))
	do(t, ctx, visit(p, "/boards/contest?lang=zh"), isLive, becomes(`page.columnLines().split(' | ')[0]`, "解题 罚时 分"))
	do(t, ctx, visit(p, "/members/team/t00"), becomes(`page.texts('.member-board .score')`,
		"Solved 11Penalty 1,164 min | Points 7Played 11Won 15Drawn 19Lost 23For 27Against 31Difference 35"))
	do(t, ctx, visit(p, "/"), becomes(`page.texts('[data-board=contest] .column-heads .column-name')`, "Solved  | Penalty "),
		becomes(`page.all('[data-board=contest] .card-row .column').slice(0, 2).map(page.words).join(' | ')`, "Solved 11 | Penalty 1,164 min"),
		holds(`document.documentElement.scrollWidth <= innerWidth`))
}
