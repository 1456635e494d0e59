package server_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// boardPage is a page of an overview.
type boardPage struct {
	Total  int
	Boards []struct {
		Board  string
		Total  int
		Memory *int64
		Leader *struct{ Member string }
	}
	Families []struct {
		Board     string
		Instances int
		Memory    *int64
	}
	Cursor *string
}

// names are the boards and families of the page, by name.
func (p boardPage) names() []string {
	names := []string{}
	for _, b := range p.Boards {
		names = append(names, b.Board)
	}
	for _, f := range p.Families {
		names = append(names, f.Board)
	}
	slices.Sort(names)
	return names
}

// overviewPages goes through all pages of an overview. Each one but the last is full.
func overviewPages(t *testing.T, n *servertest.Node, search string, limit int, header ...string) (names []string) {
	t.Helper()
	for cursor, pages := "", 0; cursor != "" || pages == 0; pages++ {
		var p boardPage
		q := url.Values{"limit": {fmt.Sprint(limit)}, "cursor": {cursor}}
		if search != "" {
			q.Set("search", search)
		}
		n.Require(200, "GET", "/v1/overview?"+q.Encode(), "", header...).Into(&p)
		names, cursor = append(names, p.names()...), ""
		if p.Cursor != nil {
			cursor = *p.Cursor
			require.Len(t, p.names(), limit)
		}
		require.GreaterOrEqual(t, p.Total, len(names))
		require.Equal(t, cursor == "", p.Total == len(names))
	}
	return names
}

// Pages of any size have all boards and families whose name or title has the words of a search, with what the overview tells.
func TestOverviewPages(t *testing.T) {
	setup := servertest.With(servertest.Config{},
		definition.Board{Name: "alpha", Title: definition.Label{"en": "Weekly Élite", "zh": "明星榜"}},
		definition.Board{Name: "beta", Period: "week"}, definition.Board{Name: "elite.old"}, definition.Board{Name: "hot", Shards: 2},
		definition.Board{Name: "fans:{star}", Title: definition.Label{"": "Fans of {star}"}},
		definition.Board{Name: "sum", Union: &definition.Union{Of: []string{"alpha"}}, Title: definition.Label{"": "<b>all</b> & weekly"}})
	setup.OnEngines(t, func(t *testing.T, n *servertest.Node) {
		for _, board := range []string{"alpha", "hot", "fans:s1"} {
			n.Require(200, "POST", "/v1/boards/"+board+"/scores", `{"updates":[{"member":"u1","score":1},{"member":"u2","score":2}]}`)
		}
		all := []string{"alpha", "beta", "elite.old", "fans:{star}", "hot", "sum"}
		for limit := range 7 {
			require.Equal(t, all, overviewPages(t, n, "", limit+1), "pages of %d", limit+1)
		}
		for search, want := range map[string][]string{
			"weekly": {"alpha", "sum"}, "WEEKLY elite": {"alpha"}, "elite": {"alpha", "elite.old"}, "ÉLITE": {"alpha", "elite.old"}, "星": {"alpha"},
			"fans {": {"fans:{star}"}, "<B>": {"sum"}, "a": {"alpha", "beta", "fans:{star}", "sum"}, "nothing": nil, "alpha beta": nil, ".*": nil,
			"%": nil, "\u200d": nil, " hot ": {"hot"},
		} {
			if search == "\u200d" { // nothing is left of it
				servertest.RequireProblem(t, n.Do("GET", "/v1/overview?search="+url.QueryEscape(search), ""), 400, "invalid_request", "search")
				continue
			}
			require.Equal(t, want, overviewPages(t, n, search, 2), "%q", search)
		}
		var p boardPage
		n.Require(200, "GET", "/v1/overview?search=alpha", "").Into(&p)
		require.Nil(t, p.Cursor)
		require.Equal(t, []any{2, "u2"}, []any{p.Boards[0].Total, p.Boards[0].Leader.Member})
		require.Positive(t, *p.Boards[0].Memory)
		n.Require(200, "GET", "/v1/overview?search=beta", "").Into(&p)
		require.Zero(t, *p.Boards[0].Memory, "it was never written to")
		n.Require(200, "GET", "/v1/overview?search=hot", "").Into(&p)
		require.Positive(t, *p.Boards[0].Memory)
		n.Require(200, "GET", "/v1/overview?search=fans", "").Into(&p)
		require.Equal(t, 1, p.Families[0].Instances)
		require.Nil(t, p.Families[0].Memory)
		require.NotContains(t, n.Require(200, "GET", "/v1/overview", "").Body, `"memory"`)

		// A board is listed as soon as it is defined, and no longer once it is deleted.
		n.Require(201, "PUT", "/v1/boards/new", `{"title":"Brand new"}`)
		require.Equal(t, []string{"new"}, overviewPages(t, n, "brand", 5))
		n.Require(204, "DELETE", "/v1/boards/new", "")
		require.Empty(t, overviewPages(t, n, "brand", 5))

		for query, field := range map[string]string{
			"limit=0": "limit", "limit=101": "limit", "limit=x": "limit", "cursor=*": "cursor", "search=": "search", "search=+": "search",
			"search=%FF": "search", "search=%00": "search", "search=" + strings.Repeat("a", 129): "search", "search=a&search=b": "search",
			"q=a": "q",
		} {
			servertest.RequireProblem(t, n.Do("GET", "/v1/overview?"+query, ""), 400, "invalid_request", field)
		}
	})
}

// A page of an overview of very many boards reads these from Redis, and no others.
func TestOverviewPageReadsItsBoardsAlone(t *testing.T) {
	t.Parallel()
	const boards, limit = 1000, 10
	r := redistest.Start(t)
	var defined []definition.Board
	for i := range boards {
		defined = append(defined, definition.Board{Name: fmt.Sprintf("b%03d", i)})
	}
	n := servertest.Start(t, r.URL(), servertest.Config{}, defined...)
	before := scriptCalls(t, r)
	var p boardPage
	n.Require(200, "GET", fmt.Sprintf("/v1/overview?search=b5&limit=%d", limit), "").Into(&p)
	require.Equal(t, []any{100, limit, "b500"}, []any{p.Total, len(p.Boards), p.Boards[0].Board})
	require.Less(t, scriptCalls(t, r)-before, limit+30, "with what a node does by itself")
}

// A page shows, counts and names by its cursor only what the caller may read, and costs tokens by the boards that it reads.
func TestOverviewPageByRights(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, "keys:\n"+keyLine("some", `scopes: [read], boards: [a1, "fam:*"]`)+
		keyLine("poor", `scopes: [read], boards: ["*"], rate: 8/m`)+keyLine("admin", `scopes: [admin]`))
	var defined []definition.Board
	for i := range 40 {
		defined = append(defined, definition.Board{Name: fmt.Sprintf("a%d", i)})
	}
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}},
		append(defined, definition.Board{Name: "fam:{x}"})...)
	require.Equal(t, []string{"a1", "fam:{x}"}, overviewPages(t, n, "", 1, bearer(g.Key("some"))...))
	require.Equal(t, []string{"a1"}, overviewPages(t, n, "a", 1, bearer(g.Key("some"))...)[:1])
	require.Len(t, overviewPages(t, n, "", 7, bearer(g.Key("admin"))...), 41)
	n.Require(200, "GET", "/v1/overview?limit=41", "", bearer(g.Key("poor"))...) // five tokens
	servertest.RequireProblem(t, n.Do("GET", "/v1/overview?limit=40", "", bearer(g.Key("poor"))...), 429, "rate_limited", "")
}
