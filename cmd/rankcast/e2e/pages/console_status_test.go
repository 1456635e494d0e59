//go:build !race

package pages

import (
	"testing"

	"rankcast/ranking/redistest"
)

// The first view of an administrator has the verdict and the problems, also while Redis is away. That of a moderator, who lacks the
// scope for it, has the boards.
func TestConsoleTellsWhetherAllIsWell(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := startConsole(t, "", "--redis", r.URL())
	ctx := ownWindow(t, 1280, 900)
	const columns = `page.texts('.view .panel:nth-of-type(1) th', ', ')`
	do(t, ctx,
		p.signIn(p.mod, "status"),
		becomes(textOf(".view h1"), "Boards"),
		click("#sign-out"),
		becomes(`page.visible('#sign-in')`, "true"),
		p.signIn(p.ops, ""),
		becomes(textOf(".view h1"), "Is all well?"),
		becomes(textOf(".verdict"), "All is well."),
		becomes(columns, "Node, Up since, Clients, Subscriptions, Followers, Updates a second, Frames a second, Score to frame, CPU, Memory"),
		becomes(`page.texts('.view .badge')`, "ready | answers"),
	)
	r.Kill()
	do(t, ctx,
		holds(`/not well/.test(page.text('.verdict'))`),
		holds(`/Redis/.test(page.text('.problems'))`),
		becomes(`page.texts('.view .badge')`, "not ready | away"),
	)
}
