package server_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// callers are all callers of a server with the board a, the event e and the kind k, a letter for each: n nobody,
// r read, w write, m moderate, M metrics, A admin, v viewer, x expired viewer, o a key with all scopes but admin
// for other boards, events and kinds.
const callers = "nrwmMAvxo"

// rights are the callers that may use each route of the API. It is the whole truth: the documentation has the
// same table.
var rights = map[string]string{
	"GET /v1/overview":                 "rvoA", // a list of what the caller may read
	"GET /v1/boards":                   "rvoA",
	"GET /v1/boards/a":                 "rvA",
	"PUT /v1/boards/a":                 "A",
	"DELETE /v1/boards/a":              "A",
	"GET /v1/boards/a/periods":         "rvA",
	"GET /v1/boards/a/instances":       "rvA",
	"GET /v1/boards/a/overview":        "rvA",
	"GET /v1/boards/a/top":             "rvA",
	"GET /v1/boards/a/history":         "rvA",
	"GET /v1/boards/a/at":              "rvA",
	"GET /v1/boards/a/count":           "rvA",
	"GET /v1/boards/a/search":          "rvA",
	"GET /v1/boards/a/export":          "A",
	"POST /v1/boards/a/import":         "A",
	"GET /v1/boards/a/members":         "rvA",
	"GET /v1/boards/a/members/m":       "rvA",
	"POST /v1/boards/a/scores":         "wA",
	"DELETE /v1/boards/a/members/m":    "wA",
	"PUT /v1/boards/a/members/m/score": "mA",
	"POST /v1/boards/a/freeze":         "mA",
	"POST /v1/boards/a/unfreeze":       "mA",
	"POST /v1/boards/a/reveal":         "mA",
	"GET /v1/boards/a/pending":         "mA",
	"GET /v1/boards/a/hidden":          "mA",
	"PUT /v1/boards/a/hidden/m":        "mA",
	"DELETE /v1/boards/a/hidden/m":     "mA",
	"GET /v1/hidden/k":                 "mA",
	"PUT /v1/hidden/k/m":               "mA",
	"DELETE /v1/hidden/k/m":            "mA",
	"GET /v1/members/k":                "rA",
	"GET /v1/members/k/m":              "rA",
	"GET /v1/members/k/m/boards":       "rvoA", // a list of what the caller may read
	"PUT /v1/members/k/m":              "wA",
	"DELETE /v1/members/k/m":           "mA",
	"DELETE /v1/members/k/m/profile":   "wA",
	"GET /v1/members/k/m/erasure":      "mA",
	"GET /v1/kinds":                    "rvoA",
	"GET /v1/members/k/m/hidden":       "mA",
	"POST /v1/reindex/k":               "A",
	"GET /v1/nodes":                    "A",
	"GET /v1/erasures":                 "moA",
	"GET /v1/deliveries":               "A",
	"GET /v1/audit":                    "moA",
	"GET /v1/events":                   "rvoA",
	"GET /v1/events/e":                 "rvA",
	"PUT /v1/events/e":                 "A",
	"DELETE /v1/events/e":              "A",
	"POST /v1/events/e":                "wvA",
	"POST /v1/events/e/take-back":      "mA",
	"GET /v1/boards/a/live":            "rvA",
	"GET /boards/a/card.png":           "nrwmMAvo", // 404 to those who may not read the board
	"POST /v1/tickets":                 "rwmMAvo",
	"GET /v1/session":                  "moA",
	"POST /v1/session":                 "moA",
	"DELETE /v1/session":               "nrwmMAvo",
	"GET /v1/live":                     "nrwmMAvo", // no WebSocket handshake: 400
	"GET /healthz":                     callers,    // also with credentials that are not valid
	"GET /readyz":                      "nrwmMAvo",
	"GET /metrics":                     "MoA",
}

