package pages_test

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/pages"
	"rankcast/server/servertest"
	"rankcast/web"
)

// Each file of the kit has a second address, which browsers keep for a year and which pages of other sites may load.
func TestKitHasStableAddresses(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	entries, err := fs.ReadDir(web.Files, "kit")
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

// What pages use of version 1 of the kit stays, and the documentation names it. A release may add to these names. One that
// removes any needs another version.
func TestKitKeepsVersion1(t *testing.T) {
	t.Parallel()
	module, err := pages.KitModule()
	require.NoError(t, err)
	docs, err := fs.ReadFile(web.Files, "docs/pages.md")
	require.NoError(t, err)
	style := regexp.MustCompile(`(?m)^.*replaceSync\(.*$`).FindString(string(module))
	require.NotEmpty(t, style)
	script := strings.Replace(string(module), style, "", 1)
	for _, c := range []struct{ in, pattern, names string }{
		{script, `(?s)\nexport \{[^}]*\b%s\b`, "connect subscribe scoreFormat textIn timeLeft words LiveLeaderboard"},
		{script, `\n  set %s\(`, "token"},
		{style, `var\(%s,`, "--rankcast-ink --rankcast-quiet --rankcast-line --rankcast-surface --rankcast-accent --rankcast-warn --rankcast-me " +
			"--rankcast-gold --rankcast-silver --rankcast-bronze --rankcast-row-height"},
		{style, `\[%s\]`, "moments"},
		// Strings: attributes, slots and fields of a template; parts; events; states and codes.
		{script, `"(?:[^"\n]*[^\w-])?%s(?:[^\w-][^"\n]*)?"`, "board top me around format unit decimals pace server token-url pickable calm hold data-state data-final data-finish " +
			"row data-snapshot data-member data-podium data-below name gap avatar portrait " +
			"header total connection dot state period period-name ends moment list rank score who member countdown finish result podium step note " +
			"update rank-up overtaken enter-top new-leader pick " +
			"connecting live stale away paused stopped cannot_connect closed no_board no_token unavailable unauthorized forbidden"},
	} {
		for name := range strings.FieldsSeq(c.names) {
			require.True(t, regexp.MustCompile(fmt.Sprintf(c.pattern, name)).MatchString(c.in), "the kit lacks %s", name)
			require.True(t, regexp.MustCompile("[`\"(]"+name+"[`\"(]").Match(docs), "pages.md lacks %s", name)
		}
	}
}
