package server_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// publicReads are requests for what callers with the scope read may see of frozen boards: for each route of the API, and pages.
// BOARD stands for a board.
var publicReads = map[string][]string{
	"/v1/overview":           {"", "?limit=10", "?search=final"},
	"/v1/boards":             {"", "?event=vote"},
	"/v1/boards/a":           {"/v1/boards/BOARD", "/v1/boards/acts:{act}"},
	"/v1/boards/a/periods":   {"/v1/boards/BOARD/periods"},
	"/v1/boards/a/instances": {"/v1/boards/acts:{act}/instances", "/v1/boards/acts:{act}/instances?prefix=acts:n"},
	"/v1/boards/a/overview":  {"/v1/boards/acts:{act}/overview"},
	"/v1/boards/a/top": {"/v1/boards/BOARD/top", "/v1/boards/BOARD/top?from_rank=2",
		"/v1/boards/BOARD/top?min_score=6&max_score=50"},
	"/v1/boards/a/history":   {"/v1/boards/final/history", "/v1/boards/final/history?member=new"},
	"/v1/boards/a/at":        {"/v1/boards/BOARD/at?score=20", "/v1/boards/BOARD/at?score=5"},
	"/v1/boards/a/count":     {"/v1/boards/BOARD/count?min_score=6"},
	"/v1/boards/a/search":    {"/v1/boards/BOARD/search?q=n"},
	"/v1/boards/a/members":   {"/v1/boards/BOARD/members?id=a&id=new&id=b&sort=rank"},
	"/v1/boards/a/members/m": {"/v1/boards/BOARD/members/a?around=3", "/v1/boards/BOARD/members/new", "/v1/boards/BOARD/members/b"},
	"/v1/members/k":          {"/v1/members/act?q=n", "/v1/members/act?q=a"},
	"/v1/members/k/m":        {"/v1/members/act/new", "/v1/members/act/a"},
	"/v1/members/k/m/boards": {"/v1/members/act/new/boards?info=true", "/v1/members/act/a/boards", "/v1/members/act/b/boards"},
	"/v1/kinds":              {""},
	"/v1/events":             {""},
	"/v1/events/e":           {"/v1/events/vote"},
	"/v1/boards/a/live":      {}, // see below
	"/boards/a/card.png":     {"/boards/BOARD/card.png"},
	"the pages": {"/", "/?list", "/boards/BOARD", "/boards/final/story", "/boards/acts:{act}",
		"/members/act/new", "/members/act/a"},
	"the pages of other readers": {"/embed/BOARD", "/overlay/BOARD", "/tv/BOARD", "/show/vote", "/show/vote/a", "/show/vote/new?me=a"},
}

// varying are the parts of answers that differ at each time: the time of the answer, and nonces.
var varying = regexp.MustCompile(`"now":"[^"]*"|"rate":(?:null|\d+)|nonce-?="?[^" ]*"?`)

