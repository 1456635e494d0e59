package live_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

func TestUpdateReachesSubscriber(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b"})
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
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{},
			definition.Board{Name: "fans:{star}", Title: definition.Label{"en": "Fans of {star}", "zh": "{star}的粉丝"}, Period: "day",
				Timezone: "Asia/Shanghai", Kind: "user"})
		require.Equal(t, 201, n.Do("PUT", "/v1/members/star/s17", `{"name":"鹿见汀"}`).Status)
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
	redistest.Eventually(t, "all views to be freed", func() error {
		if w := n.Hub.Watched(); w > 0 {
			return fmt.Errorf("%d watched", w)
		}
		return nil
	})
}
