package server_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/definition/definitiontest"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

func TestProfilesOverHTTP(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b", Kind: "user"},
		definition.Board{Name: "stars", Kind: "star"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		servertest.RequireProblem(t, n.Do("GET", "/v1/members/user/u4", ""), 404, "unknown_member", "member")
		a := n.Require(201, "PUT", "/v1/members/user/u4", `{"name":"<b>Ann</b>","avatar":"/a.png"}`)
		require.JSONEq(t, `{"kind":"user","member":"u4","name":"<b>Ann</b>","avatar":"/a.png"}`, a.Body)
		require.Equal(t, a.Body, n.Do("GET", "/v1/members/user/u4", "").Body)
		n.Require(201, "PUT", "/v1/members/user/a%2Fb", `{"name":"Slash"}`)
		require.JSONEq(t, `{"kind":"user","member":"a/b","name":"Slash"}`, n.Do("GET", "/v1/members/user/a%2Fb", "").Body)
		for body, field := range map[string]string{
			`{}`: "name", `{"name":""}`: "name", `{"name":7}`: "name", `{"name":"a","data":1}`: "data", `{"name":null}`: "name",
			`{"avatar":"javascript:alert(1)"}`: "avatar", `[]`: "body", `{"name":"` + strings.Repeat("a", 129) + `"}`: "name",
		} {
			servertest.RequireProblem(t, n.Do("PUT", "/v1/members/user/u4", body), 400, "invalid_request", field)
		}
		servertest.RequireProblem(t, n.Do("PUT", "/v1/members/No/u4", `{"name":"a"}`), 400, "invalid_request", "kind")

		post := func(board, body string) {
			n.Require(200, "POST", "/v1/boards/"+board+"/scores", body)
		}
		post("b", `{"updates":[{"member":"u4","score":3,"data":{"g":1}},{"member":"u5","score":2}]}`)
		post("stars", `{"member":"u4","score":3}`)
		const ann = `{"rank":1,"member":"u4","score":3,"name":"<b>Ann</b>","avatar":"/a.png","data":{"g":1}}`
		const other = `{"rank":2,"member":"u5","score":2}`
		require.Contains(t, n.Do("GET", "/v1/boards/b/top", "").Body, `"top":[`+ann+","+other+"]")
		a = n.Do("GET", "/v1/boards/b/members/u4?around=1", "")
		require.Contains(t, a.Body, `"member":"u4","score":3,"name":"<b>Ann</b>","avatar":"/a.png","data":{"g":1},"total":2`)
		require.Contains(t, a.Body, `"around":[`+ann+","+other+"]")
		require.NotContains(t, n.Do("GET", "/v1/boards/b/members/u4", "").Body, "around")
		require.JSONEq(t, `{"board":"b","period":"","ends":null,"final":false,"total":2,"members":[{"member":"a/b","rank":null,`+
			`"among":null,"score":null,"name":"Slash"},{"member":"u4","rank":1,"among":1,"score":3,"name":"<b>Ann</b>",`+
			`"avatar":"/a.png","data":{"g":1}}]}`,
			n.Do("GET", "/v1/boards/b/members?id=a/b&id=u4", "").Body)
		require.NotContains(t, n.Do("GET", "/v1/boards/stars/top", "").Body, "name", "of another kind")

		n.Require(200, "PUT", "/v1/members/user/u4", `{"name":"Anna"}`)
		require.Contains(t, n.Do("GET", "/v1/boards/b/top", "").Body, `"score":3,"name":"Anna","data"`, "at once on the node that took it")
	})
}

// Every node shows a profile that changes, to sockets and requests, on all boards.
func TestProfilesAreLiveOnAllNodes(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		boards := []definition.Board{{Name: "b", Kind: "user"}, {Name: "fans:{star}", Kind: "user"}}
		n, m := servertest.Start(t, url, servertest.Config{}, boards...), servertest.Start(t, url, servertest.Config{}, boards...)
		for _, board := range []string{"b", "fans:s1"} {
			n.Require(200, "POST", "/v1/boards/"+board+"/scores",
				`{"updates":[{"member":"u4","score":3},{"member":"u5","score":2},{"member":"u6","score":1}]}`)
		}
		s := servertest.Dial(t, m.Addr)
		s.Subscribe("b", 10)
		s.Subscribe("fans:s1", 2)
		s.Send(`{"type":"subscribe","id":9,"board":"fans:s1","top":2,"me":"u6","around":1}`)
		s.Next("me")
		for _, name := range []string{"Ann", "Anna"} {
			require.Equal(t, 2, n.Do("PUT", "/v1/members/user/u5", `{"name":"`+name+`","avatar":"/5.png"}`).Status/100)
			for _, board := range []string{"b", "fans:s1"} {
				s.Until(board, name, func(b *hubtest.Board) bool { return b.Top[1].Name == name && b.Top[1].Avatar == "/5.png" })
			}
			s.Until("fans:s1", name+" around", func(b *hubtest.Board) bool { return len(b.Me.Around) == 2 && b.Me.Around[0].Name == name })
			top, _ := servertest.Top(t, m.Addr, "b", 10)
			require.Equal(t, s.Boards["b"].Top, top)
		}
		require.NoError(t, n.Store.DeleteProfile(t.Context(), "user", "u5"))
		s.Until("b", "no name", func(b *hubtest.Board) bool { return b.Top[1].Name == "" })
		s.Until("fans:s1", "no name around", func(b *hubtest.Board) bool { return b.Me.Around[0].Name == "" })
	})
}

