package server_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/server/servertest"
)

// rfc and ms are how an update tells, in the two ways that there are, that it was so
// long ago.
func rfc(ago time.Duration) string {
	return strconv.Quote(time.Now().Add(-ago).Format(time.RFC3339Nano))
}

func ms(ago time.Duration) string { return fmt.Sprint(time.Now().Add(-ago).UnixMilli()) }

// defineWindows defines a window of each kind, and a board that has none.
func defineWindows(t *testing.T, n *servertest.Node) {
	t.Helper()
	for board, body := range map[string]string{"live": `{"window":"3h","refresh":"live"}`,
		"built": `{"window":"3h","refresh":"1d"}`, "plain": `{}`} {
		n.Require(201, "PUT", "/v1/boards/"+board, body)
	}
}

// A window is defined by data, is told with the board, and what makes no sense beside it
// is refused by name.
func TestWindowsAreDefinedOverHTTP(t *testing.T) {
	servertest.With(servertest.Config{}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		for _, c := range []struct{ body, refresh string }{{`{"window":"3h"}`, "1m"}, {`{"window":"3h","refresh":"live"}`, "live"}} {
			definition := `{"board":"` + c.refresh + `","mode":"sum","order":"desc","ties":"first","window":"3h","refresh":"` +
				c.refresh + `","kind":"member"}`
			for _, status := range []int{201, 200} {
				a := n.Do("PUT", "/v1/boards/"+c.refresh, c.body)
				require.Equal(t, status, a.Status, a.Body)
				require.JSONEq(t, definition, a.Body)
			}
			require.Contains(t, n.Do("GET", "/v1/boards/"+c.refresh, "").Body, `"definition":`+definition)
			require.Contains(t, n.Do("GET", "/v1/boards", "").Body, definition)
			n.Require(200, "POST", "/v1/boards/"+c.refresh+"/scores", `{"member":"a","score":3}`)
			for body, field := range map[string]string{
				`{}`: "window",
				`{"window":"3h","refresh":"` + map[string]string{"live": "2m", "1m": "live"}[c.refresh] + `"}`: "refresh",
				`{"window":"3h","refresh":"` + c.refresh + `","order":"asc"}`:                                  "order",
			} {
				require.Equal(t, "conflict "+field, code(n.Do("PUT", "/v1/boards/"+c.refresh, body)), body)
			}
			n.Require(200, "PUT", "/v1/boards/"+c.refresh, `{"window":"2h","refresh":"`+c.refresh+`"}`)
			servertest.RequireProblem(t, n.Do("GET", "/v1/boards/"+c.refresh+"@-1/top", ""), 404, "unknown_period", "board")
		}
		for body, field := range map[string]string{
			`{"window":"0s"}`:                                      "window",
			`{"window":"367d"}`:                                    "window",
			`{"window":"1500ms"}`:                                  "window",
			`{"window":3}`:                                         "window",
			`{"window":null}`:                                      "window",
			`{"refresh":"live"}`:                                   "refresh",
			`{"refresh":"1m"}`:                                     "refresh",
			`{"window":"3h","refresh":"fast"}`:                     "refresh",
			`{"window":"3h","refresh":"25h"}`:                      "refresh",
			`{"window":"3h","refresh":"live","mode":"best"}`:       "refresh",
			`{"window":"3h","refresh":"live","mode":"last"}`:       "refresh",
			`{"window":"3h","period":"day"}`:                       "period",
			`{"window":"3h","keep":1}`:                             "keep",
			`{"window":"3h","timezone":"UTC"}`:                     "timezone",
			`{"window":"3h","starts":"2026-11-20T00:00:00Z"}`:      "starts",
			`{"window":"3h","member_ttl":"1d"}`:                    "member_ttl",
			`{"window":"3h","mode":"best","limit":3}`:              "limit",
			`{"window":"3h","mode":"best","max_change":3}`:         "max_change",
			`{"window":"3h","union":{"of":["live"]}}`:              "window",
			`{"refresh":"live","union":{"of":["live"]}}`:           "refresh",
			`{"union":{"of":["live"],"window":"3h"}}`:              "union.window",
			`{"union":{"of":["live"],"refresh":"live"}}`:           "union.refresh",
			`{"window":"3h","ends":"2036-11-20T00:00:00Z"}`:        "ends",
			`{"window":"3h","period":"1h","base":"2026-01-01"}`:    "base",
			`{"window":"3h","week_starts":"sunday","period":"1h"}`: "period",
		} {
			servertest.RequireProblem(t, n.Do("PUT", "/v1/boards/other", body), 400, "invalid_request", field)
		}
	})
}

