package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/labstack/echo/v5"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/host"
	"rankcast/server/internal/readable"
	"rankcast/server/pages"
)

// apiRoutes are the routes that http.md documents: all but those of pages, and of HEAD.
func apiRoutes(t *testing.T) (all echo.Routes) {
	e := echo.New()
	s := &Server{pages: pages.New(pages.Config{})}
	s.addRoutes(e, s.apiRoutes())
	for _, route := range e.Router().Routes() {
		if route.Method != http.MethodHead && (strings.HasPrefix(route.Path, "/v1/") || route.Path == "/healthz" ||
			route.Path == readyPath || route.Path == metricsPath) {
			all = append(all, route)
		}
	}
	require.Greater(t, len(all), 30)
	return all
}

// parameter is a parameter of a route, which the documentation names in its own words.
var parameter = regexp.MustCompile(`:[a-z]+`)

// documented is a pattern for the path of a route as the documentation writes it.
func documented(path string) string {
	return parameter.ReplaceAllString(regexp.QuoteMeta(path), `(?:\{[a-z]+\}|…)`)
}

func source(t *testing.T, path string) string {
	b, err := os.ReadFile("../" + path)
	require.NoError(t, err)
	return string(b)
}

// requireRow requires that a table of a page has a row that begins with code of a pattern.
func requireRow(t *testing.T, name, page, pattern string) {
	t.Helper()
	require.True(t, regexp.MustCompile("(?m)^\\| `"+pattern+"` \\|").MatchString(page), "web/docs/%s has no row for %s", name, pattern)
}

func TestDocsNameEachRoute(t *testing.T) {
	t.Parallel()
	page := source(t, "web/docs/http.md")
	for _, route := range apiRoutes(t) {
		requireRow(t, "http.md", page, route.Method+" "+documented(route.Path))
	}
}

// The proxy of the documentation refuses the reads of moderators, and no other ones. The page lists them.
func TestDocsHideReadsOfModerators(t *testing.T) {
	t.Parallel()
	page := source(t, "web/docs/operations.md")
	location := regexp.MustCompile(`(?m)^ +location ~ (\S+) \{\n +return 403;`).FindStringSubmatch(page)
	require.NotNil(t, location, "the configuration of nginx has no location that returns 403")
	needs := needsOf((&Server{}).apiRoutes())
	private := 0
	for _, route := range apiRoutes(t) {
		if route.Method != http.MethodGet {
			continue // the access file decides on those
		}
		path := parameter.ReplaceAllString(route.Path, "fans:s17")
		isPrivate := needs["GET"][route.Path].IsPrivate()
		require.Equal(t, isPrivate, regexp.MustCompile(location[1]).MatchString(path), "%s matches %s", path, location[1])
		if isPrivate {
			requireRow(t, "operations.md", page, documented(route.Path))
			private++
		}
	}
	require.Equal(t, 11, private)
}

// The server of the documentation answers the requests that the proxy of the documentation passes on.
func TestDocsNameTheHostOfTheProxy(t *testing.T) {
	t.Parallel()
	page := source(t, "web/docs/operations.md")
	name := regexp.MustCompile(`(?m)^ +server_name (\S+);`).FindStringSubmatch(page)
	flag := regexp.MustCompile(`(?m)^bin/rankcast serve .*--hosts (\S+)`).FindStringSubmatch(page)
	require.NotNil(t, name, "the configuration of nginx names no server")
	require.NotNil(t, flag, "the server behind the proxy has no --hosts")
	require.Contains(t, page, "proxy_set_header Host $http_host;")
	require.True(t, host.New([]string{flag[1]}, slog.Default()).Allows(name[1]))
}

// The documentation says of each route what it needs of its caller.
func TestDocsNameTheNeedOfEachRoute(t *testing.T) {
	t.Parallel()
	page := source(t, "web/docs/security.md")
	for _, r := range (&Server{}).apiRoutes() {
		scope, grant := "none", ".*"
		if r.need.Scope != 0 {
			scope = "`" + r.need.Scope.String() + "`"
		}
		switch {
		case r.need.Credentials:
			grant = "any key or token"
		case r.need.Scope == access.ScopeAdmin || r.need.Scope == access.ScopeMetrics:
			grant = ""
		case r.need.Resource != access.NoResource:
			grant = "`" + r.need.Resource.String() + "s`"
		case strings.HasSuffix(r.path, "/session"):
			grant = ""
		case r.need.Scope != 0:
			grant = "the list shows what the caller may .*"
		}
		row := regexp.MustCompile("(?m)^\\| `" + r.method + " " + documented(r.path) + "` \\| " + scope + " \\| *" + grant + " *\\|$")
		require.Regexp(t, row, page, "%s %s", r.method, r.path)
	}
}

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
		switch {
		case strings.HasSuffix(route.Path, "/import"):
			wanted = "application/x-ndjson, text/csv"
		case route.Method == http.MethodPut && (route.Path == boardPath || route.Path == eventPath):
			wanted = "application/json, application/yaml"
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
			{"Content-Type": {"text/plain;charset=windows-1252"}}, {"Content-Type": {"application/yaml; charset=utf-16"}},
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

// A list of definitions is read and encoded once for each version of the definitions.
func TestDefinitionsAreEncodedOnce(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		rdb := redistest.Dial(t, url)
		store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
		t.Cleanup(store.Close)
		cache, reads := newDefinitionsCache(), 0
		get := func() string {
			t.Helper()
			version, err := store.DefinitionsVersion(t.Context())
			require.NoError(t, err)
			list, err := listDefinitions(t.Context(), cache, version, func(ctx context.Context, to *readable.List) error {
				reads++
				boards, err := store.Boards(ctx)
				for range boards {
					require.NoError(t, to.Add(access.Resource{}, 1))
				}
				return err
			})
			require.NoError(t, err)
			return string(list.Whole())
		}
		for i, want := range []string{"1", "1,1"} {
			require.NoError(t, store.DefineBoard(t.Context(), definition.Board{Name: fmt.Sprint("b", i)}, ranking.Moderator{}))
			for range 3 {
				require.Equal(t, "["+want+"]", get())
				require.Equal(t, i+1, reads)
			}
		}
	})
}
