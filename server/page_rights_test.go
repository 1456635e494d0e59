package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// The name of a member that a board does not show is for those who may read the kind: neither the members of a board nor its
// page name it to others.
func TestNamesOfMembersThatABoardDoesNotShow(t *testing.T) {
	t.Parallel()
	guard := accesstest.Start(t, "anonymous: {scopes: [read], boards: [b], events: [e]}\nkeys:\n"+keyLine("kind",
		"scopes: [read], boards: [b], kinds: [user]"))
	n := servertest.Start(t, redistest.Start(t).URL(), servertest.Config{Server: server.Config{Access: guard.Guard}},
		definition.Board{Name: "b", Kind: "user"})
	for _, member := range []string{"shown", "hidden", "absent"} {
		_, err := n.Store.SetProfile(t.Context(), "user", member, ranking.Profile{Name: "Name of " + member,
			Avatar: "https://example.org/" + member})
		require.NoError(t, err)
	}
	for _, member := range []string{"shown", "hidden"} {
		_, err := n.Store.Apply(t.Context(), "b", []definition.Update{{Member: member, Score: 1}})
		require.NoError(t, err)
	}
	require.NoError(t, n.Store.Hide(t.Context(), "b", "hidden", ranking.Moderator{}))
	require.NoError(t, n.Store.DefineEvent(t.Context(), definition.Event{Name: "e", Show: &definition.Show{Board: "b"},
		Updates: []definition.Target{{Board: "b", Member: "{user}", Score: "1"}}}, ranking.Moderator{}))
	require.Contains(t, n.Require(200, "GET", "/show/e/shown", "", "Accept", "text/html").Body, "Name of shown")
	const members = "/v1/boards/b/members?id=shown&id=hidden&id=absent"
	a := n.Do("GET", members, "")
	require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
	bodies := []string{a.Body}
	for _, member := range []string{"hidden", "absent"} {
		bodies = append(bodies, n.Do("GET", "/boards/b?me="+member, "", "Accept", "text/html").Body,
			n.Do("GET", "/v1/boards/b/search?q=Name", "").Body,
			n.Do("GET", "/v1/members/user/"+member+"/boards", "").Body, n.Do("GET", "/members/user/"+member, "", "Accept", "text/html").Body,
			strings.ReplaceAll(n.Do("GET", "/show/e/"+member, "", "Accept", "text/html").Body, "Name of shown", ""))
	}
	for _, body := range bodies {
		for _, member := range []string{"hidden", "absent"} {
			require.NotContains(t, body, "Name of "+member)
			require.NotContains(t, body, "example.org/"+member)
		}
	}
	require.Contains(t, a.Body, "Name of shown")
	require.Contains(t, n.Do("GET", members, "", "Authorization", "Bearer "+guard.Key("kind")).Body, "Name of absent")
}

