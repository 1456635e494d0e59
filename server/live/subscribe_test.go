package live_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/servertest"
)

func TestUpdateReachesSubscriber(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		s := servertest.Dial(t, n.Addr)
		s.Send(`{"type":"subscribe","id":1,"board":"b","top":2}`)
		require.JSONEq(t, "1", string(s.Next("ok").ID))
		snapshot := s.Next("snapshot")
		require.Empty(t, snapshot.Top)
		require.Zero(t, snapshot.Seq)
		require.NotNil(t, snapshot.Period)

		for i, m := range []string{"a", "b", "c", "a", "a"} {
			n.Do("POST", "/v1/boards/b/scores", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 10+i))
		}
		want := []hubtest.Entry{{Rank: 1, Member: "a", Score: 37}, {Rank: 2, Member: "c", Score: 12}}
		s.Until("b", "the scores", func(b *hubtest.Board) bool { return b.Total == 3 && fmt.Sprint(b.Top) == fmt.Sprint(want) })
		n.Do("DELETE", "/v1/boards/b/members/a", "")
		s.Until("b", "a to leave", func(b *hubtest.Board) bool { return b.Total == 2 && len(b.Top) == 2 && b.Top[1].Member == "b" })

		s.Send(`{"type":"ping","id":"p"}`)
		require.JSONEq(t, `"p"`, string(s.Next("pong").ID))
		s.Send(`{"type":"unsubscribe","id":2,"board":"b"}`)
		require.JSONEq(t, "2", string(s.Next("ok").ID))
		require.Zero(t, n.Hub.Watched())
	})
}

// With info, the first snapshot tells what the board is, as of that moment.
func TestSubscriptionWithInfo(t *testing.T) {
	servertest.With(servertest.Config{},
		definition.Board{Name: "fans:{star}", Title: definition.Label{"en": "Fans of {star}", "zh": "{star}的粉丝"}, Period: "day",
			Timezone: "Asia/Shanghai", Kind: "user"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(201, "PUT", "/v1/members/star/s17", `{"name":"鹿见汀"}`)
		s := servertest.Dial(t, n.Addr)
		s.Send(`{"type":"subscribe","id":1,"board":"fans:s17","info":true}`)
		var first struct {
			Type, Period, Ends string
			Info               struct {
				Title, Period map[string]string
				Kind          string
			}
		}
		s.Next("ok")
		for first.Type != "snapshot" { // status comes before it
			frame, err := s.Raw()
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(frame, &first, json.MatchCaseInsensitiveNames(true)))
		}
		require.Equal(t, map[string]string{"en": "Fans of 鹿见汀", "zh": "鹿见汀的粉丝"}, first.Info.Title)
		require.Equal(t, "user", first.Info.Kind)
		require.Equal(t, []string{first.Period, "day", "Asia/Shanghai", first.Ends},
			[]string{first.Info.Period["name"], first.Info.Period["every"], first.Info.Period["timezone"], first.Info.Period["ends"]})
		opens, err := time.Parse(time.RFC3339, first.Info.Period["opens"])
		require.NoError(t, err)
		ends, err := time.Parse(time.RFC3339, first.Ends)
		require.NoError(t, err)
		require.Equal(t, 24*time.Hour, ends.Sub(opens))

		s.Send(`{"type":"subscribe","id":2,"board":"fans:s17","info":"yes"}`)
		refused := s.Next("error")
		require.Equal(t, []string{"invalid_request", "info"}, []string{refused.Code, refused.Field})
	})
}

func TestSubscriptionLimit(t *testing.T) {
	t.Parallel()
	var boards []definition.Board
	for i := range 101 {
		boards = append(boards, definition.Board{Name: fmt.Sprint("b", i)})
	}
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, boards...)
	s := servertest.Dial(t, n.Addr)
	for i := range 100 {
		s.Subscribe(fmt.Sprint("b", i), 1)
	}
	s.Send(`{"type":"subscribe","id":9,"board":"b100"}`)
	refused := s.Next("error")
	require.Equal(t, []string{"limit_reached", "board"}, []string{refused.Code, refused.Field})
	s.Subscribe("b7", 2)
	require.Equal(t, 100, n.Hub.Watched())
	s.WS.CloseNow()
	redistest.UntilEqual(t, "all views to be freed", 0, n.Hub.Watched)
}

