package pages

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// A page names each module that its script needs, however it comes to need it.
func TestPreloadedModules(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"assets/p.js":   {Data: []byte("// import './not.js'\nimport { a } from './a.js';\nimport '../kit/k.js';\n")},
		"assets/a.js":   {Data: []byte("import {\n  k,\n} from '../kit/k.js';\nconst text = \"import './not.js'\";\n")},
		"kit/k.js":      {Data: []byte("export { l } from './l.js';\nexport const a = 'b';\n")},
		"kit/l.js":      {Data: []byte("import './k.js';\n")},
		"assets/not.js": {},
	}
	modules, err := modulesOf(files, "assets/p.js")
	require.NoError(t, err)
	require.Equal(t, []string{"assets/a.js", "kit/k.js", "kit/l.js"}, modules)
	delete(files, "kit/l.js")
	_, err = modulesOf(files, "assets/p.js")
	require.ErrorContains(t, err, "kit/l.js")
}
