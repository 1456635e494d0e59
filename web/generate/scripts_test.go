package main

import (
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// A script and all that it imports are one file, and a page loads the kit once.
func TestBundles(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"assets/p/p.js": {Data: []byte("// said nowhere\nimport { say } from './say.js';\nimport { k } from '../../kit/k.js';" +
			"\nsay(k, import.meta.url);\n")},
		"assets/p/say.js": {Data: []byte("import { l } from '../../kit/l.js';\nexport function say(...words) { console.log(l, ...words); }\n")},
		"kit/rankcast.js": {Data: []byte("import sheet from './k.css' with { type: 'css' };\nexport { k } from './k.js';" +
			"\nexport { l } from './l.js';\nuse(sheet, () => import('./on-demand.js'), () => import('./columns.js'));\n")},
		"kit/on-demand.js":  {Data: []byte("export { m } from './m.js';\n")},
		"kit/columns.js":    {Data: []byte("export const columns = 'for some boards';\n")},
		"kit/goal.js":       {Data: []byte("export const goal = 'for one member';\n")},
		"kit/reveal.js":     {Data: []byte("export const reveal = 'for some, too';\n")},
		"kit/m.js":          {Data: []byte("export const m = 'later';\n")},
		"kit/k.js":          {Data: []byte("import { l } from './l.js';\nexport const k = `k${l}`;\n")},
		"kit/k.css":         {Data: []byte("/* said nowhere */\na {\n  color: red;\n}\n")},
		"kit/l.js":          {Data: []byte("export const l = 'the letter';\n")},
		"assets/q/q.js":     {Data: []byte("import './nothing.js';\n")},
		"assets/p/fault.js": {Data: []byte("let a = ;\n")},
	}
	page, err := readFile(files, "assets/p/p.js")
	require.NoError(t, err)
	require.NotContains(t, string(page), "said nowhere")
	require.Contains(t, string(page), "console.log", "what it imports")
	require.Contains(t, string(page), "import.meta.url")
	require.NotContains(t, string(page), "the letter", "the kit has it")
	kit, err := readFile(files, "kit/rankcast.js")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(kit), "the letter"))
	require.Contains(t, string(kit), `replaceSync("a{color:red}")`)
	require.Regexp(t, `export\{\w+ as k,\w+ as l\}`, string(kit))
	require.NotContains(t, string(kit), "later")
	require.Regexp(t, `import\("\./columns\.js\?[0-9a-f]{8}"\)`, string(kit))
	address := regexp.MustCompile(`import\("(\./on-demand\.js\?[0-9a-f]{8})"\)`)
	first := address.FindSubmatch(kit)
	require.NotNil(t, first)
	onDemand, err := readFile(files, "kit/on-demand.js")
	require.NoError(t, err)
	require.Contains(t, string(onDemand), "later")
	files["kit/m.js"] = &fstest.MapFile{Data: []byte("export const m = 'much later';\n")}
	kit, err = readFile(files, "kit/rankcast.js")
	require.NoError(t, err)
	second := address.FindSubmatch(kit)
	require.NotNil(t, second)
	require.NotEqual(t, string(first[1]), string(second[1]), "a browser that has the file of before asks for the new one")
	part, err := readFile(files, "kit/l.js")
	require.NoError(t, err)
	require.Equal(t, "export*from'./rankcast.js'", string(part))
	_, err = readFile(files, "assets/q/q.js")
	require.ErrorContains(t, err, "assets/q/nothing.js")
	_, err = readFile(files, "assets/p/fault.js")
	require.ErrorContains(t, err, "assets/p/fault.js:1")
}

// The script of a page imports nothing but what the kit exports.
func TestScriptsOfPages(t *testing.T) {
	t.Parallel()
	// namesIn returns the names in braces: the first of each "a as b" in an import, the second in an export.
	namesIn := func(list string, i int) (names []string) {
		for _, name := range strings.Split(list, ",") {
			words := strings.Split(name, " as ")
			names = append(names, words[min(i, len(words)-1)])
		}
		return names
	}
	kit, err := readFile(source, kitScript)
	require.NoError(t, err)
	exports := regexp.MustCompile(`export\{([^}]*)\}`).FindSubmatch(kit)
	require.NotNil(t, exports)
	for _, name := range []string{"dashboard", "overlay", "embed", "show", "story", "member", "docs"} {
		script, err := readFile(source, path.Join("assets", name, name+".js"))
		require.NoError(t, err)
		imports := regexp.MustCompile(`import(?:\{([^}]*)\}from)?"([^"]*)"`).FindAllStringSubmatch(string(script), -1)
		require.Equal(t, name == "docs", len(imports) == 0)
		for _, i := range imports {
			require.Equal(t, "../../"+kitScript, i[2], name)
			if i[1] != "" {
				require.Subset(t, namesIn(string(exports[1]), 1), namesIn(i[1], 0), name)
			}
		}
	}
}
