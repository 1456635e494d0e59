package server

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/pages"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

// Each route that writes refuses a body that it cannot read, before its handler does anything: this
// server has no store.
func TestEachWriteRefusesOtherTypes(t *testing.T) {
	t.Parallel()
	s := &Server{pages: pages.New(pages.Config{})}
	e := echo.New()
	e.HTTPErrorHandler = gate.New(gate.Config{Guard: access.NewOpenGuard(), Log: slog.New(slog.DiscardHandler)}).HandleError
	s.addRoutes(e, s.apiRoutes())
	writes := 0
	for _, route := range apiRoutes(t) {
		if route.Method == http.MethodGet {
			continue
		}
		writes++
		wanted := "application/json"
		if strings.HasSuffix(route.Path, "/import") {
			wanted = "application/x-ndjson, text/csv"
		}
		for _, header := range []http.Header{
			{"Content-Type": {"multipart/form-data; boundary=x"}}, {"Content-Type": {"application/xml"}},
			{"Content-Type": {"text/html"}}, {"Content-Type": {"image/png"}},
			{"Content-Type": {"image/svg+json"}}, {"Content-Type": {"application/octet-stream"}},
			{"Content-Type": {"application/jsonp"}}, {"Content-Type": {"application/json-seq"}},
			{"Content-Type": {"json"}}, {"Content-Type": {"*/*"}}, {"Content-Type": {";"}}, {"Content-Type": {"application/"}},
			{"Content-Type": {"application/json; charset"}},
			{"Content-Type": {"application/json; charset=utf-8; charset=utf-16"}}, {"Content-Type": {"application/json, text/csv"}},
			{"Content-Type": {"application/json", "text/csv"}},
			{"Content-Type": {"application/json; charset=utf-16"}}, {"Content-Type": {"application/json; charset=latin1"}},
			{"Content-Type": {"text/plain;charset=windows-1252"}},
			{"Content-Type": {"text/csv; charset=latin1"}}, {"Content-Type": {"application/x-ndjson; charset=utf-16le"}},
			{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}, {"Content-Encoding": {"br"}},
			{"Content-Type": {"text/csv"}, "Content-Encoding": {"identity", "deflate"}},
		} {
			r := httptest.NewRequest(route.Method, parameter.ReplaceAllString(route.Path, "x"), strings.NewReader("{}"))
			r.Header = header.Clone()
			w := httptest.NewRecorder()
			e.ServeHTTP(w, r)
			require.Equal(t, 415, w.Code, "%s %s %v: %s", route.Method, route.Path, header, w.Body)
			require.Contains(t, w.Body.String(), `"code":"unsupported_media_type"`)
			if header["Content-Encoding"] != nil {
				require.Contains(t, w.Body.String(), `"field":"Content-Encoding"`)
				require.Equal(t, "identity", w.Header().Get("Accept-Encoding"))
				continue
			}
			require.Contains(t, w.Body.String(), `"field":"Content-Type"`)
			require.Contains(t, w.Body.String(), "want "+strings.ReplaceAll(wanted, ", ", " or "))
			require.Equal(t, wanted, w.Header().Get("Accept"))
		}
	}
	require.Greater(t, writes, 12)
}
