package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/servertest"
)

// code is the code of a problem, and the field that it is about.
func code(a servertest.Answer) string {
	var p struct{ Code, Field string }
	a.Into(&p)
	return strings.TrimSuffix(p.Code+" "+p.Field, " ")
}

func TestDefinitionsOverHTTP(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, at string) {
		a, b := startNode(t, at, nodeConfig{}), startNode(t, at, nodeConfig{})
		answer := a.do("PUT", "/v1/boards/stars", `{"period":"week","timezone":"Asia/Shanghai","kind":"star"}`)
		require.Equal(t, 201, answer.Status, answer.Body)
		week := `{"board":"stars","mode":"sum","order":"desc","ties":"first","period":"week","timezone":"Asia/Shanghai","week_starts":"monday","day_starts_at":"00:00","keep":8,"kind":"star"}`
		require.JSONEq(t, week, answer.Body)
		require.Equal(t, 200, a.do("PUT", "/v1/boards/stars", `{"period":"week","timezone":"Asia/Shanghai","kind":"star"}`).Status)
		family := "/v1/boards/" + url.PathEscape("fans:{star}")
		require.Equal(t, 201, a.do("PUT", family, `{"period":"day","max_instances":3}`).Status)

		// Another node knows them at once, and all that works for a board does for an instance.
		for i := range 3 {
			answer = b.do("POST", fmt.Sprintf("/v1/boards/fans:s%d/scores", i), `{"member":"u","score":3,"data":{"from":"b"}}`)
			require.Equal(t, 200, answer.Status, answer.Body)
		}
		require.Equal(t, "conflict board", code(b.do("POST", "/v1/boards/fans:s3/scores", `{"member":"u","score":3}`)))
		require.Contains(t, a.do("GET", "/v1/boards/fans:s2/top", "").Body, `"top":[{"rank":1,"member":"u","score":3,"data":{"from":"b"}}]`)
		require.Contains(t, a.do("GET", "/v1/boards/fans:s2/members/u?around=1", "").Body, `"data":{"from":"b"}`)
		require.Contains(t, a.do("GET", "/v1/boards/fans:s2/members?id=u", "").Body, `"data":{"from":"b"}`)
		require.Contains(t, a.do("GET", "/v1/boards/fans:never/top", "").Body, `"total":0`, "an instance that nobody wrote to is an empty board")
		require.Equal(t, 200, a.do("DELETE", "/v1/boards/fans:s2/members/u", "").Status)
		answer = a.do("GET", family, "")
		require.Contains(t, answer.Body, `{"board":"fans:{star}","instances":3,"definition":{"board":"fans:{star}",`)
		answer = a.do("GET", family+"/instances?limit=2", "")
		var page struct {
			Instances []string
			Cursor    *string
		}
		answer.Into(&page)
		require.Equal(t, []string{"fans:s0", "fans:s1"}, page.Instances)
		require.JSONEq(t, `{"board":"fans:{star}","total":3,"instances":["fans:s2"],"cursor":null}`, a.do("GET", family+"/instances?cursor="+*page.Cursor, "").Body)

		// What is there and what is not.
		answer = a.do("GET", "/v1/boards", "")
		require.Contains(t, answer.Body, `{"boards":[{"board":"fans:{star}",`)
		answer = a.do("GET", "/v1/boards/stars", "")
		require.Contains(t, answer.Body, `"definition":`+week)
		require.Contains(t, answer.Body, `{"board":"stars","period":"20`)
		answer = a.do("GET", "/v1/boards/stars/periods", "")
		require.Contains(t, answer.Body, `"final":false,"total":0}]}`)
		answer = a.do("GET", "/v1/boards/stars@-1/top", "")
		require.Contains(t, answer.Body, `"final":true,"total":0,"top":[],"cursor":null}`)
		require.Equal(t, "unknown_period board", code(a.do("GET", "/v1/boards/stars@-9/top", "")))
		require.Equal(t, "unknown_period board", code(a.do("GET", "/v1/boards/stars@2125-W01/top", "")))
		require.Equal(t, "unknown_board board", code(a.do("GET", "/v1/boards/stars:x/top", "")))
		require.Equal(t, "unknown_board board", code(a.do("GET", "/v1/boards/"+url.PathEscape("hot:{genre}"), "")))
		require.Equal(t, "unknown_board board", code(a.do("GET", "/v1/boards/"+url.PathEscape("hot:{genre}")+"/instances", "")))
		require.Equal(t, "not_open board", code(a.do("POST", "/v1/boards/stars@-1/scores", `{"member":"u","score":3}`)))
		require.Equal(t, "not_open board", code(a.do("DELETE", "/v1/boards/stars@-1/members/u", "")))

		// What cannot be.
		for body, want := range map[string]string{
			`{"period":"fortnight"}`:                    "invalid_request period",
			`{"keep":3}`:                                "invalid_request keep",
			`{"mode":"sum","colour":"red"}`:             "invalid_request colour",
			`{"min":5,"max":4}`:                         "invalid_request max",
			`{"display":{"decimals":9}}`:                "invalid_request display.decimals",
			`{"period":"day","timezone":"Mars/Phobos"}`: "invalid_request timezone",
			`[]`:                           "invalid_request body",
			`{`:                            "invalid_request body",
			`{"mode":"sum","mode":"best"}`: "invalid_request mode",
		} {
			require.Equal(t, want, code(a.do("PUT", "/v1/boards/other", body)), body)
		}
		require.Equal(t, "invalid_request board", code(a.do("PUT", "/v1/boards/Stars", `{}`)))
		require.Equal(t, "conflict board", code(a.do("PUT", "/v1/boards/"+url.PathEscape("fans:{idol}"), `{}`)))
		require.Equal(t, 200, b.do("POST", "/v1/boards/stars/scores", `{"member":"s","score":3}`).Status)
		require.Equal(t, "conflict period", code(a.do("PUT", "/v1/boards/stars", `{"period":"day","timezone":"Asia/Shanghai"}`)))
		require.Equal(t, "conflict order", code(a.do("PUT", "/v1/boards/stars", `{"order":"asc","period":"week","timezone":"Asia/Shanghai"}`)))
		require.Equal(t, 200, a.do("PUT", "/v1/boards/stars", `{"mode":"best","period":"week","timezone":"Asia/Shanghai"}`).Status)

		// Gone.
		require.Equal(t, 204, a.do("DELETE", "/v1/boards/fans:s1", "").Status)
		require.Equal(t, 204, a.do("DELETE", family, "").Status)
		require.Equal(t, "unknown_board board", code(a.do("GET", "/v1/boards/fans:s0/top", "")))
		require.Equal(t, "unknown_board board", code(a.do("POST", "/v1/boards/fans:s0/scores", `{"member":"u","score":3}`)))
		require.Equal(t, "unknown_board board", code(a.do("DELETE", family, "")))
		require.Equal(t, "conflict board", code(a.do("PUT", family, `{}`)), "its data are still going")
	})
}

