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

// The star-flower page says at each request who may send, and a browser that holds another answer gets it anew.
func TestPageSaysWhoMaySend(t *testing.T) {
	t.Parallel()
	var anonymous atomic.Bool
	may := func(context.Context) bool { return anonymous.Load() }
	for _, c := range []struct {
		cfg       pages.Config
		anonymous bool
		body      string
	}{
		{pages.Config{}, false, `<body data-writes data-anonymous-sends="true">`},
		{pages.Config{AnonymousMaySend: may}, true, `<body data-writes data-anonymous-sends="true">`},
		{pages.Config{AnonymousMaySend: may}, false, `<body data-writes data-anonymous-sends="false">`},
		{pages.Config{AnonymousMaySend: may, ReadOnly: true}, true, `<body data-anonymous-sends="false">`},
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
		anonymous.Store(!c.anonymous)
		before := get("").Header().Get("ETag")
		anonymous.Store(c.anonymous)
		a := get("")
		require.Equal(t, http.StatusOK, a.Code)
		require.Contains(t, a.Body.String(), c.body)
		want := http.StatusNotModified
		if c.cfg.AnonymousMaySend != nil && !c.cfg.ReadOnly {
			want = http.StatusOK
		}
		require.Equal(t, want, get(before).Code)
	}
}
