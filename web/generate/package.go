package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"

	"github.com/evanw/esbuild/pkg/api"
)

// kitPackage returns the files of the npm package: package.json with its version, the files that package.json names, and
// those that npm always packs. root is the root of the repository, version what `git describe` says.
//
// The modules are bundled: the kit's own modules import a style sheet, and few bundlers can do that. They keep names, lines
// and many comments, so that people can read them while they look for a fault.
func kitPackage(root fs.FS, version string) (map[string][]byte, error) {
	const kit = "web/kit"
	manifest, err := fs.ReadFile(root, kit+"/package.json")
	if err != nil {
		return nil, err
	}
	var named struct{ Files []string }
	if err := json.Unmarshal(manifest, &named); err != nil {
		return nil, fmt.Errorf("package.json: %w", err)
	}
	from := map[string]string{"README.md": kit, "LICENSE": "."}
	for _, name := range named.Files {
		from[name] = kit
	}
	content := make(map[string][]byte)
	for name, source := range from {
		if content[name], err = fs.ReadFile(root, path.Join(source, name)); err != nil {
			return nil, err
		}
	}
	web, err := fs.Sub(root, "web")
	if err != nil {
		return nil, err
	}
	for _, name := range append([]string{kitScript}, kitOnDemand...) {
		if content[path.Base(name)], err = join(web, name, nil, api.BuildOptions{}); err != nil {
			return nil, err
		}
	}
	content["package.json"] = bytes.Replace(manifest, []byte("{"), fmt.Appendf(nil, "{\n  \"version\": %q,", packageVersion(version)), 1)
	return content, nil
}

var (
	// release is a tag of a release, or of a version before it (https://semver.org).
	release = regexp.MustCompile(`^v?((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?)$`)
	// afterRelease ends what `git describe` says of a commit after a tag, or of changed files.
	afterRelease = regexp.MustCompile(`-\d+-g[0-9a-f]+$|-dirty$`)
	// foreign is what a version of npm must not hold.
	foreign = regexp.MustCompile(`[^0-9A-Za-z-]+`)
)

// packageVersion returns the version of the package: that of the tag, or for any other commit one that npm accepts, and
// that comes before all releases.
func packageVersion(described string) string {
	if match := release.FindStringSubmatch(described); match != nil && !afterRelease.MatchString(described) {
		return match[1]
	}
	return "0.0.0-commit-" + foreign.ReplaceAllString(described, "-")
}
