package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

func TestMembersWithAnyName(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	for _, m := range []string{"a/b", "50% off", "%2F", "ü ñ 星", "<img onerror>", "...", "a?b&c=d", strings.Repeat("x", 128), `"\`, "a+b"} {
		quoted, err := json.Marshal(m)
		require.NoError(t, err)
		a := n.Do("POST", "/v1/boards/b/scores", fmt.Sprintf(`{"member":%s,"score":1}`, quoted))
		require.Equal(t, 200, a.Status, a.Body)
		path := "/v1/boards/b/members/" + url.PathEscape(m)
		var got struct{ Member string }
		a = n.Do("GET", path, "")
		require.Equal(t, 200, a.Status, "%s: %s", m, a.Body)
		a.Into(&got)
		require.Equal(t, m, got.Member)
		require.Equal(t, 200, n.Do("DELETE", path, "").Status)
	}
}
