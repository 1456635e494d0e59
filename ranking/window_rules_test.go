package ranking

import (
	"io"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// What is kept in a window cannot be kept otherwise: with data such a change is refused,
// by the field; without any it is made.
func TestWindowsThatCannotChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		was, is definition.Board
		field   string
	}{
		{"on", definition.Board{}, definition.Board{Window: time.Hour}, "window"},
		{"off", definition.Board{Window: time.Hour}, definition.Board{}, "window"},
		{"live", definition.Board{Window: time.Hour}, definition.Board{Window: time.Hour, Refresh: definition.Live}, "refresh"},
		{"built", definition.Board{Window: time.Hour, Refresh: definition.Live}, definition.Board{Window: time.Hour}, "refresh"},
		{"mode", definition.Board{Window: time.Hour, Mode: definition.Best}, definition.Board{Window: time.Hour, Mode: definition.Last}, "mode"},
		{"order", definition.Board{Window: time.Hour}, definition.Board{Window: time.Hour, Order: definition.Asc}, "order"},
		{"union", definition.Board{Window: time.Hour}, definition.Board{Union: &definition.Union{Of: []string{"a"}}}, "union"},
	} {
		t.Run(c.name, func(t *testing.T) {
			redistest.Engines(t, func(t *testing.T, url string) {
				c := c // of this engine alone
				s := newNode(t, url)
				define(t, s, definition.Board{Name: "a"})
				for _, of := range []struct {
					board, instance string
				}{{"b", "b"}, {"fans:{x}", "fans:1"}} {
					c.was.Name, c.is.Name = of.board, of.board
					define(t, s, c.was)
					define(t, s, c.is)
					define(t, s, c.was)
					send(t, s, of.instance, definition.Update{Member: "m", Score: 3})
					Refuses(t, c.field, definition.ErrConflict, s.DefineBoard(t.Context(), c.is, Moderator{}))
					require.Equal(t, map[string]int64{"m": 3}, scoresOf(whole(t, s, of.instance)))
					Refuses(t, c.field, definition.ErrConflict, s.DefineBoard(t.Context(), c.is, Moderator{}))
				}
			})
		})
	}
}

// How long a window is, and how old its result gets, may change, and counts at once.
func TestWindowsThatChange(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "live", Window: time.Hour, Refresh: definition.Live},
		definition.Board{Name: "b", Window: time.Hour, Refresh: time.Hour})
	look := func(board string, want map[string]int64) {
		t.Helper()
		require.Equal(t, want, scoresOf(w.seen(s, board)), board)
	}
	for _, board := range []string{"live", "b"} {
		w.write(s, board, "x", 1)
		look(board, map[string]int64{"x": 1})
	}
	w.pass(20 * time.Minute)
	for _, board := range []string{"live", "b"} {
		w.write(s, board, "y", 2)
	}
	look("live", map[string]int64{"x": 1, "y": 2})
	look("b", map[string]int64{"x": 1}) // which is not due yet
	define(t, s, definition.Board{Name: "b", Window: time.Hour, Refresh: 10 * time.Minute})
	look("b", map[string]int64{"x": 1, "y": 2})
	define(t, s, definition.Board{Name: "live", Window: 10 * time.Minute, Refresh: definition.Live},
		definition.Board{Name: "b", Window: 10 * time.Minute, Refresh: time.Second})
	look("live", map[string]int64{"y": 2})
	w.pass(time.Second)
	look("b", map[string]int64{"y": 2})
	define(t, s, definition.Board{Name: "live", Window: 3 * time.Hour, Refresh: definition.Live},
		definition.Board{Name: "b", Window: 3 * time.Hour, Refresh: time.Second})
	w.pass(2 * time.Hour)
	for _, board := range []string{"live", "b"} {
		look(board, map[string]int64{"y": 2}) // longer, it has what had not gone yet
	}
}

// definesOrRefuses defines a board with the fields. For field "" it requires that the JSON of the definition reads back as
// the same definition. For another field it requires a refusal at that field, and returns the reason.
func definesOrRefuses(t *testing.T, s *Store, fields, field string) (reason string) {
	t.Helper()
	def, err := definition.ParseBoard("me:{n}", []byte("{"+fields+"}"))
	if err == nil {
		err = s.DefineBoard(t.Context(), def, Moderator{})
	}
	if field != "" {
		reason = Refuses(t, field, definition.ErrInvalid, err, fields).Reason
		require.NotEmpty(t, reason, fields)
		return reason
	}
	require.NoError(t, err, fields)
	require.Equal(t, def, must(definition.ParseBoard("me:{n}", must(def.MarshalJSON())(t)))(t), fields)
	return ""
}