// Anybody may ask for an instance of any name. So the title of one that holds nothing names its member only to those who may
// read the kind. The title of an instance that holds something, or of a union of it, names the member to each reader.
func TestTitlesNameMembersOfInstancesThatHoldSomething(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		guard := accesstest.Start(t, "anonymous: {scopes: [read], boards: [\"*\"]}\nkeys:\n"+keyLine("kind",
			"scopes: [read], boards: [\"*\"], kinds: [star]"))
		title := definition.Label{"": "Fans of {star}"}
		n := servertest.Start(t, url, servertest.Config{Server: server.Config{Access: guard.Guard}},
			definition.Board{Name: "fans:{star}", Title: title, Description: title},
			definition.Board{Name: "all:{star}", Title: title, Union: &definition.Union{Of: []string{"fans:{star}"}}})
		for _, star := range []string{"shown", "absent", "hidden"} {
			_, err := n.Store.SetProfile(t.Context(), "star", star, ranking.Profile{Name: "Name of " + star})
			require.NoError(t, err)
		}
		for _, star := range []string{"shown", "hidden"} {
			_, err := n.Store.Apply(t.Context(), "fans:"+star, []definition.Update{{Member: "mia", Score: 1}})
			require.NoError(t, err)
		}
		require.NoError(t, n.Store.HideEverywhere(t.Context(), "star", "hidden", ranking.Moderator{}))
		key := "Bearer " + guard.Key("kind")
		// titles are the answers that hold the title of a board.
		titles := func(board, authorization string) map[string]string {
			header := []string{"Accept", "application/json"}
			stream := []string{}
			s := servertest.Dial(t, n.Addr)
			if authorization != "" {
				header, stream = append(header, "Authorization", authorization), append(stream, "Authorization: "+authorization)
				s.Send(`{"type":"auth","id":"a","token":%q}`, guard.Key("kind"))
				require.Equal(t, "ok", s.Next("ok", "error").Type)
			}
			answers := map[string]string{
				"state":  n.Do("GET", "/v1/boards/"+board, "", header...).Body,
				"stream": servertest.OpenStream(t, n.Addr, "/v1/boards/"+board+"/live?info=true", stream...).Next("snapshot").Data,
			}
			s.Send(`{"type":"subscribe","id":1,"board":%q,"info":true}`, board)
			for answers["socket"] == "" {
				frame, err := s.Raw()
				require.NoError(t, err)
				if strings.Contains(string(frame), `"snapshot"`) {
					answers["socket"] = string(frame)
				}
			}
			if authorization == "" {
				for _, path := range []string{"/boards/" + board, "/embed/" + board, "/overlay/" + board, "/tv/" + board,
					"/boards/" + board + "/story", "/boards/" + board + "/overlay"} {
					answers[path] = n.Do("GET", path, "", "Accept", "text/html").Body
				}
			}
			return answers
		}
		for _, family := range []string{"all:", "fans:"} {
			for answer, body := range titles(family+"shown", "") {
				require.Contains(t, body, "Fans of Name of shown", answer)
			}
			for _, star := range []string{"absent", "hidden"} {
				for answer, body := range titles(family+star, "") {
					require.NotContains(t, body, "Name of", answer)
					require.Contains(t, body, "Fans of "+star, answer)
				}
			}
			for answer, body := range titles(family+"absent", key) {
				require.Contains(t, body, "Fans of Name of absent", answer)
			}
			for answer, body := range titles(family+"hidden", key) {
				require.NotContains(t, body, "Name of", answer)
			}
		}
	})
}

// Pages show what anonymous may read, and no more: not in rows, lists of boards, titles or tags.
func TestPagesShowWhatAnonymousMayRead(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		guard := accesstest.Start(t, `anonymous: {scopes: [read], boards: [open]}`)
		n := servertest.Start(t, url, servertest.Config{Server: server.Config{Access: guard.Guard}},
			definition.Board{Name: "open", Title: definition.Label{"": "Open title"}},
			definition.Board{Name: "secret", Title: definition.Label{"": "Secret title"}})
		for _, board := range []string{"open", "secret"} {
			_, err := n.Store.Apply(t.Context(), board, []definition.Update{{Member: board + "-member", Score: 5}})
			require.NoError(t, err)
		}
		page := func(path string) string {
			a := n.Require(200, "GET", path, "", "Accept", "text/html")
			return a.Body
		}
		require.Contains(t, page("/boards/open"), "open-member")
		for _, path := range []string{"/", "/boards/open", "/boards/secret", "/overlay/secret", "/embed/secret", "/tv/secret",
			"/boards/secret/story", "/boards/secret/overlay"} {
			body := page(path)
			for _, unreadable := range []string{"Secret title", "secret-member", "data-board=\"secret\"", "secret/card.png"} {
				require.NotContains(t, body, unreadable, path)
			}
		}
		member := page("/members/member/secret-member") // 200: a page does not tell who is on a board that its reader may not see
		require.NotContains(t, member, "Secret title")
		require.Contains(t, member, `role="status">On no board that you can see here.</p>`)
		require.Contains(t, page("/members/member/open-member"), "Open title")
		// The next page obeys a new file.
		guard.Enforce(`anonymous: {scopes: [read], boards: [secret]}`)
		require.NotContains(t, page("/boards/open"), "open-member")
		require.Contains(t, page("/boards/secret"), "secret-member")
	})
}

