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
	run(`
		var entries, seq = 0, done = 0, busy = rounds => {
			const from = Math.floor(Math.random() * entries.length), to = Math.floor(Math.random() * entries.length);
			const entry = entries.splice(from, 1)[0];
			entries.splice(to, 0, entry);
			const least = Math.min(from, to), most = Math.max(from, to);
			entry.score += 1;
			entries[from] = {...entries[from], score: entries[from].score + 1};
			for (let i = least; i <= most; i++) entries[i] = {...entries[i], rank: i + 1};
			const rows = entries.slice(least, most + 1).map((entry, i) => [least + i, entry]);
			sockets.at(-1).say({type: 'delta', board: 'b', from: seq, seq: ++seq, total: 9, len: entries.length, rows});
			if (rounds > 1) requestAnimationFrame(() => busy(rounds - 1));
			else requestAnimationFrame(() => done = 1);
		}`)
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
	run(`
		var entries = Array.from({length: 20}, (_, i) => ['member ' + i, 1000 - i]), seq = 0, frames = 0, late = 0;
		say(list(++seq, entries));
		setInterval(() => {
			entries[Math.floor(Math.random() * 20)][1] += 1 + Math.floor(Math.random() * 9);
			entries.sort(([, a], [, b]) => b - a);
			const now = list(++seq, entries);
			sockets.at(-1).say({type: 'delta', board: 'b', from: seq - 1, seq, total: 20, len: 20, rows: now.top.map((entry, i) => [i, entry])});
		}, 40);
		let before = performance.now();
		requestAnimationFrame(function frame(at) {
			frames++;
			if (at - before > 25) late++;
			before = at;
			requestAnimationFrame(frame);
		})`)
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
