package pages

import (
	"maps"
	"path"
	"strings"
	"sync"
)

// kitVersion is the major version of the kit. docs/pages.md says what pages may rely on for as long as it is the same.
const kitVersion = "v1"

// stableCaching is the Cache-Control of the kit under its stable addresses. A year is the usual way to say "for good".
// It is not immutable: a release may change the files, and browsers that ask on a reload get the new ones by ETag.
const stableCaching = "public, max-age=31536000"

// addStableKit adds a stable address for each file of the kit, such as kit/v1/rankcast.js for kit/rankcast.js.
func addStableKit(files map[string]func() *asset) {
	for name, file := range maps.Clone(files) {
		if base, isKit := strings.CutPrefix(name, "kit/"); isKit {
			files[path.Join("kit", kitVersion, base)] = sync.OnceValue(func() *asset {
				stable := *file()
				stable.header = stable.header.Clone()
				stable.header.Set("Cache-Control", stableCaching)
				return &stable
			})
		}
	}
}