// Each route lets exactly those callers pass that may use it. To all others it says 401 or 403 before it looks
// at anything else.
func TestEachRouteChecksItsCaller(t *testing.T) {
	t.Parallel()
	for _, anonymous := range []bool{false, true} {
		t.Run(fmt.Sprintf("anonymous=%v", anonymous), func(t *testing.T) {
			t.Parallel()
			const grants = `boards: [a, "f:*"], events: [e], kinds: [k]`
			scopes := map[byte]string{'r': "read", 'w': "write", 'm': "moderate", 'M': "metrics", 'A': "admin"}
			text := "keys:\n" + keyLine("other", `scopes: [read, write, moderate, metrics], boards: [z, "a*z"], events: [z], kinds: [z]`)
			for letter, scope := range scopes {
				rest := "scopes: [" + scope + "]"
				if letter != 'A' {
					rest += ", " + grants
				}
				text += keyLine(scope, rest)
			}
			text += "tokens: {secret_file: secret}\n"
			if anonymous {
				text += "anonymous: {scopes: [read, write], " + grants + "}\n"
			}
			g := accesstest.Start(t, text)
			keys := map[byte]string{
				'o': g.Key("other"), 'v': token(g, "m", []string{"a"}, []string{"e"}, time.Hour),
				'x': token(g, "m", []string{"a"}, []string{"e"}, -time.Hour),
			}
			for letter, scope := range scopes {
				keys[letter] = g.Key(scope)
			}
			n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}})
			admin := []string{"Authorization", "Bearer " + keys['A']}
			for route, may := range rights {
				if anonymous { // anonymous may read, and send the event; a viewer has the rights of anonymous too
					if strings.Contains(may, "r") && route != "POST /v1/tickets" {
						may += "nv"
					}
					if route == "POST /v1/events/e" {
						may += "n"
					}
				}
				method, path, _ := strings.Cut(route, " ")
				for _, letter := range []byte(callers) {
					// An act of a caller before may have deleted them.
					require.Less(t, n.Do("PUT", "/v1/boards/a", `{"kind":"k"}`, admin...).Status, 300)
					require.Less(t, n.Do("PUT", "/v1/events/e",
						`{"updates":[{"board":"a","member":"{user}","score":"{n}"}],"sender":"user","fields":{"n":{"min":1,"max":9}}}`, admin...).Status, 300)
					header := []string{"Content-Type", "application/json"}
					if strings.HasSuffix(path, "/import") {
						header[1] = "text/csv"
					}
					header = append(header, bearer(keys[letter])...)
					body := "{}"
					if method == http.MethodGet {
						body = ""
					}
					path := path
					if strings.HasSuffix(path, "/a/live") {
						path += "?top=-1" // an answer that ends
					}
					a := n.Do(method, path, body, header...)
					passed := a.Status != http.StatusUnauthorized && a.Status != http.StatusForbidden
					require.Equal(t, strings.Contains(may, string(letter)), passed, "%s by %c: %d %s", route, letter, a.Status, a.Body)
					switch {
					case passed:
					case letter == 'n' || letter == 'x':
						servertest.RequireProblem(t, a, 401, "unauthorized", "")
						require.True(t, strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer"))
					default:
						servertest.RequireProblem(t, a, 403, "forbidden", "")
						require.Empty(t, a.Header.Get("WWW-Authenticate"))
					}
				}
			}
		})
	}
}

// The table above names each route, and so does the documentation: see TestDocsNameTheNeedOfEachRoute.
func TestEachRouteHasItsRights(t *testing.T) {
	t.Parallel()
	of := strings.NewReplacer(":board", "a", ":member", "m", ":event", "e", ":kind", "k")
	for _, route := range server.APIRoutes() {
		require.Contains(t, rights, of.Replace(route))
	}
	require.Len(t, rights, len(server.APIRoutes()))
}

