package pages_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/labstack/echo/v5"
	"github.com/stretchr/testify/require"

	"rankcast/server/pages"
)

// showReader reads that there is no event to show, and whether anonymous may send.
type showReader struct {
	pages.Reader
	send atomic.Bool
}

func (r *showReader) Show(context.Context) pages.Show {
	return pages.Show{AnonymousMaySend: r.send.Load()}
}

func (r *showReader) Version() uint64 { return 0 }

// The star-flower page says at each request who may send, and a browser that holds another answer gets it anew.
func TestPageSaysWhoMaySend(t *testing.T) {
	t.Parallel()
	may := new(showReader)
	for _, c := range []struct {
		cfg       pages.Config
		anonymous bool
		body      string
	}{
		{pages.Config{}, false, `<body data-writes data-anonymous-sends="true">`},
		{pages.Config{Reader: may}, true, `<body data-writes data-anonymous-sends="true">`},
		{pages.Config{Reader: may}, false, `<body data-writes data-anonymous-sends="false">`},
		{pages.Config{Reader: may, ReadOnly: true}, true, `<body data-anonymous-sends="false">`},
	} {
		e := echo.New()
		pages.New(c.cfg).Register(func(path string, h echo.HandlerFunc) { e.GET(path, h) })
		get := func(tag string) *httptest.ResponseRecorder {
			r := httptest.NewRequest("GET", "/stars", nil)
			r.Header.Set("If-None-Match", tag)
			w := httptest.NewRecorder()
			e.ServeHTTP(w, r)
			return w
		}
		may.send.Store(!c.anonymous)
		before := get("").Header().Get("ETag")
		may.send.Store(c.anonymous)
		a := get("")
		require.Equal(t, http.StatusOK, a.Code)
		require.Contains(t, a.Body.String(), c.body)
		want := http.StatusNotModified
		if c.cfg.Reader != nil && !c.cfg.ReadOnly {
			want = http.StatusOK
		}
		require.Equal(t, want, get(before).Code)
	}
}
