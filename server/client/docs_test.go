package client

import (
	"os"
	"regexp"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// The documentation shows frames that no example of it can provoke. The client knows each of
// their fields, but for what only people read.
func TestDocumentedFrames(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../web/docs/live.md")
	require.NoError(t, err)
	frames := regexp.MustCompile("(?s)```json frame\n(.*?)```").FindAllSubmatch(page, -1)
	require.NotEmpty(t, frames)
	for _, text := range frames {
		var f struct {
			frame
			Reason string `json:"reason"`
		}
		require.NoError(t, json.Unmarshal(text[1], &f, json.RejectUnknownMembers(true)), "%s", text[1])
		require.Contains(t, []string{"ok", "pong", "error", "snapshot", "delta", "me", "feed", "status", "bye"}, f.Type, "%s", text[1])
	}
}
