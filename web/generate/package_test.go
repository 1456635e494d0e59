package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"
)

// packageIn writes the package where a bundler of a project looks for it, and returns its folder.
func packageIn(t *testing.T, project string) string {
	folder := filepath.Join(project, "node_modules", "rankcast-kit")
	files, err := kitPackage(os.DirFS("../.."), "v1.2.3")
	require.NoError(t, err)
	require.NoError(t, write(folder, files))
	return folder
}

// A bundler takes the package as it is: by its exports, with nothing else installed, and with the element, which a page
// may import for its effect alone.
func TestPackageIsForBundlers(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	packageIn(t, project)
	result := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: "import 'rankcast-kit'", ResolveDir: project},
		Bundle: true, Format: api.FormatESModule,
	})
	require.Empty(t, result.Errors)
	require.Empty(t, result.Warnings)
	require.Contains(t, string(result.OutputFiles[0].Contents), `customElements.define("live-leaderboard"`)
	require.Contains(t, string(result.OutputFiles[0].Contents), `"new-leader"`, "the second file")
}

// The manifest names files of the package only, the version of the release, and nothing to install.
func TestPackageHasWhatItsManifestNames(t *testing.T) {
	t.Parallel()
	folder := packageIn(t, t.TempDir())
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.NotEmpty(t, content)
		return string(content)
	}
	var manifest struct {
		Version, License string
		Exports          map[string]map[string]string
		Files            []string
	}
	text := read("package.json")
	require.NoError(t, json.Unmarshal([]byte(text), &manifest))
	require.Equal(t, "1.2.3", manifest.Version)
	require.Equal(t, "MIT", manifest.License)
	require.Contains(t, read("LICENSE"), "MIT License")
	require.NotRegexp(t, `ependencies"|"scripts"`, text, "npm installs and runs nothing for it")
	require.Equal(t, map[string]map[string]string{".": {"types": "./rankcast.d.ts", "default": "./rankcast.js"}}, manifest.Exports)
	require.ElementsMatch(t, []string{"rankcast.js", "on-demand.js", "columns.js", "goal.js", "reveal.js", "rankcast.d.ts"}, manifest.Files)

	types := read("rankcast.d.ts")
	require.NotRegexp(t, `(?m)^(import|export .* from)`, types, "the types need no other file")
	list := regexp.MustCompile(`(?s)\nexport \{(.*?)\}`).FindStringSubmatch(read("rankcast.js"))
	require.NotNil(t, list)
	declared := regexp.MustCompile(`(?m)^export (?:function|class|const) (\w+)`).FindAllStringSubmatch(types, -1)
	require.Len(t, declared, 7)
	for _, name := range declared {
		require.Regexp(t, `\b`+name[1]+`\b`, list[1])
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, len(manifest.Files)+3, "and package.json, README.md and LICENSE")
}

// The package of a release has the version of its tag. That of any other commit comes before all releases.
func TestPackageVersion(t *testing.T) {
	t.Parallel()
	for described, want := range map[string]string{
		"v1.2.3": "1.2.3", "1.2.3": "1.2.3", "v2.0.0-rc.1": "2.0.0-rc.1",
		"v1.2.3-4-gabc1234": "0.0.0-commit-v1-2-3-4-gabc1234", "v1.2.3-dirty": "0.0.0-commit-v1-2-3-dirty",
		"0123456": "0.0.0-commit-0123456", "abc1234-dirty": "0.0.0-commit-abc1234-dirty", "v01.2.3": "0.0.0-commit-v01-2-3", "": "0.0.0-commit-",
	} {
		require.Equal(t, want, packageVersion(described), described)
	}
}

// What pages use of version 1 of the kit stays, and the documentation names it. A release may add to these names. One that
// removes any needs another version.
func TestKitKeepsVersion1(t *testing.T) {
	t.Parallel()
	files, err := kitPackage(os.DirFS("../.."), "v1.2.3")
	require.NoError(t, err)
	docs, err := fs.ReadFile(source, "docs/pages.md")
	require.NoError(t, err)
	var script string
	for _, name := range append([]string{kitScript}, kitOnDemand...) {
		script += string(files[path.Base(name)])
	}
	sheets := regexp.MustCompile(`(?m)^.*replaceSync\(.*$`)
	style := strings.Join(sheets.FindAllString(script, -1), "")
	require.NotEmpty(t, style)
	script = sheets.ReplaceAllString(script, "")
	for _, c := range []struct{ in, pattern, names string }{
		{script, `(?s)\nexport \{[^}]*\b%s\b`, "connect subscribe scoreFormat textIn timeLeft words LiveLeaderboard"},
		{script, `\n  set %s\(`, "token"},
		{style, `var\(%s,`,
			"--rankcast-ink --rankcast-quiet --rankcast-line --rankcast-surface --rankcast-accent --rankcast-warn --rankcast-me " +
				"--rankcast-cold --rankcast-gold --rankcast-silver --rankcast-bronze --rankcast-row-height"},
		{style, `\[%s\]`, "moments"},
		// Strings: attributes, slots and fields of a template; parts; events; states and codes.
		{script, `"(?:[^"\n]*[^\w-])?%s(?:[^\w-][^"\n]*)?"`,
			"board top me around format unit decimals heading goal pace server token-url pickable calm hold " +
				"data-state data-final data-frozen data-finish row data-snapshot data-member data-podium data-below name gap avatar portrait " +
				"header title total connection dot state period period-name ends moment list rank score who member countdown finish " +
				"result podium step note reveal heads head unit columns column column-name value " +
				"goal-title goal-text goal-bar goal-fill goal-levels goal-level " +
				"update rank-up overtaken enter-top new-leader pick freeze " +
				"connecting live stale away paused stopped cannot_connect closed no_board no_token unavailable unauthorized forbidden"},
	} {
		for name := range strings.FieldsSeq(c.names) {
			require.True(t, regexp.MustCompile(fmt.Sprintf(c.pattern, name)).MatchString(c.in), "the kit lacks %s", name)
			require.True(t, regexp.MustCompile("[`\"(]"+name+"[`\"(]").Match(docs), "pages.md lacks %s", name)
		}
	}
}
