//go:build !race

package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// consoleProcess is a server with an access file, and the keys of its operators: of an administrator, and of a moderator who may
// moderate the star flowers alone.
type consoleProcess struct {
	*e2etest.Process
	access   string // the access file
	ops, mod string
}

// startConsole starts a server whose operators sign in. extra is more of the boards file.
func startConsole(t *testing.T, extra string, args ...string) *consoleProcess {
	p := &consoleProcess{access: filepath.Join(t.TempDir(), "access.yaml"), ops: access.NewKey(), mod: access.NewKey()}
	p.allow(t, p.opsLine(), p.modLine())
	boards := e2etest.Write(t, "boards.yaml", starFlowers+extra)
	p.Process = e2etest.Launch(t, append(args, "--access", p.access, "--boards", boards)...)
	return p
}

func (p *consoleProcess) opsLine() string {
	return fmt.Sprintf("  - {name: ops, hash: %q, scopes: [admin]}\n", access.HashKey(p.ops))
}

func (p *consoleProcess) modLine() string {
	return fmt.Sprintf("  - {name: mod, hash: %q, scopes: [read, moderate], boards: [stars, 'fans:*'], events: [gift], kinds: [star]}\n",
		access.HashKey(p.mod))
}

// allow replaces the access file.
func (p *consoleProcess) allow(t *testing.T, keys ...string) {
	next := p.access + ".new"
	require.NoError(t, os.WriteFile(next, []byte("keys:\n"+strings.Join(keys, "")), 0o600))
	require.NoError(t, os.Rename(next, p.access))
}

// may sends a request with the key of the administrator.
func (p *consoleProcess) may(status int, method, path, body string) servertest.Answer {
	p.T.Helper()
	a := p.Request(method, path, body, "Authorization", "Bearer "+p.ops)
	require.Equal(p.T, status, a.Status, "%s %s: %s", method, path, a.Body)
	return a
}

// signIn opens a view of the console, and signs in with a key.
func (p *consoleProcess) signIn(key, view string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(
		chromedp.Navigate("about:blank"), // another fragment alone loads no page
		visit(p.Process, "/console#/"+view),
		typeInto("#key", key),
		click("#sign-in .primary"),
		becomes(`page.visible('#sign-in', '#console-nav')`, "false,true"),
	)
}

// enter puts text into a field of a form, as if it was typed there.
func enter(selector, text string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(holds(fmt.Sprintf("document.querySelector(%q) !== null", selector)), script(fmt.Sprintf(`(field => {
		field.value = %q;
		field.dispatchEvent(new Event('input', {bubbles: true}));
		field.dispatchEvent(new Event('change', {bubbles: true}));
	})(document.querySelector(%q))`, text, selector)))
}

// press presses the button with a text, of those that can be seen.
func press(text string) chromedp.Action[chromedp.Void] {
	const found = `page.all('button, .button').filter(b => b.checkVisibility() && !b.disabled && page.words(b) === %q).at(-1)`
	return chromedp.Steps(holds(fmt.Sprintf("("+found+") !== undefined", text)), script(fmt.Sprintf("("+found+").click()", text)))
}

// An operator signs in with a key, sees what the key allows, and stays signed in until the key goes. What was typed stays.
func TestConsoleSignIn(t *testing.T) {
	t.Parallel()
	p := startConsole(t, "")
	ctx := ownWindow(t, 1280, 900)
	const links = `page.texts('#console-nav a')`
	do(t, ctx,
		visit(p.Process, "/console"),
		becomes(`page.visible('#sign-in', '#console-nav', '#sign-out')`, "true,false,false"),
		becomes(`page.focus()`, "key"),
		typeInto("#key", access.NewKey()),
		click("#sign-in .primary"),
		becomes(textOf("#sign-in-note"), "The server does not know this key."),
		p.signIn(p.mod, "audit"),
		becomes(links, "Boards | Members | Events | Audit"),
		becomes(textOf("#who"), "Key mod"),
		becomes(textOf(".view h1"), "Audit"),
		holds(`!document.cookie.includes('session')`),
		enter("[name=member]", "s17"),
	)
	p.allow(t, p.opsLine())
	do(t, ctx,
		// The server reads the file within two seconds; each change of a filter is a request.
		becomes(`(document.querySelector('[name=kind]').dispatchEvent(new Event('change', {bubbles: true})),
			page.visible('#sign-in', '#console-nav'))`, "true,false"),
		holds(`document.querySelector('#view').inert`),
		becomes(`document.querySelector('[name=member]').value`, "s17"),
		typeInto("#key", p.ops),
		click("#sign-in .primary"),
		becomes(links, "Is all well? | Boards | Members | Events | Audit"),
		click("#sign-out"),
		becomes(`page.visible('#sign-in', '#console-nav')`, "true,false"),
		chromedp.Reload(),
		becomes(`page.visible('#sign-in', '#console-nav')`, "true,false"),
	)
}

// Without an access file the console opens at once, and says so. No page of viewers links it.
func TestOpenConsole(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, starFlowers)
	ctx := window(t, 1280, 900)
	do(t, ctx,
		visit(p, "/console"),
		becomes(textOf("#who"), "No access file: anybody who reaches this node may do anything"),
		becomes(`page.visible('#sign-in', '#console-nav', '#sign-out')`, "false,true,false"),
	)
	for _, path := range []string{"/", "/boards/stars", "/show/gift", "/embed/stars", "/docs/start", "/members/star/s17", "/nowhere"} {
		require.NotRegexp(t, `href="([^"]*/)?console["#?]`, p.Request("GET", path, "", "Accept", "text/html").Body, path)
	}
}
