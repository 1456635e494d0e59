// Command generate makes what the binary holds of the files of package web: dist/, which is part of the repository. It
// bundles and minifies the scripts and styles, renders the documentation, copies the other files that browsers load, and
// compresses all.
// `go generate ./web` runs it. A test says when dist/ is not what it makes.
//
// `generate kit VERSION FOLDER` writes the npm package of the kit into a folder, for `npm pack`. VERSION is what
// `git describe` says. `make kit` calls it.
//
//	scripts.go      bundles, and scripts and styles without comments and spaces
//	docs.go         the documentation: the list of its pages, and the index of its search
//	docs_parse.go   one page: headings, sections and links
//	docs_render.go  one page as HTML
//	package.go      the npm package
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run is called in the folder of package web.
func run(args []string) error {
	switch {
	case len(args) == 0:
		files, err := generate(os.DirFS("."))
		if err != nil {
			return err
		}
		if err := os.RemoveAll("dist"); err != nil {
			return err
		}
		return write("dist", pack(files))
	case len(args) == 3 && args[0] == "kit":
		files, err := kitPackage(os.DirFS(".."), args[1])
		if err != nil {
			return err
		}
		return write(args[2], files)
	}
	return errors.New("usage: generate, or generate kit VERSION FOLDER")
}

// write writes files, by their names, into a folder.
func write(folder string, files map[string][]byte) error {
	for name, content := range files {
		to := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pack returns files as dist/ holds them: compressed.
func pack(files map[string][]byte) map[string][]byte {
	packed := make(map[string][]byte)
	for name, content := range files {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(content) // a buffer returns no error
		w.Close()
		packed[name+".gz"] = b.Bytes()
	}
	return packed
}

// generate returns the files of dist/ by their names, made of the folder of package web.
func generate(web fs.FS) (map[string][]byte, error) {
	files, err := docsFiles(web)
	if err != nil {
		return nil, err
	}
	assets, err := browserFiles(web)
	maps.Copy(files, assets)
	return files, err
}

// browserFiles returns the files of assets/ and kit/ as browsers get them.
func browserFiles(web fs.FS) (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, folder := range []string{"assets", "kit"} {
		err := fs.WalkDir(web, folder, func(name string, entry fs.DirEntry, err error) error {
			// The others belong to the npm package alone.
			if ext := path.Ext(name); err == nil && !entry.IsDir() && ext != ".json" && ext != ".md" {
				files[name], err = readFile(web, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// readFile reads a file as browsers get it.
func readFile(web fs.FS, name string) ([]byte, error) {
	switch {
	case isBundle(name):
		return bundle(web, name)
	case path.Dir(name) == "kit" && path.Ext(name) == ".js" && !slices.Contains(kitContained, name):
		// A page never holds a part of the kit twice.
		return fmt.Appendf(nil, "export*from'./%s'", path.Base(kitScript)), nil
	}
	content, err := fs.ReadFile(web, name)
	if ext := path.Ext(name); err != nil || ext != ".js" && ext != ".css" {
		return content, err
	}
	return minify(name, content)
}
