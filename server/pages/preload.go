package pages

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
)

// importPattern matches an import of a module, in the one form that the embedded scripts use: at the
// beginning of a line, by a relative path.
var importPattern = regexp.MustCompile(`(?m)^(?:import|export)\b[^';]*'(\.{1,2}/[^']+\.js)'`)

// preloadsOf lists the modules of a page's script, as the page at a root links them.
func preloadsOf(files fs.FS, script, root string) ([]string, error) {
	modules, err := modulesOf(files, script)
	for i := range modules {
		modules[i] = root + modules[i]
	}
	return modules, err
}

// modulesOf lists the modules that a script imports, directly and indirectly, sorted by name. A page
// that preloads them lets the browser load them at the same time, not one after the other.
func modulesOf(files fs.FS, module string) ([]string, error) {
	var found []string
	queue := []string{module}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read a module that %s imports: %w", module, err)
		}
		for _, match := range importPattern.FindAllSubmatch(content, -1) {
			if other := path.Join(path.Dir(name), string(match[1])); other != module && !slices.Contains(found, other) {
				found = append(found, other)
				queue = append(queue, other)
			}
		}
	}
	slices.Sort(found)
	return found, nil
}
