package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// kitScript is the kit as browsers load it. A page loads it once: scripts of pages import it, and do not contain it. It loads each
// of kitOnDemand when it needs that.
const kitScript = "kit/rankcast.js"

var kitOnDemand = []string{"kit/on-demand.js", "kit/columns.js", "kit/goal.js", "kit/reveal.js"}

// kitContained are no part of the kit's first file. A file of kitOnDemand and a page that need one contain it.
var kitContained = []string{"kit/claims.js", "kit/column-texts.js", "kit/goals.js", "kit/steps.js"}

// docsScript shows no board, so it contains the few functions of the kit that it uses.
const docsScript = "assets/docs/docs.js"

// namespace is where the modules of a bundle are, in terms of esbuild: not in the file system.
const namespace = "web"

// isBundle reports whether browsers get a script together with the modules that it imports: the files of the kit, and the script
// of each page, assets/PAGE/PAGE.js. One file needs one request, and compresses better than many: eleven modules of the
// kit had 15.8 KB, and 13.1 KB as one file.
func isBundle(name string) bool {
	folder, file := path.Split(name)
	return name == kitScript || slices.Contains(kitOnDemand, name) || strings.HasPrefix(name, "assets/") && path.Base(folder)+".js" == file
}

// bundle joins a script and the modules that it imports into one module, without comments, spaces and long names.
func bundle(files fs.FS, name string) ([]byte, error) {
	small := api.BuildOptions{MinifySyntax: true, MinifyIdentifiers: true, MinifyWhitespace: true}
	if name != kitScript {
		return join(files, name, nil, small)
	}
	// Browsers keep all files for long. The query has them load one anew if it has changed.
	queries := make(map[string]string)
	for _, later := range kitOnDemand {
		content, err := bundle(files, later)
		if err != nil {
			return nil, err
		}
		queries[later] = fmt.Sprintf("?%x", sha256.Sum256(content))[:9]
	}
	return join(files, name, queries, small)
}

// join joins a script and the modules that it imports into one module. queries follow the addresses of kitOnDemand, options say
// how small the module becomes.
func join(files fs.FS, name string, queries map[string]string, options api.BuildOptions) ([]byte, error) {
	resolve := func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		module := path.Join(path.Dir(a.Importer), a.Path)
		if slices.Contains(kitOnDemand, module) && a.Kind == api.ResolveJSDynamicImport {
			return api.OnResolveResult{Path: "./" + path.Base(module) + queries[module], External: true}, nil
		}
		if path.Dir(module) == "kit" && !slices.Contains(kitContained, module) && path.Dir(name) != "kit" && name != docsScript {
			return api.OnResolveResult{Path: "../../" + kitScript, External: true}, nil
		}
		return api.OnResolveResult{Path: module, Namespace: namespace}, nil
	}
	load := func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		content, err := fs.ReadFile(files, a.Path)
		if err == nil && path.Ext(a.Path) == ".css" {
			content, err = cssModule(a.Path, content)
		}
		text := string(content)
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, err
	}
	options.Bundle, options.Format, options.Charset, options.LegalComments = true, api.FormatESModule, api.CharsetUTF8, api.LegalCommentsNone
	options.Stdin = &api.StdinOptions{Contents: fmt.Sprintf("export * from './%s'", path.Base(name)), Sourcefile: path.Dir(name) + "/entry"}
	options.Plugins = []api.Plugin{{Name: namespace, Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, resolve)
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: namespace}, load)
	}}}
	result := api.Build(options)
	if err := joinErrors(result.Errors); err != nil {
		return nil, err
	}
	return result.OutputFiles[0].Contents, nil
}

// cssModule is a module whose default export is a style sheet, as a script imports it with { type: 'css' }. Some browsers
// cannot import one yet.
func cssModule(name string, content []byte) ([]byte, error) {
	small, err := minify(name, content)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(strings.TrimSpace(string(small)))
	return fmt.Appendf(nil, "const sheet = new CSSStyleSheet(); sheet.replaceSync(%s); export default sheet;", text), err
}

// minify removes comments and white space from a script or a style sheet.
func minify(name string, content []byte) ([]byte, error) {
	result := api.Transform(string(content), api.TransformOptions{
		MinifySyntax: true, MinifyIdentifiers: true, MinifyWhitespace: true, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		Sourcefile: name, Loader: map[string]api.Loader{".js": api.LoaderJS, ".css": api.LoaderCSS}[path.Ext(name)],
	})
	return result.Code, joinErrors(result.Errors)
}

// joinErrors returns the errors of esbuild with their places, or nil for none.
func joinErrors(all []api.Message) error {
	if len(all) == 0 {
		return nil
	}
	return errors.New(strings.Join(api.FormatMessages(all, api.FormatMessagesOptions{}), ""))
}
