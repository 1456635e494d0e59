package live_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/servertest"
)

func TestUpdatesAndEventsOverSocket(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, at string) {
		n := servertest.Start(t, at, servertest.Config{})
		require.Equal(t, 201, n.Do("PUT", "/v1/boards/stars", `{"max":100}`).Status)
		require.Equal(t, 201, n.Do("PUT", "/v1/events/gift", `{"updates":[{"board":"stars","member":"{star}","score":"{flowers}"}]}`).Status)
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
