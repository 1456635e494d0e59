package server_test

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// cardOf requires the card of a board, and returns its bytes.
func cardOf(t testing.TB, n *servertest.Node, board string, header ...string) servertest.Answer {
	t.Helper()
	a := n.Do("GET", "/boards/"+board+"/card.png", "", header...)
	require.Equal(t, 200, a.Status, "%.300s", a.Body)
	require.Equal(t, "image/png", a.Header.Get("Content-Type"))
	require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
	require.NotEmpty(t, a.Header.Get("ETag"))
	picture, err := png.DecodeConfig(bytes.NewReader([]byte(a.Body)))
	require.NoError(t, err)
	require.Equal(t, 1200, picture.Width)
	require.Equal(t, 630, picture.Height)
	return a
}

// The card of a board is that of its scores, names and period, on each node.
func TestCard(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		boards := []definition.Board{{Name: "stars", Kind: "star"}, {Name: "fans:{star}", Period: "day"},
			{Name: "laps", Display: definition.Display{Format: "time_ms"}}, {Name: "laps2"}}
		n := servertest.Start(t, url, servertest.Config{}, boards...)
		etag := func(n *servertest.Node, board string) string { return cardOf(t, n, board).Header.Get("ETag") }
		score := func(board, body string) {
			n.Require(200, "POST", "/v1/boards/"+board+"/scores", body)
		}
		empty, fans := etag(n, "stars"), etag(n, "fans:s17")
		require.NotEqual(t, empty, fans)
		require.Equal(t, fans, etag(n, "fans:s18"), "all empty boards of a family have one card")
		for _, board := range []string{"stars", "fans:s17", "laps", "laps2"} {
			score(board, `{"member":"s17","score":5}`)
		}
		stars := cardOf(t, n, "stars")
		first := stars.Header.Get("ETag")
		score("stars", `{"member":"s18","score":9}`)
		require.Equal(t, first, etag(n, "stars"), "the node answers from one card for five seconds")
		n.Require(304, "GET", "/boards/stars/card.png", "", "If-None-Match", first)
		require.NotEqual(t, empty, first)
		require.Equal(t, "public, max-age=5", stars.Header.Get("Cache-Control"))
		require.Equal(t, first, n.Do("GET", "/boards/stars/card.png?v=1", "").Header.Get("ETag"), "a query changes nothing")
		cards := map[string]bool{empty: true, fans: true, first: true, etag(n, "fans:s17"): true, etag(n, "laps"): true, etag(n, "laps2"): true}
		require.Len(t, cards, 6, "cards show the name of the board, and format scores as it says")
		require.Equal(t, fans, etag(n, "fans:s18"))

		other := servertest.Start(t, url, servertest.Config{}) // a node that has drawn none
		second := etag(other, "stars")
		require.NotContains(t, cards, second)
		cards[second] = true
		n.Require(201, "PUT", "/v1/members/star/s17", `{"name":"林希"}`)
		third := servertest.Start(t, url, servertest.Config{})
		require.NotContains(t, cards, etag(third, "stars"), "cards show the names of profiles")

		head := third.Require(200, "HEAD", "/boards/stars/card.png", "")
		require.Empty(t, head.Body)
		require.Equal(t, cardOf(t, third, "stars").Header.Get("Content-Length"), head.Header.Get("Content-Length"))

		for _, name := range []string{"none", "fans:%7Bstar%7D", "fans", "fans:a:b", "stars@2026-W46", "fans:s17@1999-01-01", "a%2Fb",
			"UPPER", "%00", "%ff", "stars%20", strings.Repeat("a", 300)} {
			a := n.Require(404, "GET", "/boards/"+name+"/card.png", "")
			require.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
			require.Empty(t, a.Header.Get("ETag"))
		}
	})
}

// A name of any text is on the card of its own row, and the answer is a picture.
func TestHostileNamesOnCards(t *testing.T) {
	servertest.With(servertest.Config{Server: server.Config{Limits: access.Config{Cards: access.Unlimited}}},
		definition.Board{Name: "fans:{star}", Kind: "user"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		for i, name := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "{{.Root}}",
			strings.Repeat("W", 60), "שלום", "م م م", "🎉🔥", "ᏣᎳᎩ"} {
			board := fmt.Sprint("fans:s", i)
			n.Require(200, "POST", "/v1/boards/"+board+"/scores", `{"member":"u","score":9007199254740991}`)
			a := n.Do("PUT", "/v1/members/user/u", fmt.Sprintf(`{"name":%q}`, name))
			require.Less(t, a.Status, 300, a.Body)
			picture := cardOf(t, n, board)
			require.NotContains(t, picture.Body, "script")
			require.NotContains(t, picture.Body, "tEXt")
		}
	})
}

