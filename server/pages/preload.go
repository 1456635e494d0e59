package pages

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
)

// importing finds what a module imports, in the one form that ours are written in: at the
// beginning of a line, by a relative path.
var importing = regexp.MustCompile(`(?m)^(?:import|export)\b[^';]*'(\.{1,2}/[^']+)'`)

// modulesOf lists the modules that one of the files needs, all that those need among them, in
// order of their names. A page that names them has the browser load them at once, and not
// one after the other as it comes to read them.
func modulesOf(files fs.FS, module string) ([]string, error) {
	var found []string
	queue := []string{module}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("a module that %s needs: %w", module, err)
		}
		for _, match := range importing.FindAllSubmatch(content, -1) {
			if other := path.Join(path.Dir(name), string(match[1])); other != module && !slices.Contains(found, other) {
				found = append(found, other)
				queue = append(queue, other)
			}
		}
	}
	slices.Sort(found)
	return found, nil
}