// What cannot be a window is refused with the field that is wrong; what can is written as
// it is read.
func TestWindowsThatAreNone(t *testing.T) {
	t.Parallel()
	url := redistest.Embedded(t)
	s := newNode(t, url)
	define(t, s, definition.Board{Name: "a"})
	for fields, want := range map[string]string{
		`"window":"3h"`: "",
		`"window":"1s","refresh":"1s","mode":"best"`:                     "",
		`"window":"366d","refresh":"1d","mode":"last","order":"asc"`:     "",
		`"window":"90m","refresh":"live","ties":"dense","retain":"1m"`:   "",
		`"window":"90m","refresh":"live","min":0,"max":9,"max_change":3`: "",
		`"window":"90m","tie_span":"1d","max_instances":3,"kind":"user"`: "",
		`"window":"367d"`:                                           "window",
		`"window":"0s"`:                                             "window",
		`"window":"soon"`:                                           "window",
		`"window":"1.5h"`:                                           "window",
		`"window":3600`:                                             "window",
		`"window":"live"`:                                           "window",
		`"window":"3h","refresh":"2d"`:                              "refresh",
		`"window":"3h","refresh":"0s"`:                              "refresh",
		`"window":"3h","refresh":"soon"`:                            "refresh",
		`"window":"3h","refresh":60`:                                "refresh",
		`"refresh":"1m"`:                                            "refresh",
		`"refresh":"live"`:                                          "refresh",
		`"window":"3h","refresh":"live","mode":"best"`:              "refresh",
		`"window":"3h","refresh":"live","mode":"last"`:              "refresh",
		`"window":"3h","period":"day"`:                              "period",
		`"window":"3h","base":"2026-01-01T00:00:00Z"`:               "base",
		`"window":"3h","timezone":"UTC"`:                            "timezone",
		`"window":"3h","week_starts":"monday"`:                      "week_starts",
		`"window":"3h","day_starts_at":"04:00"`:                     "day_starts_at",
		`"window":"3h","keep":0`:                                    "keep",
		`"window":"3h","starts":"2026-01-01T00:00:00Z"`:             "starts",
		`"window":"3h","ends":"2027-01-01T00:00:00Z"`:               "ends",
		`"window":"3h","limit":5,"mode":"best"`:                     "limit",
		`"window":"3h","member_ttl":"1d"`:                           "member_ttl",
		`"window":"3h","union":{"of":["a"]}`:                        "window",
		`"refresh":"1m","union":{"of":["a"]}`:                       "refresh",
		`"window":"3h","max_change":5,"mode":"best"`:                "max_change",
		`"window":"3h","refresh":"live","period":"day","keep":4`:    "period",
		`"window":"3h","period":"1h","base":"2026-01-01T00:00:00Z"`: "period",
	} {
		definesOrRefuses(t, s, fields, want)
	}
	for text, want := range map[string]string{
		`{window: 3h, refresh: live}`:              `"window":"3h","refresh":"live"`,
		`{window: 3h}`:                             `"window":"3h","refresh":"1m"`,
		`{window: 180m, refresh: 90s, mode: best}`: `"window":"3h","refresh":"90s"`,
	} {
		defs := must(definition.ParseFile([]byte("boards:\n  hot: "+text)))(t, text)
		require.Equal(t, 3*time.Hour, defs.Boards[0].Window)
		written := must(defs.Boards[0].MarshalJSON())(t)
		require.Contains(t, string(written), want)
		again := must(definition.ParseBoard("hot", written))(t)
		require.Equal(t, defs.Boards[0], again)
		define(t, s, again)
		require.Equal(t, again, must(newNode(t, url).Board(t.Context(), "hot"))(t).Definition)
	}
	refused(t, errorOf(definition.ParseFile([]byte("boards:\n  hot: {window: live}"))), "boards.hot.window")
}