// No caller learns from an error whether a board, an event or a kind exists.
func TestRefusalsTellNothing(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, "keys:\n"+keyLine("game", "scopes: [read, write, moderate], boards: [open]"))
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}},
		definition.Board{Name: "secret"}, definition.Board{Name: "fam:{x}"})
	for _, header := range [][]string{nil, {"Authorization", "Bearer " + g.Key("game")}} {
		for _, path := range []string{"/v1/boards/%s", "/v1/boards/%s/top", "/v1/boards/%s/members/m", "/v1/boards/%s/live",
			"/v1/boards/%s/hidden"} {
			there := n.Do("GET", fmt.Sprintf(path, "secret"), "", header...)
			missing := n.Do("GET", fmt.Sprintf(path, "absent"), "", header...)
			require.Equal(t, there.Status, missing.Status)
			require.Equal(t, there.Body, strings.ReplaceAll(missing.Body, "absent", "secret"))
		}
	}
	// A caller with grants for names that do not exist learns of no other names.
	wide := accesstest.Start(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+keyLine("game",
		`scopes: [read, write], boards: ["fam*"], events: ["gift*"]`))
	n = servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: wide.Guard}},
		definition.Board{Name: "a"}, definition.Board{Name: "fam:{x}:{y}"})
	n.Require(201, "PUT", "/v1/events/tip", `{"updates":[{"board":"a","member":"{user}","score":1}]}`, "Authorization",
		"Bearer "+wide.Key("ops"))
	for path, hint := range map[string]string{"/v1/events/gift2": "; the events are tip",
		"/v1/boards/fam:1/top": "; want a name like fam:{x}:{y}"} {
		require.Contains(t, n.Do("GET", path, "", "Authorization", "Bearer "+wide.Key("ops")).Body, hint)
		a := n.Require(404, "GET", path, "", "Authorization", "Bearer "+wide.Key("game"))
		require.NotContains(t, a.Body, hint)
	}
	// A page tells only of boards that callers without credentials may read.
	n.Require(200, "GET", "/boards/secret", "")
	n.Require(200, "GET", "/boards/absent", "")
}