// What is written while a board is frozen changes no answer to a caller without the scope moderate, neither to a key, nor to a viewer,
// nor to somebody without credentials: the answers to each route, and all pages, are the same bytes before and after.
func TestNothingLeaksOfAFrozenBoard(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		const grants = `boards: ["*"], events: ["*"], kinds: ["*"]`
		g := accesstest.Start(t, "keys:\n"+keyLine("admin", "scopes: [admin]")+keyLine("reader", "scopes: [read], "+grants)+
			"tokens: {secret_file: secret}\nanonymous: {scopes: [read], "+grants+"}\n")
		config := servertest.Config{Server: server.Config{Access: g.Guard}}
		ends := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
		final := definition.Board{Name: "final", Kind: "act", History: 24 * time.Hour}
		timed, empty := definition.Board{Name: "timed", Kind: "act", Ends: ends}, definition.Board{Name: "empty", Kind: "act", Ends: ends}
		family := definition.Board{Name: "acts:{act}", Kind: "act", Ends: ends}
		n := servertest.Start(t, url, config, final, timed, empty, family, definition.Board{Name: "all", Kind: "act",
			Union: &definition.Union{Of: []string{"final", "timed"}}})
		admin := bearer(g.Key("admin"))
		do := func(method, path, body string) servertest.Answer {
			t.Helper()
			return n.Require(200, method, path, body, admin...)
		}
		for _, m := range []string{"a", "new"} {
			n.Require(201, "PUT", "/v1/members/act/"+m, `{"name":"N`+m+`"}`, admin...)
		}
		for _, b := range []string{"final", "timed", "acts:old"} {
			do("POST", "/v1/boards/"+b+"/scores", `{"updates":[{"member":"a","score":10},{"member":"b","score":5},`+
				`{"member":"c","score":7,"data":1}]}`)
		}
		for name, d := range map[string]string{"timed": "", "empty": "", "acts:{act}": ""} {
			do("PUT", "/v1/boards/"+name, fmt.Sprintf(`{"kind":"act","ends":"%s","freeze":"2h"%s}`, ends.Format(time.RFC3339), d))
		}
		n.Require(201, "PUT", "/v1/events/vote", `{"sender":"who","show":{"board":"final"},"fields":{"n":{"min":-99,"max":99}},`+
			`"updates":[{"board":"final","member":"{who}","score":"{n}"}]}`, admin...)
		frozen := do("POST", "/v1/boards/final/freeze", `{"reason":"the finish"}`)
		require.NotEmpty(t, frozenOf(t, frozen))

		callers := [][]string{nil, bearer(g.Key("reader")), bearer(token(g, "a", []string{"*"}, []string{"*"}, time.Hour))}
		read := func() map[string]string {
			t.Helper()
			answers := make(map[string]string)
			for _, route := range slices.Sorted(maps.Keys(publicReads)) {
				for _, path := range publicReads[route] {
					if path == "" || path[0] == '?' {
						path = route + path
					}
					for _, board := range []string{"final", "timed", "empty", "acts:old", "acts:new", "all"} {
						of := strings.ReplaceAll(path, "BOARD", board)
						a := n.Do("GET", of, "", callers[len(answers)%len(callers)]...) // in turn
						require.NotEqual(t, 503, a.Status, of)
						answers[of] = fmt.Sprint(a.Status, " ", a.Header.Get("ETag"), " ", varying.ReplaceAllString(a.Body, ""))
						if of == path {
							break
						}
					}
				}
			}
			return answers
		}
		stream := servertest.OpenStream(t, n.Addr, "/v1/boards/final/live?top=10&me=new&around=2")
		first := stream.Next("snapshot").Data
		stream.Next("me")
		do("GET", "/v1/boards/all/top", "") // builds it
		minute := func() time.Time { return n.Store.Now().Truncate(time.Minute) }
		began, before := minute(), read()

		for _, b := range []string{"final", "timed", "empty", "acts:old", "acts:new"} {
			body := do("POST", "/v1/boards/"+b+"/scores", `{"updates":[{"member":"b","score":90},{"member":"new","score":20,"data":{"x":1}},`+
				`{"member":"c","score":0,"data":null}]}`).Body
			require.Equal(t, 3, strings.Count(body, `"frozen":true`), body)
			do("PUT", "/v1/boards/"+b+"/members/late/score", `{"score":3,"reason":"lost"}`)
			if b == "final" || b == "acts:old" {
				do("DELETE", "/v1/boards/"+b+"/members/a", "")
			}
		}
		n.Require(200, "POST", "/v1/events/vote", `{"who":"a","n":5}`, callers[2]...)

		after := read()
		if minute() != began { // the picture of a board that is not frozen shows the minute
			delete(before, "/boards/all/card.png")
		}
		for _, request := range slices.Sorted(maps.Keys(before)) {
			require.Equal(t, before[request], after[request], request)
		}
		require.Equal(t, first, servertest.OpenStream(t, n.Addr, "/v1/boards/final/live?top=10").Next("snapshot").Data)
		require.JSONEq(t, `{"board":"acts:{act}","total":2,"instances":["acts:new","acts:old"],"cursor":null}`,
			do("GET", "/v1/boards/acts:{act}/instances", "").Body)
		do("POST", "/v1/boards/final/unfreeze", `{"reason":"the end"}`)
		next, err := stream.Read()
		require.NoError(t, err)
		require.Contains(t, []string{"snapshot", "delta", "board"}, next.Type, "the first frame since then")
		require.Contains(t, n.Require(200, "GET", "/v1/boards/final/top", "").Body, `"new"`)
	})
}

