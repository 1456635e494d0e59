package pages_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
	"rankcast/web"
)

// Each file of the kit has a second address, which browsers keep for a year and which pages of other sites may load.
func TestKitHasStableAddresses(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	entries, err := fs.ReadDir(web.Files, "dist/kit")
	require.NoError(t, err)
	require.Greater(t, len(entries), 10)
	for _, entry := range entries {
		newest, stable := n.Do("GET", "/kit/"+entry.Name(), ""), n.Do("GET", "/kit/v1/"+entry.Name(), "", "Origin", "https://elsewhere.example")
		require.Equal(t, 200, stable.Status, entry.Name())
		require.Equal(t, newest.Body, stable.Body, entry.Name())
		require.Equal(t, "no-cache", newest.Header.Get("Cache-Control"))
		require.Equal(t, "public, max-age=31536000", stable.Header.Get("Cache-Control"))
		for _, field := range []string{"Content-Type", "ETag", "Vary", "X-Content-Type-Options"} {
			require.Equal(t, newest.Header.Get(field), stable.Header.Get(field), entry.Name())
		}
		require.Equal(t, "*", stable.Header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "cross-origin", stable.Header.Get("Cross-Origin-Resource-Policy"))

		again := n.Do("GET", "/kit/v1/"+entry.Name(), "", "If-None-Match", stable.Header.Get("ETag"))
		require.Equal(t, 304, again.Status, "a reload costs no transfer")
		require.Equal(t, "public, max-age=31536000", again.Header.Get("Cache-Control"))
	}
	for _, path := range []string{"/kit/v1/", "/kit/v1/nothing.js", "/kit/v2/rankcast.js"} {
		missing := n.Do("GET", path, "")
		require.Equal(t, 404, missing.Status, path)
		require.NotContains(t, missing.Header.Get("Cache-Control"), "max-age", path)
	}
}