// Lists show what the caller may read, and nothing else.
func TestListsShowWhatTheCallerMayRead(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		g := accesstest.Start(t, "keys:\n"+keyLine("ops", "scopes: [admin]")+
			keyLine("some", `scopes: [read, moderate], boards: [b, "fam:{x}", "fam:1*"], events: [e2], kinds: [k2]`)+
			"anonymous: {scopes: [read], boards: [c]}\ntokens: {secret_file: secret}\n")
		admin, some := g.Key("ops"), g.Key("some")
		n := servertest.Start(t, url, servertest.Config{Server: server.Config{Access: g.Guard}},
			definition.Board{Name: "a", Kind: "k2"}, definition.Board{Name: "b", Kind: "k2"}, definition.Board{Name: "c"},
			definition.Board{Name: "fam:{x}"}, definition.Board{Name: "other:{x}"})
		do := func(method, path, body, credentials string) servertest.Answer {
			t.Helper()
			a := n.Do(method, path, body, bearer(credentials)...)
			require.Less(t, a.Status, 300, "%s %s: %s", method, path, a.Body)
			return a
		}
		for _, e := range []string{"e1", "e2"} {
			do("PUT", "/v1/events/"+e, `{"updates":[{"board":"a","member":"{user}","score":"{n}"}]}`, admin)
		}
		for _, b := range []string{"a", "b", "c", "fam:1", "fam:12", "fam:2", "other:1"} {
			do("POST", "/v1/boards/"+b+"/scores", `{"member":"m","score":1}`, admin)
		}
		viewer := token(g, "m", []string{"a", "other:*"}, []string{"e1"}, time.Hour)
		names := func(path, list, field, credentials string) (names []string) {
			t.Helper()
			var answer map[string]any
			require.NoError(t, json.Unmarshal([]byte(do("GET", path, "", credentials).Body), &answer))
			names = []string{}
			for _, item := range answer[list].([]any) {
				if object, ok := item.(map[string]any); ok {
					item = object[field]
				}
				names = append(names, item.(string))
			}
			return names
		}
		for _, c := range []struct {
			credentials string
			boards      []string // without families
			families    []string
			events      []string
		}{
			{admin, []string{"a", "b", "c"}, []string{"fam:{x}", "other:{x}"}, []string{"e1", "e2"}},
			{some, []string{"b"}, []string{"fam:{x}"}, []string{"e2"}},
			{"", []string{"c"}, []string{}, []string{}},
			{viewer, []string{"a", "c"}, []string{"other:{x}"}, []string{"e1"}},
		} {
			require.ElementsMatch(t, append(c.boards, c.families...), names("/v1/boards", "boards", "board", c.credentials))
			require.ElementsMatch(t, c.boards, names("/v1/overview", "boards", "board", c.credentials))
			require.ElementsMatch(t, c.families, names("/v1/overview", "families", "board", c.credentials))
			require.ElementsMatch(t, c.events, names("/v1/events", "events", "event", c.credentials))
		}
		require.Equal(t, []string{"fam:1", "fam:12", "fam:2"}, names("/v1/boards/fam:%7Bx%7D/instances", "instances", "", admin))
		require.Equal(t, []string{"fam:1", "fam:12"}, names("/v1/boards/fam:%7Bx%7D/instances", "instances", "", some))
		require.Equal(t, []string{"fam:1", "fam:12", "fam:2"}, names("/v1/boards/fam:%7Bx%7D/overview", "boards", "board", admin))
		require.Equal(t, []string{"fam:1", "fam:12"}, names("/v1/boards/fam:%7Bx%7D/overview", "boards", "board", some))
		// The overview names the first instances of a family only to callers that may read all of these.
		require.Contains(t, do("GET", "/v1/overview", "", admin).Body, `"board":"fam:2"`)
		require.NotContains(t, do("GET", "/v1/overview", "", some).Body, `"fam:1"`)
		// A cursor, too, tells only of names that the caller may read.
		var page struct{ Cursor *string }
		for _, want := range []string{"fam:1", "fam:12"} {
			path := "/v1/boards/fam:%7Bx%7D/instances?limit=1"
			if page.Cursor != nil {
				path += "&cursor=" + *page.Cursor
			}
			a := do("GET", path, "", some)
			require.Contains(t, a.Body, `"instances":["`+want+`"]`)
			page.Cursor = nil
			require.NoError(t, json.Unmarshal([]byte(a.Body), &page, json.MatchCaseInsensitiveNames(true)))
			if page.Cursor != nil {
				name, err := base64.RawURLEncoding.DecodeString(*page.Cursor)
				require.NoError(t, err)
				require.Equal(t, want, string(name))
			}
		}
		require.Nil(t, page.Cursor)

		// In the audit, "by" is the name of the key. A request may give no other name.
		a := n.Do("PUT", "/v1/boards/b/hidden/m", `{"by":"somebody"}`, "Authorization", "Bearer "+some)
		servertest.RequireProblem(t, a, 403, "forbidden", "by")
		do("PUT", "/v1/boards/b/hidden/m", `{"by":"some","reason":"spam"}`, some)
		do("PUT", "/v1/boards/a/hidden/m", "", admin)
		do("PUT", "/v1/hidden/k1/m", "", admin)
		do("PUT", "/v1/hidden/k2/m", "", some)
		// The caller gets the places that it may moderate. No cursor reveals another place.
		places := func(query, credentials string) string {
			return do("GET", "/v1/members/k2/m/hidden"+query, "", credentials).Body
		}
		require.JSONEq(t, `{"kind":"k2","member":"m","everywhere":true,"boards":["a","b"],"cursor":null}`, places("", admin))
		require.JSONEq(t, `{"kind":"k2","member":"m","everywhere":true,"boards":["b"],"cursor":null}`, places("?limit=1", some))
		require.Contains(t, places("?limit=1", admin), `"boards":["a"],"cursor":"`)
		require.Contains(t, places("?limit=1&cursor="+base64.RawURLEncoding.EncodeToString([]byte("a")), admin), `"boards":["b"],"cursor":null`)
		acts := func(credentials string) (acts []string) {
			var answer struct {
				Audit []struct{ Action, Board, Kind, By string }
			}
			require.NoError(t, json.Unmarshal([]byte(do("GET", "/v1/audit", "", credentials).Body), &answer, json.MatchCaseInsensitiveNames(true)))
			for _, a := range answer.Audit {
				if a.Action == "hide" {
					acts = append(acts, a.Board+a.Kind+" by "+a.By)
				}
			}
			return acts
		}
		require.Equal(t, []string{"k2 by some", "k1 by ops", "a by ops", "b by some"}, acts(admin))
		require.Equal(t, []string{"k2 by some", "b by some"}, acts(some))
	})
}

