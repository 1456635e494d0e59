package server_test

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// auditPage is a page of the audit. A line has strings but for its scores.
type auditPage struct {
	Audit  []map[string]any
	Cursor *string
}

// readAudit reads a page of the audit.
func readAudit(n *servertest.Node, query url.Values) (page auditPage) {
	n.Require(200, "GET", "/v1/audit?"+query.Encode(), "").Into(&page)
	return page
}

// The console offers each action as a filter, in the same order.
func TestConsoleNamesEachAction(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../web/assets/console/audit.js")
	require.NoError(t, err)
	require.Contains(t, strings.ReplaceAll(string(script), "\n ", ""), "const ACTIONS = ['"+strings.Join(ranking.Actions, "', '")+"'];")
}

// A filter of the audit takes the lines that have the same, and no others: alone and together with another filter.
func TestAuditFilters(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b", Kind: "user"}, definition.Board{Name: "f:{x}"},
		definition.Board{Name: "f:{x}:{y}"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(201, "PUT", "/v1/events/gift", `{"updates":[{"board":"b","member":"{user}","score":1}]}`)
		n.Require(201, "PUT", "/v1/events/tip", `{"updates":[{"board":"b","member":"{user}","score":1}]}`)
		n.Require(200, "PUT", "/v1/boards/f:%7Bx%7D", `{"title":"F"}`)
		n.Require(200, "POST", "/v1/events/gift", `{"id":"1","user":"ann"}`)
		n.Require(200, "POST", "/v1/events/gift/take-back", `{"id":"1","by":"kim"}`)
		for _, board := range []string{"b", "f:1", "f:1:2"} {
			for _, member := range []string{"ann", "bob"} {
				n.Require(204, "PUT", "/v1/boards/"+board+"/hidden/"+member+"?by=kim", "")
			}
			n.Require(204, "DELETE", "/v1/boards/"+board+"/hidden/ann?by=joe", "")
		}
		for _, act := range []string{"freeze", "unfreeze", "freeze", "reveal"} {
			body := `{"reason":"x","by":"kim"}`
			if act == "reveal" {
				body = `{"all":true,"by":"kim"}`
			}
			n.Require(200, "POST", "/v1/boards/f:1/"+act, body)
		}
		n.Require(200, "PUT", "/v1/boards/f:1/members/bob/score", `{"score":3,"reason":"lost","by":"kim"}`)
		n.Require(204, "PUT", "/v1/hidden/user/bob?by=joe", "")
		n.Require(202, "DELETE", "/v1/members/user/ann?by=joe&reason=asked", "")
		n.Require(204, "DELETE", "/v1/boards/f:1", "")
		n.Require(204, "DELETE", "/v1/boards/f:%7Bx%7D", "")
		n.Require(204, "DELETE", "/v1/events/tip", "")

		all := readAudit(n, nil).Audit
		for _, action := range ranking.Actions {
			require.True(t, slices.ContainsFunc(all, func(a map[string]any) bool { return a["action"] == action }), action)
		}
		chosen := func(query url.Values, takes func(a map[string]any) bool) {
			t.Helper()
			want := slices.DeleteFunc(slices.Clone(all), func(a map[string]any) bool { return !takes(a) })
			require.NotEmpty(t, want)
			require.Equal(t, auditPage{Audit: want}, readAudit(n, query), query)
			// In pages of one line.
			query.Set("limit", "1")
			for i, line := range want {
				page := readAudit(n, query)
				require.Equal(t, []map[string]any{line}, page.Audit, query)
				if page.Cursor == nil {
					require.Equal(t, len(want)-1, i, query)
					break
				}
				query.Set("cursor", *page.Cursor)
			}
		}
		for _, line := range all {
			for _, field := range []string{"action", "board", "kind", "member", "event", "by"} {
				if value, ok := line[field].(string); ok && value != "f:{x}" {
					chosen(url.Values{field: {value}}, func(a map[string]any) bool { return a[field] == value })
				}
			}
		}
		chosen(url.Values{"by": {"kim"}, "member": {"bob"}, "action": {"hide"}},
			func(a map[string]any) bool { return a["by"] == "kim" && a["member"] == "bob" && a["action"] == "hide" })
		// A family takes its instances too, and no other family.
		chosen(url.Values{"board": {"f:{x}"}}, func(a map[string]any) bool { return a["board"] == "f:{x}" || a["board"] == "f:1" })

		require.Equal(t, auditPage{Audit: []map[string]any{}}, readAudit(n, url.Values{"board": {"none"}}))
		for query, field := range map[string]string{
			"action=bann": "action", "action=": "action", "board=B": "board", "board=b@-1": "board", "board=f:%7Bx": "board", "kind=a+b": "kind",
			"member=": "member", "event=a/b": "event", "by=%00": "by", "reason=x": "reason", "by=a&by=b": "by",
		} {
			servertest.RequireProblem(t, n.Do("GET", "/v1/audit?"+query, ""), 400, "invalid_request", field)
		}
		require.Contains(t, n.Do("GET", "/v1/audit?action=bann", "").Body, "hide, show, set, take_back, erase, freeze")
	})
}

// A request with a filter looks at a bounded number of lines, and its cursor leads on to older ones.
func TestAuditFilterReachesOldLines(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	by := ranking.Moderator{By: "old"}
	require.NoError(t, n.Store.DefineBoard(t.Context(), definition.Board{Name: "first"}, by))
	var many definition.Set
	for i := range ranking.MaxAudit - 1 {
		many.Boards = append(many.Boards, definition.Board{Name: fmt.Sprint("b", i)})
	}
	require.NoError(t, n.Store.DefineAudited(t.Context(), many, ranking.Moderator{}))
	query := url.Values{"by": {"old"}}
	page := readAudit(n, query)
	require.Len(t, page.Audit, 1, "the last of the lines that one request looks at")
	require.NotNil(t, page.Cursor)
	many.Boards[0].Title = definition.Label{"": "B"}
	require.NoError(t, n.Store.DefineAudited(t.Context(), many, ranking.Moderator{}))
	page = readAudit(n, query)
	require.Empty(t, page.Audit)
	query.Set("cursor", *page.Cursor)
	page = readAudit(n, query)
	require.Len(t, page.Audit, 1)
	require.Nil(t, page.Cursor)
}