// Scores are sent to a window with the time that they were at, and read as on any board;
// those of a board whose result is built are told when they are read, and not before.
func TestWindowsOverHTTP(t *testing.T) {
	servertest.With(servertest.Config{}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		defineWindows(t, n)
		do := func(status int, method, path, body, want string) {
			t.Helper()
			a := n.Do(method, path, body)
			require.Equal(t, status, a.Status, a.Body)
			if want != "" {
				require.JSONEq(t, want, a.Body)
			}
		}
		for _, board := range []string{"live", "built"} {
			path := "/v1/boards/" + board
			// told is the answer where scores are those of the moment; else it has none.
			told := func(member, standing, previous, duplicate string) string {
				if board == "built" {
					standing, previous = `"score":null,"rank":null`, "null"
				}
				return fmt.Sprintf(`{"board":%q,"period":"","member":%q,%s,"previous":%s,"duplicate":%s}`, board, member, standing, previous, duplicate)
			}
			head := fmt.Sprintf(`"board":%q,"period":"","ends":null,"final":false`, board)
			a := `{"member":"a","score":3`
			do(200, "POST", path+"/scores", a+`}`, told("a", `"score":3,"rank":1`, "null", "false"))
			do(200, "POST", path+"/scores", a+`,"at":`+rfc(2*time.Hour)+`}`, told("a", `"score":6,"rank":1`, `{"score":3,"rank":1}`, "false"))
			do(200, "POST", path+"/scores", a+`,"at":`+ms(time.Minute)+`}`, told("a", `"score":9,"rank":1`, `{"score":6,"rank":1}`, "false"))
			do(200, "POST", path+"/scores", a+`,"at":`+ms(-time.Second)+`}`, told("a", `"score":12,"rank":1`, `{"score":9,"rank":1}`, "false"))
			for _, duplicate := range []string{"false", "true"} {
				do(200, "POST", path+"/scores", `{"member":"b","score":5,"op":"sum","id":"g1"}`, told("b", `"score":5,"rank":2`, "null", duplicate))
			}

			for _, c := range []struct {
				fields string
				status int
				code   string
				field  string
			}{
				{`"at":"2026-11-20"`, 400, "invalid_request", "at"},
				{`"at":"yesterday"`, 400, "invalid_request", "at"},
				{`"at":""`, 400, "invalid_request", "at"},
				{`"at":null`, 400, "invalid_request", "at"},
				{`"at":1e3`, 400, "invalid_request", "at"},
				{`"at":-1`, 400, "invalid_request", "at"},
				{`"at":{}`, 400, "invalid_request", "at"},
				{`"at":` + rfc(3*time.Hour), 422, "out_of_range", "at"},
				{`"at":` + ms(3*time.Hour), 422, "out_of_range", "at"},
				{`"at":` + ms(-time.Hour), 422, "out_of_range", "at"},
				{`"op":"best"`, 400, "invalid_request", "op"},
			} {
				servertest.RequireProblem(t, n.Do("POST", path+"/scores", a+`,`+c.fields+`}`), c.status, c.code, c.field)
				batch := n.Require(200, "POST", path+"/scores", `{"updates":[`+a+`,`+c.fields+`}]}`)
				require.Contains(t, batch.Body, fmt.Sprintf(`"field":"updates[0].%s"`, c.field))
			}

			rows := `[{"rank":1,"member":"a","score":12},{"rank":2,"member":"b","score":5}]`
			top := `{` + head + `,"total":2,"top":` + rows + `,"cursor":null}`
			do(200, "GET", path+"/top", "", top)
			do(200, "GET", path+"/members/b?around=1", "",
				`{`+head+`,"rank":2,"member":"b","score":5,"total":2,"percentile":0,"to_next":7,"around":`+rows+`}`)
			do(200, "GET", path+"/members?id=b&id=z", "",
				`{`+head+`,"total":2,"members":[{"member":"b","rank":2,"among":1,"score":5},{"member":"z","rank":null,"among":null,"score":null}]}`)
			do(200, "GET", path+"/at?score=12", "", `{`+head+
				`,"total":2,"score":12,"rank":2,"count":1,"members":[{"rank":1,"member":"a","score":12}],"cursor":null}`)
			do(200, "GET", path+"/count", "", `{`+head+`,"total":2,"count":2}`)
			require.Equal(t, `{"member":"a","score":12}`+"\n"+`{"member":"b","score":5}`, n.Do("GET", path+"/export", "").Body)
			require.Equal(t, "member,score,data\na,12,\nb,5,", n.Do("GET", path+"/export?format=csv", "").Body)
			do(200, "GET", path+"/periods", "",
				fmt.Sprintf(`{"board":%q,"periods":[{"period":"","opens":null,"ends":null,"final":false,"total":2}]}`, board))
			info := n.Do("GET", path, "").Body
			require.Contains(t, info, `"total":2,`)
			require.Contains(t, info, `"window":"3h","refresh":"`+map[string]string{"live": "live", "built": "1d"}[board]+`"`)

			// What is done after a result was built shows with the next, but for what
			// takes somebody off the board.
			do(200, "PUT", path+"/members/b/score", `{"score":90,"reason":"lost in the outage"}`,
				told("b", `"score":90,"rank":1`, `{"score":5,"rank":2}`, "false"))
			if board == "built" {
				do(200, "GET", path+"/top", "", top)
			} else {
				do(200, "GET", path+"/top", "", `{`+head+
					`,"total":2,"top":[{"rank":1,"member":"b","score":90},{"rank":2,"member":"a","score":12}],"cursor":null}`)
			}
			do(200, "DELETE", path+"/members/b", "", told("b", `"score":null,"rank":null`, `{"score":90,"rank":1}`, "false"))
			servertest.RequireProblem(t, n.Do("DELETE", path+"/members/b", ""), 404, "unknown_member", "member")
			do(200, "GET", path+"/top", "", `{`+head+`,"total":1,"top":[{"rank":1,"member":"a","score":12}],"cursor":null}`)
			do(204, "PUT", path+"/hidden/a", "", "")
			do(200, "GET", path+"/top", "", `{`+head+`,"total":0,"top":[],"cursor":null}`)

			servertest.RequireProblem(t, n.Do("POST", path+"/import", `{"member":"a","score":3}`, "Content-Type", ndjson), 409, "conflict", "board")
			servertest.RequireProblem(t, n.Do("POST", path+"/import", "", "Content-Type", ndjson), 409, "conflict", "board")
		}
		servertest.RequireProblem(t, n.Do("POST", "/v1/boards/plain/scores", `{"member":"a","score":3,"at":`+ms(0)+`}`), 400,
			"invalid_request", "at")
		do(200, "POST", "/v1/boards/live/scores", `{"member":"d","score":1,"data":{"x":1}}`, "")
		servertest.RequireProblem(t, n.Do("POST", "/v1/boards/built/scores", `{"member":"d","score":1,"data":{"x":1}}`), 400,
			"invalid_request", "data")
	})
}

