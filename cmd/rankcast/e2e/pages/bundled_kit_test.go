//go:build kit && !race

package pages

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// The page of web/testdata/bundler, built with the packed kit, shows the board of a server. `make check-kit` builds it,
// and tells where it is. A board without the attribute server has the origin of the page for its server.
func TestBundledKit(t *testing.T) {
	t.Parallel()
	_, err := os.Stat(filepath.Join(os.Getenv("KIT_SITE"), "index.html"))
	require.NoError(t, err, "KIT_SITE is the folder of the built page")
	p := e2etest.Launch(t, "--origins", "*")
	p.Post("stars", e2etest.Scores("ann", 40, "bob", 30))
	built := http.FileServer(http.Dir(os.Getenv("KIT_SITE")))
	mux := http.NewServeMux()
	mux.Handle("/v1/", httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: p.Addr}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		file := httptest.NewRecorder()
		built.ServeHTTP(file, r)
		w.Header().Set("Content-Type", file.Header().Get("Content-Type"))
		w.WriteHeader(file.Code)
		io.WriteString(w, strings.ReplaceAll(file.Body.String(), "127.0.0.1:8080", p.Addr))
	})
	site := httptest.NewServer(mux)
	defer site.Close()
	do(t, window(t, 800, 600),
		chromedp.Navigate(site.URL), shows("ann", "bob"), becomes(textOf("p"), "2 stars, first ann"),
		script(`var own = document.createElement('live-leaderboard'); own.setAttribute('board', 'stars'); document.body.prepend(own)`),
		shows("ann", "bob"))
	p.Post("stars", `{"member":"bob","score":30}`)
	do(t, window(t, 800, 600), chromedp.Navigate(site.URL), shows("bob", "ann"), becomes(textOf("p"), "2 stars, first bob"))
}
