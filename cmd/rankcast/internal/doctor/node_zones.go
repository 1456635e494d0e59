package doctor

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/diagnosis"
)

const zonesCheck = "time zones"

// zonesOf lists the time zones of boards.
func zonesOf(boards []definition.Board) (zones []string) {
	for _, b := range boards {
		if b.Timezone != "" {
			zones = append(zones, b.Timezone)
		}
	}
	return zones
}

// zoneFolders are the folders in which package time looks for the data of time zones, in order. (A node on Windows
// has the data of the program only.)
func zoneFolders() []string {
	folders := []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"}
	if own := os.Getenv("ZONEINFO"); own != "" {
		folders = append([]string{own}, folders...)
	}
	return folders
}

// timeZones checks the data of time zones that a node on this machine uses.
func timeZones(used []string) diagnosis.Finding { return judgeZones(zoneFolders(), used) }

// judgeZones checks the data in folders. The program has the data of zones that no folder has.
func judgeZones(folders, used []string) diagnosis.Finding {
	f := diagnosis.Finding{Check: zonesCheck}
	used = slices.Compact(slices.Sorted(slices.Values(used)))
	at := slices.IndexFunc(folders, func(folder string) bool { return isFile(filepath.Join(folder, "UTC")) })
	var lacking []string // zones that the system has no data of
	for _, zone := range used {
		if _, err := time.LoadLocation(zone); err != nil {
			f.Level, f.Found, f.Fix = diagnosis.Problem, fmt.Sprintf("no data of %s: %v", zone, err), "install the newest tzdata of the system"
			return f
		}
		if !slices.ContainsFunc(folders, func(folder string) bool { return isFile(filepath.Join(folder, zone)) }) {
			lacking = append(lacking, zone)
		}
	}
	program := "this program (" + runtime.Version() + ")"
	switch {
	case at < 0:
		f.Found = "data of " + program + ": this machine has none"
	case len(lacking) > 0:
		f.Level, f.Found = diagnosis.Warning, fmt.Sprintf("data of %s, but of %s for %s, which the system lacks", system(folders[at]), program, strings.Join(lacking, ", "))
		f.Fix = "install tzdata, and on Debian and Ubuntu tzdata-legacy, on all nodes: all need the same data"
	default:
		f.Found = "data of " + system(folders[at])
	}
	if len(used) > 0 && len(lacking) == 0 {
		f.Found += "; used: " + strings.Join(used, ", ")
	}
	return f
}

// system names a folder with its version, where a file tells that.
func system(folder string) string {
	const head = "# version "
	file, err := os.Open(filepath.Join(folder, "tzdata.zi"))
	if err != nil {
		return folder
	}
	defer file.Close()
	line, _ := bufio.NewReader(file).ReadString('\n')
	if version, ok := strings.CutPrefix(strings.TrimSpace(line), head); ok {
		return folder + ", version " + version
	}
	return folder
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
