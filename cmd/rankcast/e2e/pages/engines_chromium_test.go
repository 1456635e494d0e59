//go:build browsers && !race

package pages

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
)

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