// A feed shows on each node what happens on any.
func TestFeedOfEvent(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, at string) {
		a, b := servertest.Start(t, at, servertest.Config{}), servertest.Start(t, at, servertest.Config{})
		a.Require(201, "PUT", "/v1/boards/stars", `{}`)
		a.Require(201, "PUT", "/v1/events/gift", `{"updates":[{"board":"stars","member":"{star}","score":"{flowers}"}]}`)
		var sockets []*servertest.Socket
		for _, n := range []*servertest.Node{a, b} {
			s := servertest.Dial(t, n.Addr)
			s.Send(`{"type":"subscribe","id":1,"feed":"gift"}`)
			s.Next("ok")
			m := s.Next("feed")
			require.Equal(t, "gift", m.Feed)
			require.Empty(t, m.Items)
			s.Send(`{"type":"subscribe","id":2,"feed":"gift"}`)
			require.Equal(t, "2", string(s.Next("ok").ID), "it goes on")
			sockets = append(sockets, s)
		}
		a.Require(200, "POST", "/v1/events/gift", `{"id":"1","star":"s17","flowers":3}`)
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
		a.Require(200, "POST", "/v1/events/gift", `{"star":"s17","flowers":3}`)
		require.Len(t, sockets[1].Next("feed").Items, 1)
		s.Send(`{"type":"ping","id":5}`)
		require.Equal(t, "pong", s.Next("pong", "feed").Type)
	})
}

// Who comes back is sent one delta from what it has, if the server knows what
// changed since, and a snapshot otherwise.
func TestResume(t *testing.T) {
	servertest.With(servertest.Config{Hub: hub.Config{Interval: time.Millisecond, MeInterval: time.Millisecond}},
		definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		descending(t, n, "b", 50)
		stays, first := servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr)
		stays.Subscribe("b", 10)
		first.Subscribe("b", 10)
		held := *first.Boards["b"]
		rank := int64(31) // of m30
		resume := func(life string, seq int64) (*servertest.Socket, hubtest.Message) {
			s := servertest.Dial(t, n.Addr)
			before := held
			s.Boards["b"] = &before
			s.Send(`{"type":"subscribe","id":1,"board":"b","top":10,"me":"m30","resume":{"life":%q,"seq":%d}}`, life, seq)
			s.Next("ok")
			m := s.Next("snapshot", "delta")
			meIs(s, "b", rank, 200)
			return s, m
		}
		_, m := resume(held.Life, held.Seq)
		require.Equal(t, "delta", m.Type, "nothing has changed, and it is told so")
		require.Empty(t, m.Rows)
		require.Equal(t, held.Seq, m.From)
		require.Equal(t, held.Seq, m.Seq)

		first.WS.CloseNow()
		update(t, n, "b", "m5", 7)
		update(t, n, "b", "m49", 450) // in between
		rank = 32
		want, total := n.Top("b", 10)
		stays.Until("b", "the change", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		s, m := resume(held.Life, held.Seq)
		require.Equal(t, "delta", m.Type)
		require.Equal(t, held.Seq, m.From)
		require.Len(t, m.Rows, 5)
		require.Equal(t, want, s.Boards["b"].Top)
		require.Equal(t, total, s.Boards["b"].Total)
		update(t, n, "b", "m1", 1000) // and from there on by deltas, like everybody
		want, _ = n.Top("b", 10)
		stays.Until("b", "m1", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		s.Until("b", "m1", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })

		for name, at := range map[string]hub.Position{
			"another life":    {Life: "another", Seq: held.Seq},
			"before the life": {Life: held.Life, Seq: 0},
			"ahead":           {Life: held.Life, Seq: held.Seq + 1000},
		} {
			s, m := resume(at.Life, at.Seq)
			require.Equal(t, "snapshot", m.Type, name)
			require.Equal(t, stays.Boards["b"].Top, s.Boards["b"].Top)
		}
		descending(t, n, "b", 10) // all places change: a snapshot is smaller
		want, _ = n.Top("b", 10)
		stays.Until("b", "new scores", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		_, m = resume(held.Life, held.Seq)
		require.Equal(t, "snapshot", m.Type)
	})
}

func TestUpdatesAndEventsOverSocket(t *testing.T) {
	servertest.With(servertest.Config{}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(201, "PUT", "/v1/boards/stars", `{"max":100}`)
		n.Require(201, "PUT", "/v1/events/gift", `{"updates":[{"board":"stars","member":"{star}","score":"{flowers}"}]}`)
		s := servertest.Dial(t, n.Addr)
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
			`{"type":"result","id":"x","results":[{"board":"stars","period":"","member":"s17","score":7,"rank":1,`+
				`"previous":{"score":3,"rank":1},"duplicate":false}]}`)
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
		for _, message := range []string{
			`{"type":"update","id":3,"board":"stars","update":{"member":"s17","score":61.5}}`,
			`{"type":"event","id":3,"event":"gift","data":{"star":"s17","flowers":61.5}}`,
		} {
			s.Send("%s", message)
			got, err := s.Raw()
			require.NoError(t, err)
			require.Contains(t, string(got), ": is 61.5; want an integer: send seconds as milliseconds", message)
		}
	})
}

// Where sockets may only read, they do, and nothing is changed.
func TestReadOnlySockets(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{ReadOnlySockets: true}},
		definition.Board{Name: "stars"})
	s := servertest.Dial(t, n.Addr)
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
