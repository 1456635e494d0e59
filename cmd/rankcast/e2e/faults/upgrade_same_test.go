//go:build upgrade

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// upgradeReads are requests of all sorts that read.
var upgradeReads = []string{
	"/v1/boards", "/v1/events", "/v1/overview", "/v1/audit",
	"/v1/boards/points/top?limit=50", "/v1/boards/senders/members/u1?around=3", "/v1/boards/laps/at?score=50",
	"/v1/boards/season/count?min_score=1", "/v1/boards/rounds/periods", "/v1/boards/rounds@-1/top",
	"/v1/boards/stars/history", "/v1/boards/stars/history?member=s1", "/v1/boards/stars/search?q=s",
	"/v1/boards/fans:%7Bstar%7D/instances", "/v1/boards/fans:%7Bstar%7D/overview",
	"/v1/members/user/u1/boards",
}

// sameAnswers returns an error unless the answers of a newer version have all that those of an older one have.
func sameAnswers(t testing.TB, older, newer *faultNode) error {
	for _, path := range upgradeReads {
		var answers [2]any
		for i, n := range []*faultNode{older, newer} {
			a := n.Request("GET", path, "")
			require.Equal(t, 200, a.Status, "%s: %s", path, a.Body)
			if err := json.Unmarshal([]byte(a.Body), &answers[i]); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		if err := extends(answers[1], answers[0]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// ofTheNode are fields that differ from node to node, of any version.
var ofTheNode = map[string]bool{"now": true, "rate": true}

// extends returns an error unless a JSON value is another one, but for fields that only the new one has.
func extends(new, old any) error {
	switch old := old.(type) {
	case map[string]any:
		object, _ := new.(map[string]any)
		for name, value := range old {
			if _, there := object[name]; !there {
				return fmt.Errorf("no field %s", name)
			}
			if ofTheNode[name] {
				continue
			}
			if err := extends(object[name], value); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case []any:
		list, _ := new.([]any)
		if len(list) != len(old) {
			return fmt.Errorf("%d elements; the version before has %d", len(list), len(old))
		}
		for i := range old {
			if err := extends(list[i], old[i]); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
		return nil
	}
	if !reflect.DeepEqual(new, old) {
		return fmt.Errorf("%v; the version before has %v", new, old)
	}
	return nil
}

// keyTable is the table "Keys in Redis" of a version's documentation.
type keyTable struct {
	file string
	keys []*regexp.Regexp
}

// readKeyTable reads the table from the sources of a version.
func readKeyTable(t testing.TB, tree string) keyTable {
	table := keyTable{file: filepath.Join(tree, "web", "docs", "operations.md")}
	text, err := os.ReadFile(table.file)
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "\n## Keys in Redis\n")
	section, _, _ = strings.Cut(section, "\n## ")
	placeholders := strings.NewReplacer(
		`\{b\}`, `\{[^{}/]+\}`, `:P:`, `:[^:]*:`, `\{/gift\}`, `\{/[^{}/]+\}`, "KIND", "[^:{}]+", "MEMBER", ".+", "…", ".+")
	for _, row := range regexp.MustCompile("(?m)^\\| (`rc:.*?) \\|").FindAllStringSubmatch(section, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			table.keys = append(table.keys, regexp.MustCompile("^"+placeholders.Replace(regexp.QuoteMeta(name[1]))+"$"))
		}
	}
	require.Greater(t, len(table.keys), 40, "%s changed its form", table.file)
	return table
}

// names reports whether the table has a row for a key or a channel.
func (table keyTable) names(key string) bool {
	for _, pattern := range table.keys {
		if pattern.MatchString(key) {
			return true
		}
	}
	return false
}
