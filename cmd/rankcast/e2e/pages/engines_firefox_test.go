//go:build browsers && !race

package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"
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