func TestEventsOverHTTP(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, at string) {
		n := startNode(t, at, nodeConfig{})
		for _, board := range []string{"stars", "fans:{star}", "spring"} {
			body := `{}`
			if board == "spring" {
				body = `{"starts":"2020-03-01T00:00:00Z","ends":"2020-06-01T00:00:00Z"}`
			}
			require.Equal(t, 201, n.do("PUT", "/v1/boards/"+url.PathEscape(board), body).Status)
		}
		require.Equal(t, 2, strings.Count(n.do("GET", "/v1/boards/spring", "").Body, `"ends":"2020-06-01T00:00:00.000Z"`), "times have one form")
		gift := `{"updates":[{"board":"stars","member":"{star}","score":"{flowers}"},{"board":"fans:{star}","member":"{user}","score":"{flowers}"},{"board":"spring","member":"{user}","score":1}]}`
		require.Equal(t, "unknown_event event", code(n.do("POST", "/v1/events/gift", `{}`)))
		require.Equal(t, "invalid_request updates[0].board", code(n.do("PUT", "/v1/events/gift", strings.Replace(gift, "stars", "moons", 1))))
		require.Equal(t, "invalid_request event", code(n.do("PUT", "/v1/events/periods", gift)))
		require.Equal(t, 201, n.do("PUT", "/v1/events/gift", gift).Status)
		require.Equal(t, 200, n.do("PUT", "/v1/events/gift", gift).Status)
		require.JSONEq(t, `{"event":"gift",`+gift[1:], n.do("GET", "/v1/events/gift", "").Body)
		require.JSONEq(t, `{"events":[{"event":"gift",`+gift[1:]+`]}`, n.do("GET", "/v1/events", "").Body)
		require.Equal(t, "conflict board", code(n.do("DELETE", "/v1/boards/stars", "")), "an event needs it")

		for body, want := range map[string]string{
			`{"star":"s17","user":"u4"}`:                            "invalid_request flowers",
			`{"star":"s17","user":"u4","flowers":3,"colour":"red"}`: "invalid_request colour",
			`{"star":"","user":"u4","flowers":3}`:                   "invalid_request star",
			`{"star":"s:17","user":"u4","flowers":3}`:               "invalid_request star",
			`{"star":17,"user":"u4","flowers":3}`:                   "invalid_request star",
			`{"star":"s17","user":null,"flowers":3}`:                "invalid_request user",
			`{"star":"s17","user":"u4","flowers":"3"}`:              "invalid_request flowers",
			`{"star":"s17","user":"u4","flowers":3.5}`:              "invalid_request flowers",
			`{"star":"s17","user":"u4","flowers":9007199254740992}`: "out_of_range flowers",
			`{"id":"","star":"s17","user":"u4","flowers":3}`:        "invalid_request id",
			`{"id":7,"star":"s17","user":"u4","flowers":3}`:         "invalid_request id",
			`{"events":[]}`: "invalid_request events",
			`{"events":[{"star":"s17","user":"u4","flowers":3}],"x":1}`: "invalid_request x",
			`7`: "invalid_request body",
		} {
			require.Equal(t, want, code(n.do("POST", "/v1/events/gift", body)), body)
		}
		_, total := n.top("stars", 1)
		require.Zero(t, total, "what is refused changes nothing")

		first := n.do("POST", "/v1/events/gift", `{"id":"g1","star":"s17","user":"u4","flowers":3}`)
		require.JSONEq(t, `{"results":[
			{"board":"stars","period":"","member":"s17","score":3,"rank":1,"previous":null,"duplicate":false},
			{"board":"fans:s17","period":"","member":"u4","score":3,"rank":1,"previous":null,"duplicate":false},
			{"board":"spring","error":{"code":"not_open","field":"board","message":"board: takes updates from 2020-03-01T00:00:00.000Z until 2020-06-01T00:00:00.000Z"}}]}`, first.Body)
		again := n.do("POST", "/v1/events/gift", `{"star":"s17","user":"u4","flowers":3}`, "Idempotency-Key", "g1")
		require.Equal(t, strings.ReplaceAll(first.Body, "false", "true"), again.Body)
		require.Equal(t, "idempotency_mismatch id", code(n.do("POST", "/v1/events/gift", `{"id":"g1","star":"s18","user":"u4","flowers":3}`)))
		require.Equal(t, "invalid_request id", code(n.do("POST", "/v1/events/gift", `{"id":"g2","star":"s17","user":"u4","flowers":3}`, "Idempotency-Key", "g1")))

		batch := `{"events":[{"star":"s1","user":"u1","flowers":1},{"star":"s1","user":"u2"},{"id":"g1","star":"s18","user":"u4","flowers":3},{"star":"s1","user":"u2","flowers":2},7]}`
		for range 2 {
			var answer struct {
				Results []struct {
					Results []struct{ Score int64 }
					Error   struct{ Code, Field string }
				}
			}
			a := n.do("POST", "/v1/events/gift", batch, "Idempotency-Key", "K")
			require.Equal(t, 200, a.Status)
			a.Into(&answer)
			require.EqualValues(t, 1, answer.Results[0].Results[0].Score)
			require.Equal(t, "events[1].flowers", answer.Results[1].Error.Field)
			require.Equal(t, "events[2].id", answer.Results[2].Error.Field, "its own id is not that of its request")
			require.EqualValues(t, 3, answer.Results[3].Results[0].Score)
			require.Equal(t, "events[4]", answer.Results[4].Error.Field)
		}
		top, _ := n.top("stars", 2)
		require.Equal(t, []hubtest.Entry{{Rank: 1, Member: "s17", Score: 3}, {Rank: 2, Member: "s1", Score: 3}}, top)
		require.Equal(t, 204, n.do("DELETE", "/v1/events/gift", "").Status)
		require.Equal(t, "unknown_event event", code(n.do("DELETE", "/v1/events/gift", "")))
	})
}

