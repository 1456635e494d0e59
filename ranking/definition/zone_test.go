package definition

import (
	"archive/zip"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// Each zone that boards may have is in the data of the binary: a machine without data of its own accepts it too.
func TestZonesAreInTheBinary(t *testing.T) {
	t.Parallel()
	root := redistest.Must(exec.Command("go", "env", "GOROOT").Output())(t)
	data, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	require.NoError(t, err, "the source of package time/tzdata")
	defer data.Close()
	var known []string
	for _, f := range data.File {
		known = append(known, f.Name)
	}
	names := strings.Fields(zoneNames)
	require.Greater(t, len(names), 590)
	require.True(t, slices.IsSorted(names))
	for _, name := range names {
		require.Contains(t, known, name)
		zone := redistest.Must(loadZone(name))(t)
		require.Equal(t, name, zone.String())
	}
}

// A machine that finds data by another name of a zone refuses that name as all others do.
func TestZonesByNameAlone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Local", "localtime", "Factory", "Europe//Berlin", "Europe/./Berlin", "europe/berlin",
		"right/UTC", "posix/UTC", "posixrules", "../UTC", "/UTC", "Mine/Own"} {
		refused(t, redistest.ErrorOf(loadZone(name)), "timezone", "%q", name)
	}
}
