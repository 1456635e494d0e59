package client

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// The documentation shows frames that no example of it can provoke. The client knows each of
// their fields, but for what only people read.
func TestDocumentedFrames(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../web/docs/*.md")
	require.NoError(t, err)
	documented := make(map[string]bool) // pages with frames
	for _, name := range pages {
		page, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, text := range regexp.MustCompile("(?s)```json frame\n(.*?)```").FindAllSubmatch(page, -1) {
			var f struct {
				frame
				Reason string `json:"reason"`
				// of a feed, which the client does not read; here the feed of periods
				Feed    string `json:"feed"`
				Skipped int    `json:"skipped"`
				Items   []struct {
					At   time.Time `json:"at"`
					Data struct {
						Board  string    `json:"board"`
						Period string    `json:"period"`
						Opened time.Time `json:"opened"`
						Ended  time.Time `json:"ended"`
						Total  int       `json:"total"`
						Top    []Entry   `json:"top"`
					} `json:"data"`
				} `json:"items"`
			}
			require.NoError(t, json.Unmarshal(text[1], &f, json.RejectUnknownMembers(true)), "%s: %s", name, text[1])
			require.Contains(t, []string{"ok", "pong", "error", "snapshot", "delta", "board", "me", "feed", "status", "bye"}, f.Type,
				"%s: %s", name, text[1])
			documented[filepath.Base(name)] = true
		}
	}
	require.Equal(t, map[string]bool{"live.md": true, "events.md": true}, documented)
}
