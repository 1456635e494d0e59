//go:build !race

package pages

import (
	"fmt"
	"strings"
	"testing"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// A session ends while a dialog is open: the operator signs in, and goes on where the dialog was. The link to the content leaves the
// view, and another view gets the focus.
func TestConsoleGoesOnAfterSignIn(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "")
	p.may(201, "PUT", "/v1/boards/gone", `{}`)
	ctx := ownWindow(t, 390, 900)
	do(t, ctx,
		p.signIn(p.ops, "boards/gone"),
		becomes(textOf(".view h1"), "gone"),
		script(`document.querySelector('.skip').click()`),
		becomes(`document.activeElement.id`, "view"),
		becomes(`location.hash`, "#/boards/gone"),
		press("Delete …"),
		enter("dialog [name=typed]", "gone"),
	)
	p.allow(t, p.modLine())
	do(t, ctx,
		// The views and the dialog send requests until the server has read the file.
		holds(`page.visible('#sign-in') === 'true'`),
		holds(`!document.querySelector('dialog').open`),
		becomes(`document.activeElement.id`, "key"),
	)
	p.allow(t, p.opsLine())
	do(t, ctx,
		holds(fmt.Sprintf(`(signIn => {
			if (signIn.hidden) return true;
			document.querySelector('#key').value = %q;
			signIn.querySelector('.primary').click();
		})(document.querySelector('#sign-in'))`, p.ops)),
		holds(`document.querySelector('dialog').open`),
		becomes(`document.querySelector('dialog [name=typed]').value`, "gone"),
		press("Delete"),
		becomes(textOf(".view h1"), "Boards"),
		becomes(`document.activeElement.id`, "view"),
		holds(`document.title.startsWith('Boards')`),
	)
	p.may(404, "GET", "/v1/boards/gone", "")
}

// An answer that a later one has overtaken is not shown. The last page of a list leaves the focus in it.
func TestConsoleLists(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, starFlowers)
	for i := range 51 {
		p.Request("PUT", fmt.Sprintf("/v1/hidden/star/s%02d", i), "")
	}
	ctx := ownWindow(t, 1280, 900)
	do(t, ctx,
		visit(p, "/console#/audit"),
		holds(`page.all('.view section:first-of-type tbody tr').length === 50`),
		script(`page.all('.view button').find(button => page.words(button) === 'Show more').focus()`),
		press("Show more"),
		holds(`page.all('.view section:first-of-type tbody tr').length > 50`),
		holds(`document.activeElement === document.querySelector('.view table')`),
		script(`(() => {
			const { fetch } = window;
			window.fetch = async (url, options) => {
				if (String(url).includes('member=s01')) await new Promise((resolve) => { window.letGo = resolve; });
				const answer = await fetch(url, options);
				if (String(url).includes('member=s01')) window.late = true;
				return answer;
			};
		})()`),
		enter("[name=member]", "s01"),
		holds(`window.letGo !== undefined`),
		enter("[name=member]", "s02"),
		becomes(`page.texts('.view section:first-of-type tbody tr td:nth-child(4) a')`, "s02"),
		script(`letGo()`),
		holds(`window.late`),
		script(`new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))`),
		becomes(`page.texts('.view section:first-of-type tbody tr td:nth-child(4) a')`, "s02"),
	)
}

// The names of an event's fields may be those of properties of forms.
func TestConsoleFieldNames(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "")
	p.may(201, "PUT", "/v1/events/odd", `{"updates":[{"board":"stars","member":"{append}","score":"{elements}"}]}`)
	do(t, ownWindow(t, 1280, 900),
		p.signIn(p.ops, "events/odd"),
		enter("[name=append]", strings.Repeat("x", 300)),
		enter("[name=elements]", "1"),
		press("Send"),
		holds(`page.texts('.event-send .problem').includes('300 bytes')`),
		enter("[name=append]", "s17"),
		press("Send"),
		holds(textOf(".answer")+`.includes('The event is sent.')`),
	)
}
