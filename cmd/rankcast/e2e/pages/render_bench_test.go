//go:build !race

package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// BenchmarkRender measures what a page's script takes to show a frame in which two of the
// members have new scores and one of them a new place, on boards of 10, 100 and 1,000 rows,
// and what the browser takes for styles and layout.
func BenchmarkRender(b *testing.B) {
	p := e2etest.Launch(b)
	ctx := window(b, 1280, 900)
	run := func(text string) {
		do(b, ctx, script(text))
	}
	do(b, ctx, visit(p, "/healthz"), standIn(b))
	require.NoError(b, e2etest.Call(ctx, performance.Enable, performance.EnableParams{}))
	run(scriptFile(b, "steps/busy-rows.js"))
	metrics := func() map[string]float64 {
		all, err := chromedp.Call(ctx, performance.GetMetrics, cdp.Empty{})
		require.NoError(b, err)
		found := make(map[string]float64)
		for _, m := range all.Metrics {
			found[m.Name] = m.Value
		}
		return found
	}
	for _, rows := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			run(fmt.Sprintf(`entries = Array.from({length: %d}, (_, i) => ({rank: i + 1, member: 'member ' + i, score: 100000 - i}));
				make({top: %[1]d})`, rows))
			do(b, ctx, becomes(`sockets.at(-1)?.sent.at(-1)?.top + ''`, fmt.Sprint(rows)))
			// Said again until it is taken: what was asked last may have been for the run before.
			require.NoError(b,
				chromedp.Do(ctx, becomes(`say(list(++seq, entries.map(({member, score}) => [member, score]))),
					root.querySelectorAll('[data-member]').length + ''`, fmt.Sprint(rows))))
			run(`done = 0; busy(20)`)
			do(b, ctx, becomes(`done + ''`, "1"))
			before := metrics()
			b.ResetTimer()
			run(fmt.Sprintf(`done = 0; busy(%d)`, b.N))
			_, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void](`done`, chromedp.WithPollingTimeout(0)))
			require.NoError(b, err)
			b.StopTimer()
			after := metrics()
			each := func(name string) float64 { return (after[name] - before[name]) / float64(b.N) * 1e6 }
			b.ReportMetric(each("ScriptDuration"), "script-µs/render")
			b.ReportMetric(each("RecalcStyleDuration"), "style-µs/render")
			b.ReportMetric(each("LayoutDuration"), "layout-µs/render")
		})
	}
}

// BenchmarkFrames measures how many frames a second a page of a board has at 25 updates a second, with all that moves. A
// browser draws 60.
func BenchmarkFrames(b *testing.B) {
	p := e2etest.Launch(b)
	ctx := window(b, 1280, 900)
	run := func(text string) {
		do(b, ctx, script(text))
	}
	do(b, ctx, visit(p, "/healthz"), standIn(b))
	run(`make({top: 20, me: 'member 7', moments: ''})`)
	do(b, ctx, becomes(`sockets.at(-1)?.sent.at(-1)?.type`, "subscribe"))
	run(scriptFile(b, "steps/updates-at-pace.js"))
	for b.Loop() {
		run(`frames = late = 0; var started = performance.now()`)
		_, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void](`frames >= 360`, chromedp.WithPollingTimeout(0)))
		require.NoError(b, err)
	}
	for name, expression := range map[string]string{"frames/s": `frames * 1000 / (performance.now() - started)`, "late-frames": `late`} {
		figure, err := chromedp.Run(ctx, chromedp.Evaluate[float64](expression))
		require.NoError(b, err)
		b.ReportMetric(figure, name)
	}
}