// A profile that a node did not hear of shows there when what it knows is old.
func TestProfileOfLostMessageIsReadAgain(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	n := servertest.Start(t, url, servertest.Config{Ranking: ranking.Config{ProfileAge: 100 * time.Millisecond},
		Hub: hub.Config{ProfileInterval: 100 * time.Millisecond}},
		definition.Board{Name: "b", Kind: "user"})
	n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"u4","score":3}`)
	n.Require(201, "PUT", "/v1/members/user/u4", `{"name":"Ann"}`)
	s := servertest.Dial(t, n.Addr)
	s.Subscribe("b", 10)
	s.Until("b", "Ann", func(b *hubtest.Board) bool { return b.Top[0].Name == "Ann" })
	rdb := redistest.Dial(t, url)
	require.NoError(t, rdb.HSet(t.Context(), fmt.Sprintf("rc:{/profiles/user/%d}:p", xxhash.Sum64String("u4")%16), "u4",
		`{"name":"Anna","later":"field"}`).Err())
	s.Until("b", "Anna", func(b *hubtest.Board) bool { return b.Top[0].Name == "Anna" })
}

// memberBoards is an answer with a member's boards.
type memberBoards struct {
	Name   string
	Boards []struct {
		Board       string
		Rank, Score int64
	}
	Unavailable int
	NotBuilt    int `json:"not_built"`
	Cursor      *string
}

// One request tells the boards of a kind on which a member stands, each as the member's own answer on it does.
func TestMemberBoards(t *testing.T) {
	servertest.With(servertest.Config{},
		definition.Board{Name: "laps", Kind: "user", Order: definition.Asc}, definition.Board{Name: "fans:{star}", Kind: "user",
			Period: "week", History: 10 * time.Second}, definition.Board{Name: "stars", Kind: "star"},
		definition.Board{Name: "hour", Kind: "user", Window: time.Hour}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		for _, board := range []string{"laps", "fans:s1", "fans:s2", "stars"} {
			n.Require(200, "POST", "/v1/boards/"+board+"/scores",
				`{"updates":[{"member":"a/b","score":3,"data":{"x":1}},{"member":"v","score":5}]}`)
		}
		answer := n.Require(200, "GET", "/v1/members/user/v/boards?limit=2", "")
		place := func(board, member string) string {
			t.Helper()
			body := n.Do("GET", "/v1/boards/"+board+"/members/"+member, "").Body
			for _, field := range []string{`"member":"v",`, `"member":"a/b",`, `"name":"Ana",`} {
				body = strings.Replace(body, field, "", 1)
			}
			return strings.TrimSpace(body)
		}
		cursor := base64.RawURLEncoding.EncodeToString([]byte("fans/1 fans:s2"))
		require.JSONEq(t, fmt.Sprintf(`{"kind":"user","member":"v","boards":[%s,%s],"cursor":%q}`, place("fans:s1", "v"),
			place("fans:s2", "v"), cursor), answer.Body)
		require.JSONEq(t, fmt.Sprintf(`{"kind":"user","member":"v","boards":[%s],"not_built":1,"cursor":null}`, place("laps", "v")),
			n.Do("GET", "/v1/members/user/v/boards?limit=2&cursor="+cursor, "").Body)

		require.Contains(t, n.Do("GET", "/v1/members/user/v/boards?limit=1&info=true", "").Body,
			`"info":{"kind":"user","history":"10s","period":{"name":"`)
		for _, info := range []string{"1", ""} {
			servertest.RequireProblem(t, n.Do("GET", "/v1/members/user/v/boards?info="+info, ""), 400, "invalid_request", "info")
		}

		n.Require(201, "PUT", "/v1/members/star/a%2Fb", `{"name":"Ana"}`)
		require.JSONEq(t, fmt.Sprintf(`{"kind":"star","member":"a/b","name":"Ana","boards":[%s],"cursor":null}`, place("stars", "a%2Fb")),
			n.Do("GET", "/v1/members/star/a%2Fb/boards", "").Body)
		for _, path := range []string{"/v1/members/star/nobody/boards", "/v1/members/nothing/v/boards"} {
			kind, member := strings.Split(path, "/")[3], strings.Split(path, "/")[4]
			require.JSONEq(t, fmt.Sprintf(`{"kind":%q,"member":%q,"boards":[],"cursor":null}`, kind, member), n.Do("GET", path, "").Body)
		}
		n.Require(200, "HEAD", "/v1/members/user/v/boards", "")
		for path, field := range map[string]string{
			"/v1/members/User/v/boards": "kind", "/v1/members/user/%01/boards": "member", "/v1/members/user/v/boards?limit=0": "limit",
			"/v1/members/user/v/boards?limit=101":  "limit",
			"/v1/members/user/v/boards?cursor=%21": "cursor", "/v1/members/user/v/boards?board=a": "board",
		} {
			servertest.RequireProblem(t, n.Do("GET", path, ""), 400, "invalid_request", field)
		}
	})
}

