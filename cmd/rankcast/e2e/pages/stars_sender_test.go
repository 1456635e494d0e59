//go:build !race

package pages

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// Whatever comes between, each tap counts once.
func TestStarsGiftSenderCountsEachTapOnce(t *testing.T) {
	t.Parallel()
	giftSenderCountsEachTapOnce(t, 6)
}

// giftSenderCountsEachTapOnce tries so many random histories.
func giftSenderCountsEachTapOnce(t *testing.T, histories int) {
	p := e2etest.Launch(t)
	ctx := window(t, 800, 600)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("http://"+p.Addr+"/healthz"), script(scriptFile(t, "clock.js")),
		script(`stopClock()`), script(scriptFile(t, "gift-sender.js"))))
	for range histories {
		seed := rand.Uint32()
		found, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(`senderHistory(%d)`, seed), chromedp.EvalAwaitPromise))
		require.NoError(t, err, "seed %d", seed)
		require.Regexp(t, `^nothing in \d+ events$`, found, "seed %d", seed)
	}
}
