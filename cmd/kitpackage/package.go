package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"rankcast/server/pages"
)

// module is the file of the package that holds the kit.
const module = "rankcast.js"

// writePackage writes the package into a folder: package.json with its version, the files that package.json names, and
// those that npm always packs. root is the root of the repository, version what `git describe` says.
//
// The module is the one that the server bundles: the kit's own modules import a style sheet, and few bundlers can do that.
func writePackage(root, folder, version string) error {
	kit := filepath.Join(root, "web", "kit")
	manifest, err := os.ReadFile(filepath.Join(kit, "package.json"))
	if err != nil {
		return err
	}
	var named struct{ Files []string }
	if err := json.Unmarshal(manifest, &named); err != nil {
		return fmt.Errorf("package.json: %w", err)
	}
	from := map[string]string{"README.md": kit, "LICENSE": root}
	for _, name := range named.Files {
		from[name] = kit
	}
	content := make(map[string][]byte)
	for name, source := range from {
		if content[name], err = os.ReadFile(filepath.Join(source, name)); err != nil {
			return err
		}
	}
	if content[module], err = pages.KitModule(); err != nil {
		return err
	}
	content["package.json"] = bytes.Replace(manifest, []byte("{"), fmt.Appendf(nil, "{\n  \"version\": %q,", packageVersion(version)), 1)
	for name, text := range content {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
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
