package server_test

import (
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
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

func TestProfilesOverHTTP(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b", Kind: "user"},
			definition.Board{Name: "stars", Kind: "star"})
		servertest.RequireProblem(t, n.Do("GET", "/v1/members/user/u4", ""), 404, "unknown_member", "member")
		a := n.Do("PUT", "/v1/members/user/u4", `{"name":"<b>Ann</b>","avatar":"/a.png"}`)
		require.Equal(t, 201, a.Status, a.Body)
		require.JSONEq(t, `{"kind":"user","member":"u4","name":"<b>Ann</b>","avatar":"/a.png"}`, a.Body)
		require.Equal(t, a.Body, n.Do("GET", "/v1/members/user/u4", "").Body)
		require.Equal(t, 201, n.Do("PUT", "/v1/members/user/a%2Fb", `{"name":"Slash"}`).Status)
		require.JSONEq(t, `{"kind":"user","member":"a/b","name":"Slash"}`, n.Do("GET", "/v1/members/user/a%2Fb", "").Body)
		for body, field := range map[string]string{
			`{}`: "name", `{"name":""}`: "name", `{"name":7}`: "name", `{"name":"a","data":1}`: "data", `{"name":null}`: "name",
			`{"avatar":"javascript:alert(1)"}`: "avatar", `[]`: "body", `{"name":"` + strings.Repeat("a", 129) + `"}`: "name",
		} {
			servertest.RequireProblem(t, n.Do("PUT", "/v1/members/user/u4", body), 400, "invalid_request", field)
		}
		servertest.RequireProblem(t, n.Do("PUT", "/v1/members/No/u4", `{"name":"a"}`), 400, "invalid_request", "kind")

		post := func(board, body string) {
			require.Equal(t, 200, n.Do("POST", "/v1/boards/"+board+"/scores", body).Status)
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

		require.Equal(t, 200, n.Do("PUT", "/v1/members/user/u4", `{"name":"Anna"}`).Status)
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
			require.Equal(t, 200, n.Do("POST", "/v1/boards/"+board+"/scores",
				`{"updates":[{"member":"u4","score":3},{"member":"u5","score":2},{"member":"u6","score":1}]}`).Status)
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
	require.Equal(t, 200, n.Do("POST", "/v1/boards/b/scores", `{"member":"u4","score":3}`).Status)
	require.Equal(t, 201, n.Do("PUT", "/v1/members/user/u4", `{"name":"Ann"}`).Status)
	s := servertest.Dial(t, n.Addr)
	s.Subscribe("b", 10)
	s.Until("b", "Ann", func(b *hubtest.Board) bool { return b.Top[0].Name == "Ann" })
	rdb := redistest.Dial(t, url)
	require.NoError(t, rdb.HSet(t.Context(), fmt.Sprintf("rc:{/profiles/user/%d}:p", xxhash.Sum64String("u4")%16), "u4",
		`{"name":"Anna","later":"field"}`).Err())
	s.Until("b", "Anna", func(b *hubtest.Board) bool { return b.Top[0].Name == "Anna" })
}