// A rate holds for each key, sub and address; a batch counts its items; each answer tells what is left.
func TestRates(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, "keys:\n"+keyLine("game", "scopes: [write], boards: [a], rate: 5/m")+keyLine("free",
		"scopes: [write, read], boards: [a]")+
		"anonymous: {scopes: [read], boards: [a], rate: 2/m}\ntokens: {secret_file: secret, rate: 3/m}\n")
	key, free := g.Key("game"), g.Key("free")
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}}, definition.Board{Name: "a"})
	do := func(credentials, method, path, body string) servertest.Answer {
		return n.Do(method, path, body, bearer(credentials)...)
	}
	updates := func(n int) string {
		return `{"updates":[` + strings.TrimSuffix(strings.Repeat(`{"member":"m","score":1},`, n), ",") + `]}`
	}
	limited := func(a servertest.Answer, policy string) {
		t.Helper()
		servertest.RequireProblem(t, a, 429, "rate_limited", "")
		require.NotEmpty(t, a.Header.Get("Retry-After"))
		require.True(t, strings.HasPrefix(a.Header.Get("RateLimit-Policy"), `"`+policy+`";q=`), a.Header)
	}
	a := do(key, "POST", "/v1/boards/a/scores", updates(3))
	require.Equal(t, 200, a.Status, "%s", a.Body)
	require.Equal(t, `"key";q=5;w=60`, a.Header.Get("RateLimit-Policy"))
	require.Regexp(t, `^"key";r=2;t=[23]\d$`, a.Header.Get("RateLimit"))
	limited(do(key, "POST", "/v1/boards/a/scores", updates(3)), "key")
	require.Equal(t, 200, do(key, "POST", "/v1/boards/a/scores", updates(1)).Status)

	for range 2 {
		require.Equal(t, 200, do("", "GET", "/v1/boards/a/top", "").Status)
	}
	limited(do("", "GET", "/v1/boards/a/top", ""), "anonymous")
	// The server trusts no proxy, so a client cannot use the rate of another address.
	limited(n.Do("GET", "/v1/boards/a/top", "", "X-Forwarded-For", "203.0.113.7"), "anonymous")
	limited(n.Do("GET", "/v1/boards/a/top", "", "Forwarded", "for=203.0.113.8"), "anonymous")
	ana, eli := token(g, "ana", []string{"a"}, nil, time.Hour), token(g, "eli", []string{"a"}, nil, time.Hour)
	for range 3 {
		require.Equal(t, 200, do(ana, "GET", "/v1/boards/a/top", "").Status)
	}
	limited(do(ana, "GET", "/v1/boards/a/top", ""), "viewer")
	require.Equal(t, 200, do(eli, "GET", "/v1/boards/a/top", "").Status)
	for range 20 {
		a := do(free, "POST", "/v1/boards/a/scores", updates(100))
		require.Equal(t, 200, a.Status)
		require.Empty(t, a.Header.Get("RateLimit"))
	}
	require.Equal(t, 200, do("", "GET", "/healthz", "").Status)
}

// The overview of a family costs tokens by the instances that it reads, whose names are free to choose.
func TestRateOfFamilyOverviews(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, `anonymous: {scopes: [read], boards: ["fans*"], rate: 8/m}`)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}},
		definition.Board{Name: "fans:{star}"})
	for i := range 25 {
		_, err := n.Store.Apply(t.Context(), fmt.Sprintf("fans:s%d", i), []definition.Update{{Member: "ana", Score: 1}})
		require.NoError(t, err)
	}
	get := func(limit int) servertest.Answer {
		return n.Do("GET", fmt.Sprintf("/v1/boards/fans:%%7Bstar%%7D/overview?limit=%d", limit), "")
	}
	for _, limit := range []int{25, 24} { // three tokens each
		require.Equal(t, 200, get(limit).Status)
	}
	servertest.RequireProblem(t, get(23), 429, "rate_limited", "")
}