func TestUpdatesAndEventsOverTheSocket(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, at string) {
		n := startNode(t, at, nodeConfig{})
		require.Equal(t, 201, n.do("PUT", "/v1/boards/stars", `{"max":100}`).Status)
		require.Equal(t, 201, n.do("PUT", "/v1/events/gift", `{"updates":[{"board":"stars","member":"{star}","score":"{flowers}"}]}`).Status)
		s := servertest.Dial(t, n.addr)
		ask := func(message, want string) {
			t.Helper()
			s.Send("%s", message)
			got, err := s.Raw()
			require.NoError(t, err)
			require.JSONEq(t, want, string(got))
		}
		ask(`{"type":"update","id":1,"board":"stars","update":{"member":"s17","score":3,"id":"a"}}`,
			`{"type":"result","id":1,"board":"stars","period":"","member":"s17","score":3,"rank":1,"previous":null,"duplicate":false}`)
		ask(`{"type":"update","id":2,"board":"stars","update":{"member":"s17","score":3,"id":"a"}}`,
			`{"type":"result","id":2,"board":"stars","period":"","member":"s17","score":3,"rank":1,"previous":null,"duplicate":true}`)
		ask(`{"type":"event","id":"x","event":"gift","data":{"star":"s17","flowers":4}}`,
			`{"type":"result","id":"x","results":[{"board":"stars","period":"","member":"s17","score":7,"rank":1,"previous":{"score":3,"rank":1},"duplicate":false}]}`)
		for message, want := range map[string]string{
			`{"type":"update","id":3,"update":{"member":"s17","score":3}}`:                               "invalid_request board",
			`{"type":"update","id":3,"board":"stars"}`:                                                   "invalid_request update",
			`{"type":"update","id":3,"board":"stars","update":{"member":"s17"}}`:                         "invalid_request update.score",
			`{"type":"update","id":3,"board":"stars","update":{"member":"s17","score":99}}`:              "out_of_range update.score",
			`{"type":"update","id":3,"board":"stars","update":{"member":"s17","score":1,"if":"always"}}`: "invalid_request update.if",
			`{"type":"update","id":3,"board":"moons","update":{"member":"s17","score":3}}`:               "unknown_board board",
			`{"type":"update","id":3,"board":"stars@-1","update":{"member":"s17","score":3}}`:            "not_open board",
			`{"type":"event","id":3,"event":"moon","data":{}}`:                                           "unknown_event event",
			`{"type":"event","id":3,"event":"gift","data":[]}`:                                           "invalid_request data",
			`{"type":"event","id":3,"event":"gift","data":{"star":"s17","flowers":"4"}}`:                 "invalid_request data.flowers",
			`{"type":"event","id":3,"event":"gift","data":{"star":"s17","flowers":4,"x":1}}`:             "invalid_request data.x",
		} {
			s.Send("%s", message)
			m := s.Next("error", "result")
			require.Equal(t, want, strings.TrimSuffix(m.Code+" "+m.Field, " "), message)
			require.Equal(t, "3", string(m.ID))
		}
	})
}

