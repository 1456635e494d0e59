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

const (
	boardNames = `page.texts('.view tbody td:first-child')`
	yaml       = ".editor textarea"
)

// An administrator defines a board in the editor, which checks while one types; changes it; imports scores; and deletes it.
func TestConsoleEditsBoards(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "")
	ctx := ownWindow(t, 1280, 900)
	mayNotSave := holds(`document.querySelector('.editor .primary').disabled`)
	do(t, ctx,
		p.signIn(p.ops, "boards"),
		becomes(boardNames, "fans3h:{star} | fans:{star} | stars"),
		press("New board"),
		enter("[name=name]", "goals"),
		enter(yaml, "kind: player\nmode: sun\n"),
		becomes(textOf(".checked"), `mode: is "sun"; want one of sum, best, lastGo to line 2`),
		mayNotSave,
		press("Go to line 2"),
		becomes(`String(getSelection())`, "mode: sun"),
		enter(yaml, "title: 'Goals\n"),
		holds(`/line \d/.test(page.text('.checked'))`),
		mayNotSave,
		enter(yaml, "title: Goals\nkind: player\n"),
		becomes(textOf(".checked"), "This defines a new board."),
		press("Show all fields with their defaults"),
		holds(`/order: desc/.test(document.querySelector('.editor textarea').value)`),
		press("Save"),
		becomes(textOf(".view h1"), "goals"),
		press("Edit"),
		holds(`/title: Goals/.test(document.querySelector('.editor textarea').value)`),
		becomes(textOf(".checked"), "Nothing changes."),
		mayNotSave,
		enter(yaml, "title: Tore\nkind: player\n"),
		becomes(`page.texts('.checked td', ' ')`, "title Goals Tore"),
		press("Save"),
		holds(`page.text('.definition').startsWith('title: Tore')`),
	)
	require.Contains(t, p.may(200, "GET", "/v1/audit?board=goals&action=define_board", "").Body, `"by":"ops"`)

	csv := e2etest.Write(t, "scores.csv", "member,score,data\nana,7,\nbob,5,\n,3,\n")
	do(t, ctx,
		chromedp.SetUploadFiles("[name=file]", []string{csv}),
		press("Import"),
		holds(`/sets the score of its member on goals/.test(page.text('.dialog'))`),
		press("Import"),
		holds(`page.text('.import-result').startsWith('2 scores are imported, 1 refused.')`),
		becomes(`page.texts('.members-list td', ' ')`, "1 ana 7 2 bob 5"),
	)
	require.Equal(t, "member,score,data\nana,7,\nbob,5,\n",
		value[string](t, ctx, `fetch(document.querySelector('a[download]').href).then(answer => answer.text())`))
	do(t, ctx,
		press("Edit"),
		holds(`/Tore/.test(document.querySelector('.editor textarea').value)`),
		enter(yaml, "title: Tore\nkind: player\norder: asc\n"),
		holds(`/would change the order/.test(page.text('.checked'))`),
		mayNotSave,
		script(`history.back()`),
		press("Delete …"),
		enter(".dialog [name=typed]", "goal"),
		holds(`document.querySelector('.dialog .danger').disabled`),
		enter(".dialog [name=typed]", "goals"),
		press("Delete"),
		becomes(boardNames, "fans3h:{star} | fans:{star} | stars"),
	)
	p.may(404, "GET", "/v1/boards/goals", "")
}

// A moderator finds the boards and their members, and nothing that only administrators may do. Hostile titles, names and ids are text.
func TestConsoleShowsBoardsToModerators(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "")
	member := strings.ReplaceAll(hostileName, `"`, "'")
	p.may(200, "PUT", "/v1/boards/stars", fmt.Sprintf(`{"kind":"star","period":"week","timezone":"Asia/Shanghai","title":%q}`, hostileName))
	p.may(201, "PUT", "/v1/members/star/s17", fmt.Sprintf(`{"name":%q}`, hostileName))
	p.may(200, "POST", "/v1/boards/stars/scores", fmt.Sprintf(`{"updates":[{"member":"s17","score":9},{"member":%q,"score":8}]}`,
		member))
	p.may(200, "POST", "/v1/events/gift", `{"star":"s17","user":"mochi","flowers":3}`)
	p.may(204, "PUT", "/v1/boards/stars/hidden/s18", `{"reason":"x"}`)
	ctx := ownWindow(t, 390, 844)
	do(t, ctx,
		p.signIn(p.mod, "boards"),
		becomes(boardNames, "fans:{star} | "+hostileName+" stars"),
		becomes(`page.texts('th', ', ')`, "Board, Members, Changes a minute, Memory, State"),
		click(".view tbody tr:nth-child(2) a"),
		becomes(textOf(".view h1"), "stars"),
		becomes(`page.texts('.members-list td', ' ')`, "1 "+hostileName+" s17 12 2 "+member+" 8"),
		holds(`page.text('.view').includes('s18')`),
		becomes(`page.texts('.view button')`, "Freeze …"),
		becomes(`page.count('.view a[download], .view textarea')`, "0"),
		becomes(`page.count('main img')`, "0"),
		holds(`document.documentElement.scrollWidth <= innerWidth`),
		enter("[name=search]", "s17"),
		becomes(`page.texts('.members-list td', ' ')`, "1 "+hostileName+" s17 12"),
		click(".crumbs a"),
		becomes(boardNames, "fans:{star} | "+hostileName+" stars"),
		click(".view tbody tr:nth-child(1) a"),
		becomes(textOf(".view h1"), "fans:{star}"),
		becomes(boardNames, "fans:s17"),
		enter("[name=search]", "s2"),
		holds(`page.text('.view').includes('No instance has such a name.')`),
	)
}

// The console shows a page of 10,000 boards, and finds one of them.
func TestConsoleWithManyBoards(t *testing.T) {
	t.Parallel()
	var boards strings.Builder
	for i := range 9_990 {
		fmt.Fprintf(&boards, "  board-%04d: {title: 'The board %d'}\n", i, i)
	}
	before, after, _ := strings.Cut(starFlowers, "boards:\n")
	p := e2etest.LaunchBoards(t, before+"boards:\n"+boards.String()+after)
	ctx := ownWindow(t, 1280, 900)
	do(t, ctx,
		visit(p, "/console#/boards"),
		becomes(`page.count('.view tbody tr')`, "50"),
		becomes(`String(performance.getEntriesByType('resource').filter(r => /v1.boards/.test(r.name)).length)`, "0"),
		press("Show more"),
		becomes(`page.count('.view tbody tr')`, "100"),
		enter("[name=search]", "7777"),
		becomes(boardNames, "The board 7777 board-7777"),
	)
}
