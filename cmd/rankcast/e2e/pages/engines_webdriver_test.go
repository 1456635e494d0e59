//go:build browsers && !race

package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// firefoxWindow is a window of Firefox, driven by WebDriver BiDi: https://w3c.github.io/webdriver-bidi/.
type firefoxWindow struct {
	socket  *websocket.Conn
	calls   int
	context string // the id of the window
}

var firefoxListensAt = regexp.MustCompile(`^WebDriver BiDi listening on (ws://\S+)$`)

func startFirefox(t *testing.T) engine {
	firefox := exec.Command("firefox-esr", "--no-remote", "--remote-debugging-port=0", "--profile", t.TempDir())
	firefox.Env = startScreen(t)
	address := startProgram(t, firefoxListensAt, firefox)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	socket, _, err := websocket.Dial(ctx, address+"/session", nil)
	require.NoError(t, err)
	socket.SetReadLimit(-1) // pictures are large
	t.Cleanup(func() { socket.CloseNow() })
	w := &firefoxWindow{socket: socket}
	require.NoError(t, w.call("session.new", input{"capabilities": input{}}, nil))
	// Firefox gives the focus to a tab that it opens, and not to its first one.
	var tab struct{ Context string }
	require.NoError(t, w.call("browsingContext.create", input{"type": "tab"}, &tab))
	w.context = tab.Context
	return w
}

// call waits for the result of a command. It passes over events.
func (w *firefoxWindow) call(method string, params input, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.calls++
	if err := wsjson.Write(ctx, w.socket, input{"id": w.calls, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		var answer struct {
			ID             int
			Error, Message string
			Result         json.RawMessage
		}
		if err := wsjson.Read(ctx, w.socket, &answer); err != nil {
			return err
		}
		switch {
		case answer.ID != w.calls:
		case answer.Error != "":
			return fmt.Errorf("%s: %s: %s", method, answer.Error, answer.Message)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(answer.Result, result)
		}
	}
}

func (w *firefoxWindow) resize(width, height int) error {
	return w.call("browsingContext.setViewport", input{"context": w.context, "viewport": input{"width": width, "height": height}}, nil)
}

func (w *firefoxWindow) visit(address string) error {
	return w.call("browsingContext.navigate", input{"context": w.context, "url": address, "wait": "complete"}, nil)
}

func (w *firefoxWindow) evaluate(expression string) (string, error) {
	var answer struct {
		Result           struct{ Value string }
		ExceptionDetails *struct{ Text string }
	}
	err := w.call("script.evaluate", input{"target": input{"context": w.context}, "expression": expression, "awaitPromise": true}, &answer)
	if err == nil && answer.ExceptionDetails != nil {
		err = fmt.Errorf("%s", answer.ExceptionDetails.Text)
	}
	return answer.Result.Value, err
}

func (w *firefoxWindow) perform(actions []input) error {
	return w.call("input.performActions", input{"context": w.context, "actions": actions}, nil)
}

func (w *firefoxWindow) tap(x, y, times int) error { return w.perform(mouseTaps(x, y, times)) }

func (w *firefoxWindow) keys(text string) error { return w.perform(keyPresses(text)) }

func (w *firefoxWindow) picture() ([]byte, error) {
	var answer struct{ Data []byte }
	err := w.call("browsingContext.captureScreenshot", input{"context": w.context}, &answer)
	return answer.Data, err
}

// webkitWindow is a window of WebKitGTK's MiniBrowser, driven by WebDriver: https://www.w3.org/TR/webdriver2/.
type webkitWindow struct {
	client  http.Client
	session string // the address
}

func startWebKit(t *testing.T) engine {
	found, err := filepath.Glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser")
	require.NoError(t, err)
	require.NotEmpty(t, found, "make browsers installs WebKit's MiniBrowser")
	port := redistest.FreePort(t)
	driver := exec.Command("WebKitWebDriver", fmt.Sprint("--port=", port))
	driver.Env = startScreen(t)
	startProgram(t, nil, driver)
	w := &webkitWindow{client: http.Client{Timeout: patience}}
	t.Cleanup(w.client.CloseIdleConnections)
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	redistest.Eventually(t, "WebKitWebDriver to be ready", func() error { return w.call("GET", address+"/status", nil, nil) })
	var session struct{ SessionID string }
	options := input{"binary": found[len(found)-1], "args": []string{"--automation"}}
	require.NoError(t, w.call("POST", address+"/session",
		input{"capabilities": input{"alwaysMatch": input{"webkitgtk:browserOptions": options}}}, &session))
	w.session = address + "/session/" + session.SessionID
	t.Cleanup(func() { w.call("DELETE", w.session, nil, nil) })
	return w
}

// call sends a command and decodes its value.
func (w *webkitWindow) call(method, address string, params input, value any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct{ Value json.RawMessage }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, address, answer.Value)
	}
	if value == nil {
		return nil
	}
	return json.Unmarshal(answer.Value, value)
}

func (w *webkitWindow) post(command string, params input, value any) error {
	return w.call("POST", w.session+command, params, value)
}

// resize makes the window higher than the page, by the bar of the browser.
func (w *webkitWindow) resize(width, height int) error {
	bar, err := w.evaluate(`outerHeight - innerHeight + ''`)
	if err != nil {
		return err
	}
	high, err := strconv.Atoi(bar)
	if err != nil {
		return err
	}
	return w.post("/window/rect", input{"x": 0, "y": 0, "width": width, "height": height + high}, nil)
}

func (w *webkitWindow) visit(address string) error { return w.post("/url", input{"url": address}, nil) }

func (w *webkitWindow) evaluate(expression string) (value string, err error) {
	err = w.post("/execute/sync", input{"script": "return " + expression, "args": []any{}}, &value)
	return value, err
}

func (w *webkitWindow) perform(actions []input) error {
	return w.post("/actions", input{"actions": actions}, nil)
}

func (w *webkitWindow) tap(x, y, times int) error { return w.perform(mouseTaps(x, y, times)) }

func (w *webkitWindow) keys(text string) error { return w.perform(keyPresses(text)) }

func (w *webkitWindow) picture() (png []byte, err error) {
	err = w.call("GET", w.session+"/screenshot", nil, &png)
	return png, err
}
