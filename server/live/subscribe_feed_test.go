package live_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A feed shows on each node what happens on any.
func TestFeedOfEvent(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, at string) {
		a, b := servertest.Start(t, at, servertest.Config{}), servertest.Start(t, at, servertest.Config{})
		require.Equal(t, 201, a.Do("PUT", "/v1/boards/stars", `{}`).Status)
		require.Equal(t, 201, a.Do("PUT", "/v1/events/gift", `{"updates":[{"board":"stars","member":"{star}","score":"{flowers}"}]}`).Status)
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
		require.Equal(t, 200, a.Do("POST", "/v1/events/gift", `{"id":"1","star":"s17","flowers":3}`).Status)
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
		require.Equal(t, 200, a.Do("POST", "/v1/events/gift", `{"star":"s17","flowers":3}`).Status)
		require.Len(t, sockets[1].Next("feed").Items, 1)
		s.Send(`{"type":"ping","id":5}`)
		require.Equal(t, "pong", s.Next("pong", "feed").Type)
	})
}
