package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A definition comes back as it was sent, whatever fields it has. Each request and answer is by the contract.
func TestDefinitionsWithEachField(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	for _, of := range []struct{ board, body string }{
		{"laps", `{"title":{"en":"Laps","zh":"圈"},"description":"Best laps","icon":"/laps.png","mode":"best","order":"asc","ties":"first","retain":"30d",
			"member_ttl":"7d","limit":100,"tie_span":"1d","min":1,"max":3600000,"max_change":60000,"history":"1m","kind":"driver","display":{"format":"time_ms"}}`},
		{"shift", `{"mode":"sum","order":"desc","ties":"first","period":"8h","base":"2026-11-20T06:00:00.000Z","keep":3,"kind":"member","display":{"unit":"boxes","decimals":1}}`},
		{"days", `{"mode":"sum","order":"desc","ties":"first","period":"week","timezone":"Asia/Shanghai","week_starts":"sunday","day_starts_at":"05:00","keep":8,"kind":"member"}`},
		{"spring", `{"mode":"last","order":"desc","ties":"shared","starts":"2026-03-01T00:00:00.000Z","ends":"2026-06-01T00:00:00.000Z","kind":"member"}`},
		{"hot", `{"mode":"sum","order":"desc","ties":"first","window":"3h","refresh":"live","kind":"member"}`},
		{"all", `{"mode":"sum","order":"desc","ties":"first","union":{"of":["shift","days"],"weights":[1,2],"aggregate":"max","last":2,"refresh":"1m"},"kind":"member"}`},
		{"fans:{who}", `{"mode":"sum","order":"desc","ties":"first","max_instances":7,"kind":"member"}`},
	} {
		path := "/v1/boards/" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(of.board)
		defined := n.Do("PUT", path, of.body)
		require.Equal(t, 201, defined.Status, defined.Body)
		require.JSONEq(t, `{"board":"`+of.board+`",`+of.body[1:], defined.Body)
		var state struct{ Definition map[string]any }
		n.Do("GET", path, "").Into(&state)
		var sent map[string]any
		defined.Into(&sent)
		require.Equal(t, sent, state.Definition)
	}
	event := `{"sender":"who","fields":{"n":{"min":1,"max":9},"who":{"kind":"driver"}},"updates":[{"board":"laps","member":"{who}","score":"{n}","op":"last","if":"absent","data":{"by":"{who}"}},
		{"board":"shift","member":"{who}","score":5}]}`
	require.JSONEq(t, `{"event":"lap",`+event[1:], n.Do("PUT", "/v1/events/lap", event).Body)
}

// The acts of a moderator name who has done them, also in the list of acts.
func TestActsNameTheirAuthors(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b", Kind: "user"})
	require.Equal(t, 201, n.Do("PUT", "/v1/events/gift", `{"updates":[{"board":"b","member":"{user}","score":"{n}"}]}`).Status)
	require.Equal(t, 200, n.Do("POST", "/v1/events/gift", `{"id":"g1","user":"u4","n":3}`).Status)
	require.Equal(t, 200, n.Do("POST", "/v1/events/gift/take-back", `{"id":"g1","by":"kim"}`).Status)
	require.Equal(t, 200, n.Do("PUT", "/v1/boards/b/members/u4/score", `{"score":5,"reason":"lost result","by":"lee"}`).Status)
	audit := n.Do("GET", "/v1/audit", "").Body
	require.Contains(t, audit, `"by":"kim"`)
	require.Contains(t, audit, `"reason":"lost result","by":"lee"`)

	require.Equal(t, 200, n.Do("POST", "/v1/boards/b/scores", `{"member":"u4","score":1,"if":"exists"}`).Status)
	require.Equal(t, 201, n.Do("PUT", "/v1/members/user/u4", `{"avatar":"/u4.png"}`).Status)
	require.Contains(t, n.Do("GET", "/v1/members/user/u4/boards", "").Body, `"member":"u4","avatar":"/u4.png","boards":[{"board":"b"`)
}

// A history over HTTP says where no node has looked.
func TestHistoryTellsItsGaps(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	set(now)
	n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b", History: 10 * time.Second})
	for i, pass := range []time.Duration{10 * time.Second, time.Hour} {
		require.Equal(t, 200, n.Do("POST", "/v1/boards/b/scores", `{"member":"ann","score":1}`).Status)
		now = now.Add(pass)
		set(now)
		redistest.Eventually(t, "the next step", func() error {
			var h recorded
			n.Do("GET", "/v1/boards/b/history", "").Into(&h)
			if len(h.Steps) <= i {
				return statusIs(servertest.Answer{}, 200)
			}
			return nil
		})
	}
	for _, query := range []string{"", "?member=ann"} {
		require.Contains(t, n.Do("GET", "/v1/boards/b/history"+query, "").Body, `"gap_from":"`)
	}
}

// A family whose instances cannot be read hides nothing else.
func TestOverviewWithUnavailableFamily(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{}, definition.Board{Name: "bad"}, definition.Board{Name: "many:{x}"})
	require.Equal(t, 200, n.Do("POST", "/v1/boards/many:1/scores", `{"member":"m","score":1}`).Status)
	require.NoError(t, r.Admin().Set(t.Context(), "rc:{/}:instances:many/1", "no set", 0).Err())
	require.Contains(t, n.Do("GET", "/v1/overview", "").Body, `"families":[{"board":"many:{x}","instances":0,"info":{"kind":"member","period":null},"unavailable":true}]`)
}

// A period that closes comes over the feed "periods" as the contract says.
func TestClosedPeriodComesOverTheFeed(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "rounds", Period: "1s", Base: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	s := servertest.Dial(t, n.Addr)
	s.Send(`{"type":"subscribe","id":1,"feed":"periods"}`)
	s.Next("feed") // the feed has begun
	require.Equal(t, 200, n.Do("POST", "/v1/boards/rounds/scores", `{"member":"ann","score":1}`).Status)
	require.Contains(t, string(s.Next("feed").Items[0].Data), `"board":"rounds"`)
}