// An update that tells when it was counts from then, where a window is; elsewhere it is
// refused, as it is when that is too long ago, or too far ahead.
func TestUpdatesOfAnEarlierTime(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "live", Window: time.Hour, Refresh: definition.Live},
		definition.Board{Name: "b", Window: time.Hour, Refresh: time.Second}, definition.Board{Name: "plain"})
	one := func(board string, u definition.Update) (Result, error) {
		o := apply(t, s, board, u)
		return o.Result, o.Err
	}
	Refuses(t, "at", definition.ErrInvalid, errorOf(one("plain", definition.Update{Member: "m", Score: 1, At: friday})))
	require.Empty(t, whole(t, s, "plain").Entries)
	for _, at := range []time.Time{friday, {}, friday.AddDate(1000, 0, 0)} {
		r, err := one("plain", definition.Update{Member: "m", Score: 1, ID: "1", At: at, AtIfWindowed: true})
		require.NoError(t, err)
		require.Equal(t, at != friday, r.Duplicate, "without a window the time has no effect")
	}
	for _, board := range []string{"live", "b"} {
		for at, fits := range map[time.Duration]bool{
			-time.Hour: false, -time.Hour + time.Millisecond: true, -30 * time.Minute: true, 0: true, definition.MaxAhead: true,
			definition.MaxAhead + time.Millisecond: false, time.Hour: false, -1000 * time.Hour: false,
		} {
			_, err := one(board, definition.Update{Member: at.String(), Score: 1, At: w.now.Add(at), AtIfWindowed: at%time.Hour == 0})
			if fits {
				require.NoError(t, err, at)
			} else {
				Refuses(t, "at", definition.ErrOutOfRange, err)
			}
		}
		for _, ifWindowed := range []bool{false, true} {
			_, err := one(board, definition.Update{Member: "m", Score: 1, At: friday.Add(time.Microsecond), AtIfWindowed: ifWindowed})
			Refuses(t, "at", definition.ErrInvalid, err)
		}
	}
	look := func(members ...string) {
		t.Helper()
		for _, board := range []string{"live", "b"} {
			require.ElementsMatch(t, members, slices.Collect(maps.Keys(scoresOf(w.seen(s, board)))), board)
		}
	}
	look("-59m59.999s", "-30m0s", "0s", "5s")
	w.pass(2 * time.Second)
	look("-30m0s", "0s", "5s")
	w.pass(30 * time.Minute)
	look("0s", "5s")
	w.pass(30*time.Minute - 2*time.Second)
	look() // what was ahead has counted from when it came
}

// A late update that has counted is answered as the first time also when it has come to be
// too old; an id is of one time alone.
func TestRetriesOfLateUpdates(t *testing.T) {
	t.Parallel()
	for _, refresh := range []time.Duration{time.Minute, definition.Live} {
		w, s := simulatedNode(t, definition.Board{Name: "b", Window: time.Minute, Refresh: refresh})
		late := definition.Update{Member: "m", Score: 5, ID: "1", At: friday.Add(-50 * time.Second)}
		first := send(t, s, "b", late)
		first.Duplicate = true
		for range 3 {
			w.pass(30 * time.Second)
			require.Equal(t, first, send(t, s, "b", late))
			other := late
			other.At = friday.Add(-40 * time.Second)
			Refuses(t, "id", definition.ErrIDMismatch, apply(t, s, "b", other).Err)
			other.At = time.Time{}
			Refuses(t, "id", definition.ErrIDMismatch, apply(t, s, "b", other).Err)
			other = late
			other.ID = "2"
			Refuses(t, "at", definition.ErrOutOfRange, apply(t, s, "b", other).Err)
		}
		require.Empty(t, whole(t, s, "b").Entries)
	}
}

// On a board with a window an update's op is the board's mode; data are with the entries
// of a live one alone; and scores are not imported, for they are made of updates.
func TestWhatAWindowTakes(t *testing.T) {
	onNode(t, []definition.Board{
		{Name: "live", Window: time.Hour, Refresh: definition.Live},
		{Name: "sum", Window: time.Hour}, {Name: "best", Window: time.Hour, Mode: definition.Best},
	}, func(t *testing.T, s *Store) {
		for board, mode := range map[string]definition.Mode{"live": definition.Sum, "sum": definition.Sum, "best": definition.Best} {
			for _, op := range []definition.Mode{definition.Sum, definition.Best, definition.Last} {
				o := apply(t, s, board, definition.Update{Member: "op", Score: 3, Op: op})
				if op == mode {
					require.NoError(t, o.Err)
				} else {
					Refuses(t, "op", definition.ErrInvalid, o.Err)
				}
			}
			o := apply(t, s, board, definition.Update{Member: "data", Score: 1, Data: `{"a":1}`})
			want := map[string]int64{"op": 3}
			if board == "live" {
				require.NoError(t, o.Err)
				want["data"] = 1
			} else {
				Refuses(t, "data", definition.ErrInvalid, o.Err)
			}
			rows := 0
			Refuses(t, "board", definition.ErrConflict, errorOf(s.Import(t.Context(), board, func() (Row, error) {
				if rows++; rows > 1 {
					return Row{}, io.EOF
				}
				return Row{Member: "row", Score: 1}, nil
			})))
			require.Equal(t, want, scoresOf(whole(t, s, board)), board)
		}
		require.Equal(t, `{"a":1}`, whole(t, s, "live").Entries[1].Data)
		send(t, s, "live", definition.Update{Member: "data", Score: 1})
		require.Equal(t, `{"a":1}`, whole(t, s, "live").Entries[1].Data)
		send(t, s, "live", definition.Update{Member: "data", Score: 0, Data: "null"})
		require.Equal(t, "", whole(t, s, "live").Entries[1].Data)
	})
}