// Each route by which a caller with the scope read sees something stands in publicReads.
func TestAllPublicReadsAreCompared(t *testing.T) {
	t.Parallel()
	for route, may := range rights {
		method, path, _ := strings.Cut(route, " ")
		if method == "GET" && strings.Contains(may, "r") && strings.Contains(may, "v") && !strings.HasSuffix(path, "z") && path != "/v1/live" ||
			strings.HasPrefix(route, "GET /v1/members/k") && strings.HasPrefix(may, "r") {
			require.Contains(t, publicReads, path)
		}
	}
}

// A viewer gets the same answer to each event on a frozen board, whether the board takes the update or refuses it, and to each retry.
func TestViewersLearnNothingFromAnswers(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		g := accesstest.Start(t, "keys:\n"+keyLine("admin", "scopes: [admin]")+"tokens: {secret_file: secret}\n"+
			"anonymous: {scopes: [write], events: [vote]}\n")
		least, most := int64(0), int64(100)
		n := servertest.Start(t, url, servertest.Config{Server: server.Config{Access: g.Guard}},
			definition.Board{Name: "final", Kind: "act", Min: &least, Max: &most, FreezeOthers: definition.OthersOpen},
			definition.Board{Name: "open", Kind: "act"})
		admin := bearer(g.Key("admin"))
		for _, m := range []string{"a", "me"} {
			n.Require(201, "PUT", "/v1/members/act/"+m, `{"name":"N"}`, admin...)
		}
		n.Require(201, "PUT", "/v1/events/vote", `{"sender":"who","fields":{"who":{"kind":"act"},"act":{"kind":"act"},"n":{"min":-99,"max":99}},`+
			`"updates":[{"board":"final","member":"{act}","score":"{n}"},{"board":"open","member":"{who}","score":1}]}`, admin...)
		n.Require(200, "POST", "/v1/boards/final/freeze", `{"reason":"the finish"}`, admin...)
		viewer := bearer(token(g, "me", nil, []string{"vote"}, time.Hour))
		events := `{"events":[{"id":"1","who":"me","act":"a","n":60},{"id":"2","who":"me","act":"a","n":60},` +
			`{"id":"3","who":"me","act":"a","n":-80}]}`
		const same = `{"board":"final","member":"a","frozen":true}`
		for range 2 {
			a := n.Require(200, "POST", "/v1/events/vote", events, viewer...)
			require.Equal(t, 3, strings.Count(a.Body, `{"results":[`+same+`,`), a.Body)
		}
		require.Contains(t, n.Require(200, "POST", "/v1/events/vote", `{"who":"me","act":"a","n":60}`, viewer...).Body, same)
		for range 2 {
			a := n.Require(200, "POST", "/v1/events/vote", `{"id":"4","who":"me","act":"a","n":60}`)
			require.Contains(t, a.Body, same, "without credentials")
		}
		s := servertest.DialPath(t, n.Addr, "/v1/live", viewer...)
		s.Send(`{"type":"event","id":1,"event":"vote","data":{"who":"me","act":"a","n":60}}`)
		answer, err := s.Raw()
		require.NoError(t, err)
		require.Contains(t, string(answer), same)

		// A key is told.
		require.Equal(t, "out_of_range score", code(n.Do("POST", "/v1/boards/final/scores", `{"member":"a","score":60}`, admin...)))
		require.Contains(t, n.Require(200, "POST", "/v1/events/vote", `{"who":"me","act":"a","n":60}`, admin...).Body, `"code":"out_of_range"`)
		require.Contains(t, n.Require(200, "GET", "/v1/boards/final/pending", "", admin...).Body, `"pending":{"rank":1,"score":60}`)
	})
}