// An event that happened a while ago counts from then on the windows among its boards,
// and now on the others.
func TestEventsInThePast(t *testing.T) {
	servertest.With(servertest.Config{}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		defineWindows(t, n)
		var updates []string
		for _, board := range []string{"plain", "live", "built"} {
			updates = append(updates, `{"board":"`+board+`","member":"{user}","score":"{n}"}`)
		}
		n.Require(201, "PUT", "/v1/events/gift", `{"updates":[`+strings.Join(updates, ",")+`]}`)
		n.Require(201, "PUT", "/v1/events/other", `{"updates":[`+updates[0]+`]}`)
		result := func(board, rest string) string {
			return `{"board":"` + board + `","period":"","member":"u",` + rest + `}`
		}
		first := func(duplicate string) string {
			standing := `"score":7,"rank":1,"previous":null,"duplicate":` + duplicate
			return `{"results":[` + result("plain", standing) + `,` + result("live", standing) + `,` + result("built",
				`"score":null,"rank":null,"previous":null,"duplicate":`+duplicate) + `]}`
		}
		g1 := `{"id":"g1","user":"u","n":7,"at":` + rfc(time.Hour) + `}`
		for _, duplicate := range []string{"false", "true"} {
			a := n.Require(200, "POST", "/v1/events/gift", g1)
			require.JSONEq(t, first(duplicate), a.Body)
		}
		servertest.RequireProblem(t, n.Do("POST", "/v1/events/gift", strings.Replace(g1, `"at":`, `"at":1,"was":`, 1)), 400,
			"invalid_request", "was")
		servertest.RequireProblem(t, n.Do("POST", "/v1/events/gift", `{"id":"g1","user":"u","n":7}`), 409, "idempotency_mismatch", "id")
		for _, at := range []string{`"2026-11-20"`, `null`, `1.5`, `[]`} {
			servertest.RequireProblem(t, n.Do("POST", "/v1/events/gift", `{"user":"u","n":7,"at":`+at+`}`), 400, "invalid_request", "at")
		}
		servertest.RequireProblem(t, n.Do("POST", "/v1/events/other", `{"user":"u","n":7,"at":`+ms(0)+`}`), 400, "invalid_request", "at")

		// Too long ago for the windows, and in a batch.
		a := n.Require(200, "POST", "/v1/events/gift", `{"events":[{"user":"u","n":1,"at":`+ms(4*time.Hour)+`},{"user":"u","n":1,"at":`+
			ms(time.Minute)+`}]}`)
		var results struct {
			Results []struct {
				Results []struct {
					Board string
					Score *int64
					Error *struct{ Code, Field string }
				}
			}
		}
		a.Into(&results)
		require.Len(t, results.Results, 2)
		for i, want := range [][3]string{{"8", "out_of_range", "out_of_range"}, {"9", "8", "-"}} {
			for j, r := range results.Results[i].Results {
				got := "-"
				if r.Error != nil {
					got = r.Error.Code
					require.Contains(t, r.Error.Field, "at")
				} else if r.Score != nil {
					got = fmt.Sprint(*r.Score)
				}
				require.Equal(t, want[j], got, a.Body)
			}
		}
		top, _ := n.Top("built", 10)
		require.EqualValues(t, 8, top[0].Score)

		// A socket takes them, too.
		s := servertest.Dial(t, n.Addr)
		answer := func(format string, args ...any) string {
			t.Helper()
			s.Send(format, args...)
			b, err := s.Raw()
			require.NoError(t, err)
			return string(b)
		}
		require.JSONEq(t, `{"type":"result","id":1,"board":"live","period":"","member":"u","score":10,"rank":1,`+
			`"previous":{"score":8,"rank":1},"duplicate":false}`,
			answer(`{"type":"update","id":1,"board":"live","update":{"member":"u","score":2,"at":%s}}`, rfc(time.Hour)))
		require.JSONEq(t, `{"type":"result","id":2,"board":"built","period":"","member":"u","score":null,"rank":null,`+
			`"previous":null,"duplicate":false}`,
			answer(`{"type":"update","id":2,"board":"built","update":{"member":"u","score":2,"at":%s}}`, ms(time.Hour)))
		for id, update := range map[string]string{
			`"out_of_range"`: `{"type":"update","id":"out_of_range","board":"live","update":{"member":"u","score":2,"at":` +
				ms(4*time.Hour) + `}}`,
			`"invalid_request"`: `{"type":"update","id":"invalid_request","board":"live","update":{"member":"u","score":2,"at":"soon"}}`,
		} {
			got := answer("%s", update)
			require.Contains(t, got, `{"type":"error","id":`+id+`,"code":`+id)
			require.Contains(t, got, `"field":"update.at"`)
		}
		got := answer(`{"type":"event","id":3,"event":"gift","data":{"user":"u","n":1,"at":%s}}`, ms(time.Minute))
		require.Contains(t, got, `{"type":"result","id":3,"results":[{"board":"plain","period":"","member":"u","score":10,`)
		require.Contains(t, got, `{"board":"live","period":"","member":"u","score":11,`)
		require.Contains(t, answer(`{"type":"event","id":4,"event":"gift","data":{"user":"u","n":1,"at":0.5}}`), `"field":"data.at"`)
	})
}