// A board that callers without credentials may not read has no card for them: as one that does not exist.
func TestCardNeedsTheRightToRead(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, "keys:\n"+keyLine("game", "scopes: [read], boards: [secret]")+keyLine("bare",
		"scopes: [write], boards: [secret]")+"anonymous: {scopes: [read], boards: [\"open*\"], rate: 100/s}\n")
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}},
		definition.Board{Name: "secret"}, definition.Board{Name: "open"})
	problemOf := func(board string, header ...string) servertest.Answer {
		a := n.Do("GET", "/boards/"+board+"/card.png", "", header...)
		servertest.RequireProblem(t, a, 404, "unknown_board", "board")
		return a
	}
	key := func(name string) []string { return []string{"Authorization", "Bearer " + g.Key(name)} }
	there := problemOf("secret")
	require.Equal(t, there.Body, problemOf("absent").Body)
	require.Equal(t, there.Body, problemOf("openabsent").Body)
	require.Equal(t, there.Body, problemOf("secret@-1").Body)
	require.Equal(t, there.Body, problemOf("secret", key("bare")...).Body)
	require.Equal(t, there.Body, problemOf("other", key("game")...).Body)
	require.Equal(t, "public, max-age=5", cardOf(t, n, "open").Header.Get("Cache-Control"))
	require.Equal(t, "private, max-age=5", cardOf(t, n, "secret", key("game")...).Header.Get("Cache-Control"))
	require.Equal(t, "public, max-age=5", cardOf(t, n, "open", key("game")...).Header.Get("Cache-Control"))
	problemOf("secret") // also after the node has drawn it
	servertest.RequireProblem(t, n.Do("GET", "/boards/open/card.png", "", "Authorization", "Bearer rck_none"), 401, "unauthorized", "")
	require.NotEmpty(t, n.Do("GET", "/boards/open/card.png", "").Header.Get("RateLimit"))
}

// Beyond the limit of cards a caller is told when to come back, and boards without scores use up nothing.
func TestLimitOfCardsOverHTTP(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := limited(t, url, access.Config{Cards: 4})
		n.Require(201, "PUT", "/v1/boards/fans:%7Bx%7D", `{}`)
		for i := range 30 {
			cardOf(t, n, fmt.Sprint("fans:", i), "X-Forwarded-For", phone)
			n.Require(404, "GET", fmt.Sprintf("/boards/none%d/card.png", i), "", "X-Forwarded-For", phone)
		}
		boards := 0
		// refused asks for 40 new cards at once, until an answer has this status. The node counts a card when it is asked for,
		// so the limit is reached however slowly the machine draws.
		refused := func(status int, from func(i int) string) servertest.Answer {
			for range 20 {
				paths := make([]string, 40)
				for i := range paths {
					boards++
					board := fmt.Sprint("fans:full", boards)
					n.Require(200, "POST", "/v1/boards/"+board+"/scores", `{"member":"u","score":5}`)
					paths[i] = "/boards/" + board + "/card.png"
				}
				answers := make(chan servertest.Answer, len(paths))
				for i, path := range paths {
					go func() {
						a, err := servertest.Try(t, "GET", "http://"+n.Addr+path, "", "X-Forwarded-For", from(i))
						assert.NoError(t, err)
						answers <- a
					}()
				}
				var last servertest.Answer
				for range paths {
					if a := redistest.Receive(t, "the answer", answers); a.Status == status {
						last = a
					}
				}
				if last.Status != 0 {
					return last
				}
			}
			require.FailNow(t, "the node draws any number of cards")
			return servertest.Answer{}
		}
		requireLimited(t, n, refused(429, func(int) string { return phone }), 429, "rate_limited", "address_cards")
		n.Require(200, "POST", "/v1/boards/fans:other/scores", `{"member":"u","score":5}`)
		cardOf(t, n, "fans:other", "X-Forwarded-For", laptop) // another client does not notice
		// Many addresses together may draw no more than the node does.
		requireLimited(t, n, refused(503, func(i int) string { return fmt.Sprint("203.0.113.", i) }), 503, "overloaded", "cards")
	})
}

// While Redis is away, a board whose card the node has just drawn has that card, and another one 503.
func TestCardWithoutRedis(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{}, definition.Board{Name: "stars"}, definition.Board{Name: "other"})
	for _, board := range []string{"stars", "other"} {
		n.Require(200, "POST", "/v1/boards/"+board+"/scores", `{"member":"u","score":5}`)
	}
	drawn := cardOf(t, n, "stars")
	r.Kill()
	n.Until("the node to notice", 503, "GET", "/v1/boards/other/top", "")
	require.Equal(t, drawn.Header.Get("ETag"), cardOf(t, n, "stars").Header.Get("ETag"))
	servertest.RequireProblem(t, n.Do("GET", "/boards/other/card.png", ""), 503, "unavailable", "")
}