// Where sockets may only read, they do, and nothing is changed.
func TestReadOnlySockets(t *testing.T) {
	n := startNode(t, redistest.Embedded(t), nodeConfig{server: server.Config{ReadOnlySockets: true}}, definition.Board{Name: "stars"})
	s := servertest.Dial(t, n.addr)
	for _, message := range []string{
		`{"type":"update","id":3,"board":"stars","update":{"member":"s17","score":3}}`,
		`{"type":"event","id":3,"event":"gift","data":{"star":"s17"}}`,
	} {
		s.Send("%s", message)
		m := s.Next("error", "result")
		require.Equal(t, "forbidden type 3", fmt.Sprintf("%s %s %s", m.Code, m.Field, m.ID))
	}
	s.Send(`{"type":"subscribe","id":4,"board":"stars"}`)
	require.Zero(t, s.Next("snapshot").Total)
}

// A feed shows on each node what happens on any.
func TestFeedOfAnEvent(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, at string) {
		a, b := startNode(t, at, nodeConfig{}), startNode(t, at, nodeConfig{})
		require.Equal(t, 201, a.do("PUT", "/v1/boards/stars", `{}`).Status)
		require.Equal(t, 201, a.do("PUT", "/v1/events/gift", `{"updates":[{"board":"stars","member":"{star}","score":"{flowers}"}]}`).Status)
		var sockets []*servertest.Socket
		for _, n := range []*node{a, b} {
			s := servertest.Dial(t, n.addr)
			s.Send(`{"type":"subscribe","id":1,"feed":"gift"}`)
			s.Next("ok")
			m := s.Next("feed")
			require.Equal(t, "gift", m.Feed)
			require.Empty(t, m.Items)
			s.Send(`{"type":"subscribe","id":2,"feed":"gift"}`)
			require.Equal(t, "2", string(s.Next("ok").ID), "it goes on")
			sockets = append(sockets, s)
		}
		require.Equal(t, 200, a.do("POST", "/v1/events/gift", `{"id":"1","star":"s17","flowers":3}`).Status)
		for _, s := range sockets {
			m := s.Next("feed")
			require.Len(t, m.Items, 1)
			require.JSONEq(t, `{"star":"s17","flowers":3}`, string(m.Items[0].Data))
			require.Zero(t, m.Skipped)
		}
		s := sockets[0]
		for message, want := range map[string]string{
			`{"type":"subscribe","id":3,"feed":"moon"}`:                 "unknown_event feed",
			`{"type":"subscribe","id":3,"feed":7}`:                      "invalid_request feed",
			`{"type":"subscribe","id":3,"feed":"gift","board":"stars"}`: "invalid_request board",
			`{"type":"unsubscribe","id":3,"feed":"periods"}`:            "invalid_request feed",
		} {
			s.Send("%s", message)
			m := s.Next("error", "ok")
			require.Equal(t, want, m.Code+" "+m.Field, message)
		}
		s.Send(`{"type":"unsubscribe","id":4,"feed":"gift"}`)
		s.Next("ok")
		require.Equal(t, 200, a.do("POST", "/v1/events/gift", `{"star":"s17","flowers":3}`).Status)
		require.Len(t, sockets[1].Next("feed").Items, 1)
		s.Send(`{"type":"ping","id":5}`)
		require.Equal(t, "pong", s.Next("pong", "feed").Type)
	})
}
