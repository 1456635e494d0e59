package main

import (
	"bytes"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// rename gives the module in a folder the path to. It returns the path before, and how many files it has changed.
func rename(dir, to string) (from string, changed int, err error) {
	if err := module.CheckPath(to); err != nil { // as go get does
		return "", 0, fmt.Errorf("go get would not accept this path: %w", err)
	}
	name := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return "", 0, err
	}
	mod, err := modfile.Parse(name, text, nil)
	if err != nil {
		return "", 0, err
	}
	from = mod.Module.Mod.Path
	for _, r := range mod.Require {
		if within(to, r.Mod.Path) {
			return from, 0, fmt.Errorf("%s is, or lies in, the dependency %s", to, r.Mod.Path)
		}
	}
	files := make(map[string][]byte)
	if err := mod.AddModuleStmt(to); err != nil {
		return from, 0, err
	}
	if files[name], err = mod.Format(); err != nil {
		return from, 0, err
	}
	if err := rewriteAll(dir, from, to, files); err != nil {
		return from, 0, err
	}
	for name, text := range files {
		was, err := os.ReadFile(name)
		if err != nil {
			return from, changed, err
		}
		if bytes.Equal(was, text) {
			continue
		}
		if err := os.WriteFile(name, text, 0o644); err != nil { // keeps the mode of a file that exists
			return from, changed, err
		}
		changed++
	}
	return from, changed, nil
}

// rewriteAll adds the files that import the module.
func rewriteAll(dir, from, to string, files map[string][]byte) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != dir && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		rewrite := rewriteGo
		switch filepath.Ext(name) {
		case ".go":
		case ".md":
			rewrite = rewriteMarkdown
		default:
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if text, err = rewrite(name, text, from, to); err != nil {
			return err
		}
		files[name] = text
		return nil
	})
}

// rewriteGo returns a Go file with other imports, each list in order. Build constraints do not matter.
func rewriteGo(name string, text []byte, from, to string) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	found := false
	for _, spec := range slices.Backward(file.Imports) { // so that the places before stay right
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !within(path, from) {
			continue
		}
		found = true
		begin, end := set.Position(spec.Path.Pos()).Offset, set.Position(spec.Path.End()).Offset
		text = slices.Concat(text[:begin], []byte(strconv.Quote(to+path[len(from):])), text[end:])
	}
	if !found {
		return text, nil
	}
	return format.Source(text)
}

var goExample = regexp.MustCompile("(?s)(\n```go[^\n]*\n)(package .*?)(\n```)")

// rewriteMarkdown returns a Markdown file with other imports in its examples that are whole Go files.
func rewriteMarkdown(name string, text []byte, from, to string) ([]byte, error) {
	var failed error
	text = goExample.ReplaceAllFunc(text, func(found []byte) []byte {
		parts := goExample.FindSubmatch(found)
		code, err := rewriteGo(name, parts[2], from, to)
		if err != nil {
			failed = err
		}
		return slices.Concat(parts[1], bytes.TrimSuffix(code, []byte("\n")), parts[3])
	})
	return text, failed
}

// within reports whether a path is that of a module or of a package in it.
func within(path, module string) bool { return path == module || strings.HasPrefix(path, module+"/") }