// An event tells when it was where one of its boards has a window, which takes it so; a
// field of its own by that name is a field.
func TestEventsOfAnEarlierTime(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "hot:{star}", Window: time.Hour, Refresh: definition.Live},
		definition.Board{Name: "plain"})
	hot, plain := definition.Target{Board: "hot:{star}", Member: "{m}", Score: "{n}"},
		definition.Target{Board: "plain", Member: "{m}", Score: "{n}"}
	require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{
		{Name: "gift", Updates: []definition.Target{plain, hot}}, {Name: "vote", Updates: []definition.Target{plain}},
		{Name: "visit", Updates: []definition.Target{{Board: "hot:{star}", Member: "{at}", Score: "1"}}},
	}}))
	happen := func(event, id, fields string) EventResult {
		t.Helper()
		o := EventCall{ID: id}
		require.NoError(t, json.Unmarshal([]byte(fields), &o.Fields))
		return must(s.ApplyEvents(t.Context(), event, []EventCall{o}))(t)[0]
	}
	counts := func(h EventResult) {
		t.Helper()
		require.NoError(t, h.Err)
		for _, o := range h.Outcomes {
			require.NoError(t, o.Err)
		}
	}
	Refuses(t, "at", definition.ErrInvalid, happen("vote", "", `{"m":"x","n":1,"at":"2026-11-20T09:30:00Z"}`).Err)
	perhaps := func(event, fields string) EventResult {
		t.Helper()
		o := EventCall{AtIfWindowed: true}
		require.NoError(t, json.Unmarshal([]byte(fields), &o.Fields))
		return must(s.ApplyEvents(t.Context(), event, []EventCall{o}))(t)[0]
	}
	Refuses(t, "at", definition.ErrInvalid, perhaps("gift", `{"star":"s","m":"x","n":1,"at":"soon"}`).Err)
	Refuses(t, "at", definition.ErrInvalid, perhaps("visit", `{"star":"s","at":"alice"}`).Err)
	for _, at := range []string{`"soon"`, `-1`, `1.5`, `null`, `""`, `"2026-11-20"`, `true`} {
		Refuses(t, "at", definition.ErrInvalid, happen("gift", "", `{"star":"s","m":"x","n":1,"at":`+at+`}`).Err)
	}
	require.Empty(t, whole(t, s, "plain").Entries)
	counts(perhaps("vote", `{"m":"x","n":0,"at":"2026-11-20T09:30:00Z"}`))
	late := `{"star":"s","m":"x","n":5,"at":"2026-11-20T09:05:00Z"}`
	counts(happen("gift", "1", late))
	counts(happen("gift", "", `{"star":"s","m":"x","n":2}`))
	counts(happen("gift", "", `{"star":"s","m":"y","n":3,"at":1795168740000}`)) // a minute before ten
	counts(happen("visit", "", `{"star":"s","at":"alice"}`))
	require.Equal(t, map[string]int64{"x": 7, "y": 3, "alice": 1}, scoresOf(whole(t, s, "hot:s")))
	w.pass(6 * time.Minute)
	again := happen("gift", "1", late)
	counts(again)
	for _, o := range again.Outcomes {
		require.True(t, o.Result.Duplicate)
	}
	Refuses(t, "id", definition.ErrIDMismatch, happen("gift", "1", `{"star":"s","m":"x","n":5,"at":"2026-11-20T09:06:01Z"}`).Err)
	must(s.housekeepDue(t.Context()))(t)
	require.Equal(t, map[string]int64{"x": 2, "y": 3, "alice": 1}, scoresOf(whole(t, s, "hot:s")))
	// Too late for the window, it counts where there is none.
	h := happen("gift", "", late)
	require.NoError(t, h.Outcomes[0].Err)
	Refuses(t, "at", definition.ErrOutOfRange, h.Outcomes[1].Err)
	require.Equal(t, map[string]int64{"x": 12, "y": 3}, scoresOf(whole(t, s, "plain")))
	w.pass(53 * time.Minute)
	must(s.housekeepDue(t.Context()))(t)
	require.Equal(t, map[string]int64{"x": 2, "alice": 1}, scoresOf(whole(t, s, "hot:s")))
}
