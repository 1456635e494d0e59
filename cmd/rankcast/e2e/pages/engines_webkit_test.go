//go:build browsers && !race

package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

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