// A page costs the rate of anonymous, unless the node has just made it. Beyond the rate it comes without rows.
func TestPagesTakeTheRateOfAnonymous(t *testing.T) {
	t.Parallel()
	guard := accesstest.Start(t, `anonymous: {scopes: [read], boards: [b], rate: 1/s}`)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: guard.Guard}}, definition.Board{Name: "b"})
	_, err := n.Store.Apply(t.Context(), "b", []definition.Update{{Member: "ana", Score: 5}})
	require.NoError(t, err)
	with, without := 0, 0
	for i := range 60 {
		a := n.Require(200, "GET", fmt.Sprintf("/embed/b?me=m%d", i), "")
		switch body := a.Body; {
		case a.Header.Get("RateLimit") == "":
			t.Fatal("the answer does not tell the rate")
		case strings.Contains(body, "data-snapshot="):
			with++
		default:
			without++
		}
	}
	require.Positive(t, with)
	require.Greater(t, without, 30)
}

// The page of an event holds what viewers without a token may read: the definition, rows, and what it says of senders.
func TestPageOfAShowFollowsTheRights(t *testing.T) {
	t.Parallel()
	for access, want := range map[string]struct{ defined, rows, sends bool }{ // rows: with the definition of the board of the show
		`anonymous: {scopes: [read, write], boards: ["*"], events: [vote]}`:  {defined: true, rows: true, sends: true},
		`anonymous: {scopes: [read, write], boards: ["*"], events: [other]}`: {},
		`anonymous: {scopes: [read], boards: [secret], events: ["*"]}`:       {defined: true},
	} {
		guard := accesstest.Start(t, access)
		n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: guard.Guard}},
			definition.Board{Name: "idols", Title: definition.Label{"": "Title of idols"}},
			definition.Board{Name: "secret", Title: definition.Label{"": "Title of secret"}},
			definition.Board{Name: "fans-of:{idol}", Title: definition.Label{"": "Title of fans"}})
		update := func(board string) definition.Target {
			return definition.Target{Board: board, Member: "{idol}", Score: "1"}
		}
		for _, e := range []definition.Event{
			{Name: "other", Updates: []definition.Target{update("secret")}},
			{Name: "vote", Show: &definition.Show{Board: "idols", Fans: "fans-of:{idol}"},
				Updates: []definition.Target{update("secret"), update("fans-of:{idol}"), update("idols")}},
			{Name: "win", Show: &definition.Show{Board: "secret"}, Updates: []definition.Target{update("secret")}},
		} {
			require.NoError(t, n.Store.DefineEvent(t.Context(), e, ranking.Moderator{}))
		}
		_, err := n.Store.Apply(t.Context(), "idols", []definition.Update{{Member: "mia", Score: 1}})
		require.NoError(t, err)
		for _, path := range []string{"/show/vote", "/show/vote/mia"} {
			page := n.Require(200, "GET", path, "", "Accept", "text/html").Body
			require.Equal(t, want.defined, strings.Contains(page, `{"event":"vote","show":{"board":"idols","fans":"fans-of:{idol}"},`), access)
			require.Equal(t, want.rows, strings.Contains(page, "&#34;mia&#34;"), access)
			require.Equal(t, want.rows, strings.Contains(page, "Title of idols"), access)
			require.Equal(t, want.rows, strings.Contains(page, "Title of fans"), access)
			require.NotContains(t, page, "Title of secret", access)
			require.Contains(t, page, fmt.Sprintf(`data-anonymous-sends="%t"`, want.sends), access)
		}
		require.Equal(t, want.rows, strings.Contains(n.Do("GET", "/", "", "Accept", "text/html").Body, `href="./show/vote"`), access)
	}
}

// A QR code costs the rate of anonymous.
func TestQRCodesTakeTheRateOfAnonymous(t *testing.T) {
	t.Parallel()
	guard := accesstest.Start(t, `anonymous: {scopes: [read], boards: [b], rate: 2/m}`)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: guard.Guard}})
	code := func() servertest.Answer { return n.Do("GET", "/qr.svg?text=http://"+n.Addr+"/", "") }
	require.Equal(t, 200, code().Status)
	require.Equal(t, 200, code().Status)
	servertest.RequireProblem(t, code(), 429, "rate_limited", "")
}