// A board that cannot be read hides no others, and the answer counts it.
func TestMemberBoardsWithAnUnavailableBoard(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{}, definition.Board{Name: "bad"}, definition.Board{Name: "good"})
	require.NoError(t, r.Admin().Set(t.Context(), "rc:{"+definitiontest.NameOf("bad", "m")+"}::z", "no sorted set", 0).Err())
	n.Require(200, "POST", "/v1/boards/good/scores", `{"member":"m","score":1}`)
	var page memberBoards
	n.Do("GET", "/v1/members/member/m/boards", "").Into(&page)
	require.Len(t, page.Boards, 1)
	require.Equal(t, 1, page.Unavailable)
	require.NoError(t, r.Admin().Set(t.Context(), "rc:{"+definitiontest.NameOf("good", "m")+"}::z", "no sorted set", 0).Err())
	servertest.RequireProblem(t, n.Do("GET", "/v1/members/member/m/boards", ""), 503, "unavailable", "")
}

// Callers see the boards that they may read. Neither the boards, nor the cursors, nor the counts tell of others. The
// profile is for callers that see it on a board, or may read the kind.
func TestMemberBoardsForEachCaller(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		g := accesstest.Start(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+keyLine("wild",
			`scopes: [read], boards: ["fans:*1", "stars"]`)+keyLine("kind", "scopes: [read], kinds: [user]")+
			keyLine("other", "scopes: [read], boards: [z]")+"tokens: {secret_file: secret}\n")
		n := servertest.Start(t, url, servertest.Config{Server: server.Config{Access: g.Guard}},
			definition.Board{Name: "fans:{star}", Kind: "user"}, definition.Board{Name: "stars", Kind: "user"},
			definition.Board{Name: "secret", Kind: "user"},
			definition.Board{Name: "window", Kind: "user", Window: time.Hour})
		ops := []string{"Authorization", "Bearer " + g.Key("ops")}
		all := []string{"secret", "stars"}
		for i := range 30 {
			all = append(all, fmt.Sprintf("fans:%02d", i))
		}
		for _, board := range all {
			n.Require(200, "POST", "/v1/boards/"+board+"/scores", `{"member":"m","score":1}`, ops...)
		}
		n.Require(201, "PUT", "/v1/members/user/m", `{"name":"Mia"}`, ops...)

		walk := func(credentials string) (boards []string, name string, notBuilt int) {
			t.Helper()
			for cursor, more := "", true; more; {
				a := n.Require(200, "GET", "/v1/members/user/m/boards?limit=2&cursor="+cursor, "", "Authorization", "Bearer "+credentials)
				var page memberBoards
				a.Into(&page)
				require.LessOrEqual(t, len(page.Boards), 2)
				readable := make(map[string]bool)
				for _, b := range page.Boards {
					boards, readable[b.Board] = append(boards, b.Board), true
				}
				name, notBuilt = name+page.Name, notBuilt+page.NotBuilt
				if more = page.Cursor != nil; more {
					cursor = *page.Cursor
					at, err := base64.RawURLEncoding.DecodeString(cursor)
					require.NoError(t, err)
					_, board, _ := strings.Cut(string(at), " ")
					require.True(t, readable[board], "the cursor holds %q", at)
				}
			}
			return boards, name, notBuilt
		}
		boards, name, notBuilt := walk(g.Key("ops"))
		require.ElementsMatch(t, all, boards)
		require.NotEmpty(t, name)
		require.Equal(t, 1, notBuilt)

		boards, name, notBuilt = walk(g.Key("wild"))
		require.Equal(t, []string{"fans:01", "fans:11", "fans:21", "stars"}, boards)
		require.Equal(t, "MiaMia", name)
		require.Zero(t, notBuilt)

		boards, name, notBuilt = walk(token(g, "m", []string{"stars", "fans:07", "nothing:*"}, nil, time.Hour))
		require.Equal(t, []string{"fans:07", "stars"}, boards)
		require.Equal(t, "Mia", name)
		require.Zero(t, notBuilt)

		boards, name, _ = walk(g.Key("kind"))
		require.Empty(t, boards)
		require.Equal(t, "Mia", name)

		boards, name, notBuilt = walk(g.Key("other"))
		require.Empty(t, boards)
		require.Empty(t, name)
		require.Zero(t, notBuilt)
		of := func(kind string) string {
			return strings.Replace(n.Do("GET", "/v1/members/"+kind+"/m/boards", "", "Authorization", "Bearer "+g.Key("other")).Body, kind, "user", 1)
		}
		require.Equal(t, of("user"), of("nothing"), "the answer does not tell whether there is such a kind")
	})
}
