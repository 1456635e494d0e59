//go:build !race

package pages

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

var (
	pictures = flag.String("pictures", "", "folder for the pictures in README")
	screens  = flag.String("screens", "", "folder for pictures of all pages, sizes, themes and languages")
)

func shoot(t *testing.T, ctx context.Context, file string) {
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, png, 0o644))
}

// No page is wider than its window, from a phone to a wall, in each theme and language.
func TestPagesFitTheScreen(t *testing.T) {
	t.Parallel()
	addr := demo(t)
	ctx := window(t, 1280, 900)
	do(t, ctx, chromedp.Navigate("about:blank"))
	combinations := [][2]string{{"light", "en"}, {"dark", "zh"}} // each theme and language; in pictures, each with each
	if *screens != "" {
		combinations = append(combinations, [2]string{"light", "zh"}, [2]string{"dark", "en"})
	}
	paths := map[string]string{
		"boards": "/", "board": "/boards/stars?me=s16", "family": "/boards/fans:s01", "story": "/boards/stars/story?me=s16",
		"member": "/members/star/s16", "stars": "/show/gift?me=mochi", "star": "/show/gift/s05?me=mochi", "overlay": "/overlay/stars?me=s16",
		"builder": "/boards/stars/overlay?me=s16",
	}
	docs := docsPages
	if *screens == "" {
		docs = docs[:1] // TestDocsFitAPhone tries all
	}
	for _, path := range docs {
		paths["docs-"+strings.TrimPrefix(path, "/docs/")] = path
	}
	for name, path := range paths {
		for _, c := range combinations {
			theme, lang := c[0], c[1]
			for i, size := range [][2]int{{390, 844}, {1280, 900}, {2560, 1440}} {
				width, height := size[0], size[1]
				if i == 0 || *screens != "" { // else the page that is there gets another size, as by a window that is drawn wider
					lookOrRead(t, ctx, addr, path, width, height, theme, lang)
				}
				require.NoError(t, chromedp.Do(ctx, resize(int64(width), int64(height)),
					becomes(`document.documentElement.scrollWidth > innerWidth ? document.documentElement.scrollWidth + ' px' : ''`, "")),
					"%s at %d, %s, %s is wider than its window", path, width, theme, lang)
				if *screens != "" {
					shoot(t, ctx, filepath.Join(*screens, fmt.Sprintf("%s-%d-%s-%s.png", name, width, theme, lang)))
				}
			}
		}
	}
	if *pictures == "" {
		return
	}
	for _, c := range []struct {
		file, path    string
		width, height int
		theme, lang   string
		busy          string // an expression: enough has happened to be seen
	}{
		{"dashboard.png", "/boards/stars?me=s21", 1280, 860, "light", "en",
			`page.all('.sparkline .line').every(line => line.getAttribute('d').length > 60)`},
		{"story.png", "/boards/stars/story?me=s16", 1280, 860, "dark", "en", `document.querySelectorAll('#plot path').length > 9`},
		{"stars.png", "/show/gift?me=mochi", 1280, 900, "light", "en", `document.querySelectorAll('#feed li').length > 6`},
		{"star-phone.png", "/show/gift/s21?me=mochi", 390, 844, "dark", "zh", `seen > 3`},
		{"overlay.png", "/overlay/stars?me=s09", 480, 320, "light", "en", `seen > 3`},
	} {
		look(t, ctx, addr, c.path, c.width, c.height, c.theme, c.lang)
		if c.file == "overlay.png" {
			require.NoError(t,
				chromedp.Do(ctx, script(`document.documentElement.style.background =
					'conic-gradient(from 40deg, #e8b04b, #3f6f8f, #c65b4a, #f4f1e8, #2c4a3e, #e8b04b)'`)))
		}
		require.NoError(t, chromedp.Do(ctx, script(`var seen = 0; document.addEventListener('update', () => seen++)`),
			becomes(`String(`+c.busy+`)`, "true")), c.file)
		shoot(t, ctx, filepath.Join(*pictures, c.file))
	}
}

// sharedDemo is a node with the demo that starts once. Its start is dear: the node makes up two weeks of history.
var sharedDemo = sync.OnceValues(func() (*e2etest.Process, error) { return e2etest.LaunchShared("--demo") })

// demo is the address of the demo that tests share. They look at it and change nothing.
func demo(t testing.TB) string {
	t.Helper()
	var p *e2etest.Process
	var err error
	redistest.Wait(t, "the demo to start", func() { p, err = sharedDemo() })
	require.NoError(t, err)
	require.NotEmpty(t, p.Addr, "the demo did not start:\n%s", p.Output())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the demo said:\n%s", p.Output())
		}
	})
	return p.Addr
}
