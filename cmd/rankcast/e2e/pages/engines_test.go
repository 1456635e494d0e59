//go:build browsers && !race

package pages

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

var steps = flag.String("steps", "", "folder for a picture of each step of the walk; default: none")

// engine is one window of a browser, with a profile of its own. It ends with the test. One goroutine makes all calls.
// Each call ends within patience.
type engine interface {
	// resize gives the page this size in CSS pixels. The page of MiniBrowser has at least the width of its bar, 447.
	resize(width, height int) error
	// visit returns once the page has loaded.
	visit(address string) error
	// evaluate returns the value of an expression that is a text, or a promise of one.
	evaluate(expression string) (string, error)
	// tap presses and releases the button of the mouse so many times.
	tap(x, y, times int) error
	// keys presses the keys of a text; "\r" is Enter.
	keys(text string) error
	// picture returns a PNG.
	picture() ([]byte, error)
}

// walker is a reader of pages in one engine.
type walker struct {
	engine
	t        *testing.T
	name     string // of the engine
	pictures int
}

// opens opens a page in a window of this size, and gives it the functions of scripts/page.
func (w *walker) opens(address string, width, height int) {
	w.t.Helper()
	require.NoError(w.t, w.resize(width, height))
	require.NoError(w.t, w.visit(address), address)
	w.runs(pageScript(w.t))
	w.becomes(fmt.Sprintf(`innerWidth >= %d && innerHeight === %d`, width, height), "true")
}

// becomes waits for a minute until an expression is want, as the engine paints. The expression may throw for as long as the
// page has not got what it names.
func (w *walker) becomes(expression, want string) {
	w.t.Helper()
	redistest.Eventually(w.t, expression, func() error {
		is, err := w.evaluate(fmt.Sprintf(`new Promise(resolve => requestAnimationFrame(() => {
			try { resolve(String(%s)) } catch (error) { resolve(String(error)) }
		}))`, expression))
		if err == nil && is != want {
			err = fmt.Errorf("want %q, is %q", want, is)
		}
		return err
	})
}

// runs runs a script on the page.
func (w *walker) runs(script string) {
	w.t.Helper()
	_, err := w.evaluate("(() => { " + script + "; return ''; })()")
	require.NoError(w.t, err, script)
}

// taps brings an element into view and taps on it so many times, at this share of its width.
func (w *walker) taps(element string, across float64, times int) {
	w.t.Helper()
	at, err := w.evaluate(fmt.Sprintf(`(element => {
		element.scrollIntoView({block: 'nearest', behavior: 'instant'});
		const {left, top, width, height} = element.getBoundingClientRect();
		return Math.round(left + %g * width) + ' ' + Math.round(top + height / 2);
	})(%s)`, across, element))
	require.NoError(w.t, err, element)
	var x, y int
	_, err = fmt.Sscan(at, &x, &y)
	require.NoError(w.t, err, element)
	require.NoError(w.t, w.tap(x, y, times), element)
}

// rests waits until everything is at its place.
func (w *walker) rests() {
	w.t.Helper()
	w.becomes(`document.getAnimations().some(animation => animation.effect.getComputedTiming().endTime !== Infinity)`, "false")
}

// shows takes a picture of a step.
func (w *walker) shows(step string) {
	w.t.Helper()
	png, err := w.picture()
	require.NoError(w.t, err, step)
	w.pictures++
	if *steps != "" {
		require.NoError(w.t, os.WriteFile(filepath.Join(*steps, fmt.Sprintf("%s-%02d-%s.png", w.name, w.pictures, step)), png, 0o644))
	}
}

// startProgram starts a program and returns what the first line of its log that matches says in parentheses; without an
// expression it waits for no line. The program ends with the test, and so do all processes that it has started.
func startProgram(t *testing.T, says *regexp.Regexp, cmd *exec.Cmd) string {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start(), "make browsers installs it")
	said, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if says == nil {
				continue
			}
			if match := says.FindStringSubmatch(lines.Text()); match != nil {
				select {
				case said <- match[1]:
				default:
				}
			}
		}
	}()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		redistest.Receive(t, "the run to end", ended)
		cmd.Wait()
	})
	if says == nil {
		return ""
	}
	select {
	case text := <-said:
		return text
	case <-ended:
		t.Fatalf("%s ended before it was ready", cmd.Path)
		return ""
	}
}

var xvfbShowsOn = regexp.MustCompile(`^(\d+)$`)

// startScreen starts a screen, and returns the variables of a program that shows a window there, and has an empty home.
func startScreen(t *testing.T) []string {
	t.Helper()
	display := startProgram(t, xvfbShowsOn, exec.Command("Xvfb", "-displayfd", "2", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"))
	return append(os.Environ(), "DISPLAY=:"+display, "HOME="+t.TempDir(), "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=")
}

// input is one device's part of an action, as WebDriver and WebDriver BiDi have it.
type input map[string]any

func mouseTaps(x, y, times int) []input {
	actions := []input{{"type": "pointerMove", "x": x, "y": y}}
	for range times {
		actions = append(actions, input{"type": "pointerDown", "button": 0}, input{"type": "pointerUp", "button": 0})
	}
	return []input{{"type": "pointer", "id": "mouse", "actions": actions}}
}

func keyPresses(text string) []input {
	var actions []input
	for _, key := range strings.ReplaceAll(text, "\r", "\ue007") {
		actions = append(actions, input{"type": "keyDown", "value": string(key)}, input{"type": "keyUp", "value": string(key)})
	}
	return []input{{"type": "key", "id": "keyboard", "actions": actions}}
}

// chromiumWindow is a window of the browser that the other tests of pages share.
type chromiumWindow struct{ ctx context.Context }

func startChromium(t *testing.T) engine { return chromiumWindow{ownWindow(t, 1280, 900)} }

func (w chromiumWindow) resize(width, height int) error {
	return chromedp.Do(w.ctx, chromedp.EmulateViewport(int64(width), int64(height)))
}

func (w chromiumWindow) visit(address string) error {
	return chromedp.Do(w.ctx, chromedp.Navigate(address))
}

func (w chromiumWindow) evaluate(expression string) (string, error) {
	return chromedp.Run(w.ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
}

func (w chromiumWindow) tap(x, y, times int) error {
	for range times {
		if err := chromedp.Do(w.ctx, chromedp.MouseClickXY(float64(x), float64(y))); err != nil {
			return err
		}
	}
	return nil
}

func (w chromiumWindow) keys(text string) error { return chromedp.Do(w.ctx, chromedp.KeyEvent(text)) }

func (w chromiumWindow) picture() ([]byte, error) {
	return chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
}
