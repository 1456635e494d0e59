//go:build soak && !race

package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// The console shows a page of a family of 100,000 instances and of a board of a million members, and finds one of each. No answer is
// much larger than a page.
func TestConsoleOfALargeCrowd(t *testing.T) {
	t.Parallel()
	const (
		instances, members, profiles = 100_000, 1_000_000, 1_000

		batch    = 1_000 // events of a request
		imported = 100_000
		largest  = 300_000 // bytes of an answer, unpacked
	)
	r := redistest.Start(t)
	p := e2etest.LaunchBoards(t, `
boards:
  stars:         {kind: star}
  "fans:{star}": {kind: user}
events:
  gift: [{board: "fans:{star}", member: "{user}", score: 1}]
`, "--redis", r.URL())
	for from := 0; from < members; from += imported {
		var csv strings.Builder
		csv.WriteString("member,score,data\n")
		for i := from; i < from+imported; i++ {
			fmt.Fprintf(&csv, "s%06d,%d,\n", i, members-i)
		}
		a := p.Request("POST", "/v1/boards/stars/import", csv.String(), "Content-Type", "text/csv")
		require.Equal(t, 200, a.Status, a.Body)
	}
	for from := 0; from < instances; from += batch {
		events := make([]string, batch)
		for i := range events {
			events[i] = fmt.Sprintf(`{"star":"s%06d","user":"mochi"}`, from+i)
		}
		require.Equal(t, 200, p.Submit("/v1/events/gift", `{"events":[`+strings.Join(events, ",")+`]}`).Status)
	}
	for i := range profiles {
		p.Answers(201, "PUT", fmt.Sprintf("/v1/members/star/s%06d", members/2+i), fmt.Sprintf(`{"name":"Star %d"}`, i))
	}

	ctx := ownWindow(t, 1280, 900)
	for _, c := range []struct {
		name string
		view string // "": the same as before
		do   chromedp.Action[chromedp.Void]
	}{
		{"a family", "boards/fans:%7Bstar%7D", chromedp.Steps(
			becomes(textOf(".view h2"), "100,000 instances"),
			becomes(`page.count('.view tbody tr')`, "50"),
			becomes(textOf(".view tbody a"), "fans:s000000"))},
		{"its next page", "", chromedp.Steps(press("Show more"), becomes(`page.count('.view tbody tr')`, "100"))},
		{"an instance", "", chromedp.Steps(enter("[name=search]", "s077777"), becomes(boardNames, "fans:s077777"))},
		{"a board", "boards/stars", chromedp.Steps(
			becomes(`page.count('.members-list tbody tr')`, "20"),
			becomes(textOf(".members-list tbody a"), "s000000"),
			holds(`/Members 1,000,000/.test(page.text('.facts').replace('Members', 'Members '))`))},
		{"a name", "", chromedp.Steps(
			enter("[name=search]", "Star 777"), becomes(`page.texts('.members-list td', ' ')`, "500,778 Star 777 s500777 499,223"))},
		{"an id", "", chromedp.Steps(
			enter("[name=search]", "s912345"), becomes(`page.texts('.members-list td', ' ')`, "912,346 s912345 87,655"))},
		{"a member", "members/star/s912345", holds(`page.text('.view').includes('912,346 of 1,000,000')`)},
		{"the members of a kind", "members", chromedp.Steps(
			enter("[name=kind]", "star"), enter("[name=q]", "star 777"), press("Search"), becomes(`page.count('.panel tbody tr')`, "1"))},
		{"the boards", "boards", becomes(boardNames, "fans:{star} | stars")},
	} {
		begun := time.Now()
		if c.view != "" {
			do(t, ctx, chromedp.Navigate("about:blank"), visit(p, "/console#/"+c.view))
		}
		require.NoError(t, chromedp.Do(ctx, c.do), c.name)
		took := time.Since(begun)
		size := value[int](t, ctx, `Math.max(...performance.getEntriesByType('resource').map(answer => answer.decodedBodySize))`)
		t.Logf("%s: %d ms, the largest answer %d bytes", c.name, took.Milliseconds(), size)
		require.LessOrEqual(t, size, largest, c.name)
	}
}
