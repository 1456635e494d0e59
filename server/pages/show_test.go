package pages_test

import (
	"errors"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
)

// withoutLang matches what stands before the text of a label.
var withoutLang = regexp.MustCompile(`dir="auto"(?: lang="[^"]*")?>`)

// idols are the boards of a show of other words than the demo's.
var idols = []definition.Board{
	{
		Name: "idols", Title: definition.Label{"en": "Idols", "ja": "アイドル"}, Description: definition.Label{"en": "Vote.", "ja": "投票"},
		Display: definition.Display{Unit: definition.Label{"en": "votes", "ja": "票"}}, Period: "day", Kind: "idol",
	},
	{Name: "fans-of:{idol}", Title: definition.Label{"en": "Who loves {idol}", "ja": "{idol}のファン"}},
	{Name: "now:{idol}", Window: 3600e9},
}

// showOf is the definition of an event of idols: what stands before its updates, and the score of each.
func showOf(head, score string) string {
	return `{` + head + `"show":{"board":"idols","fans":"fans-of:{idol}","recent":"now:{idol}"},"updates":[` +
		`{"board":"idols","member":"{idol}","score":` + score + `},{"board":"fans-of:{idol}","member":"{fan}","score":` + score + `},` +
		`{"board":"now:{idol}","member":"{fan}","score":` + score + `}]}`
}

// The path /stars leads to the page of the first event that has one, by name, with what else the address says. Without such
// an event it tells a person how to get one.
func TestStarsLeadToTheFirstShow(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, append(idols, definition.Board{Name: "city"})...)
	require.Equal(t, 201, n.Do("PUT", "/v1/events/a", `{"updates":[{"board":"city","member":"{idol}","score":1}]}`).Status)
	none := n.Do("GET", "/stars", "", "Accept", browserAccepts)
	require.Equal(t, 404, none.Status)
	require.Contains(t, none.Body, "rankcast example boards")
	servertest.RequireProblem(t, n.Do("GET", "/stars", ""), 404, "not_found", "")

	later := `{"show":{"board":"city"},"updates":[{"board":"city","member":"{x}","score":1}]}`
	require.Equal(t, 201, n.Do("PUT", "/v1/events/z", later).Status)
	require.Equal(t, 201, n.Do("PUT", "/v1/events/bouquet", showOf("", `"{n}"`)).Status)
	stay := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for query, want := range map[string]string{
		"": "./show/bouquet", "?star=ann&me=mochi&goal=5": "./show/bouquet/ann?goal=5&me=mochi", "?star=": "./show/bouquet",
		"?star=a%2F..%2F%2Fb&lang=ja": "./show/bouquet/a%2F..%2F%2Fb?lang=ja",
		"?star=http://evil.example/":  "./show/bouquet/http:%2F%2Fevil.example%2F",
	} {
		res, err := stay.Get("http://" + n.Addr + "/stars" + query)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 307, res.StatusCode)
		require.Equal(t, want, res.Header.Get("Location"))
		require.Equal(t, "no-cache", res.Header.Get("Cache-Control"))
	}
}

// The path /stars names no event that viewers without a token may not read. While the node cannot know the events, it says so.
func TestStarsLeadToWhatMayBeRead(t *testing.T) {
	t.Parallel()
	guard := accesstest.Start(t, `anonymous: {scopes: [read], boards: ["*"], events: [open]}`)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: guard.Guard}}, idols...)
	define := func(name string) {
		e, err := definition.ParseEvent(name, []byte(showOf("", `"{n}"`)))
		require.NoError(t, err)
		require.NoError(t, n.Store.DefineEvent(t.Context(), e, ranking.Moderator{}))
	}
	define("hidden")
	servertest.RequireProblem(t, n.Do("GET", "/stars", ""), 404, "not_found", "")
	define("open")
	open := n.Do("GET", "/stars?star=ann", "", "Accept", browserAccepts) // follows
	require.Equal(t, 200, open.Status)
	require.Contains(t, open.Body, "Who loves ann")

	proxy := redistest.StartProxy(t, redistest.Start(t).URL())
	proxy.Hold("\r\n") // from the start
	defer func() {
		proxy.Hold()
		proxy.Cut()
	}()
	n = servertest.Start(t, proxy.URL(), servertest.Config{})
	servertest.RequireProblem(t, n.Do("GET", "/stars", "", "Accept", browserAccepts), 503, "unavailable", "")
}

// An event that does not exist, or has no show, has no page. A page says nothing about an event that viewers without a token
// may not read, nor whether it exists.
func TestPageOfNoShow(t *testing.T) {
	t.Parallel()
	guard := accesstest.Start(t, `anonymous: {scopes: [read], boards: ["*"], events: [open, plain, nosuch]}`)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: guard.Guard}}, idols...)
	define := func(name, body string) {
		e, err := definition.ParseEvent(name, []byte(body))
		require.NoError(t, err)
		require.NoError(t, n.Store.DefineEvent(t.Context(), e, ranking.Moderator{}))
	}
	define("open", showOf("", `"{n}"`))
	define("secret", showOf("", `"{n}"`))
	define("plain", `{"updates":[{"board":"idols","member":"{idol}","score":1}]}`)
	for _, path := range []string{"/show/nosuch", "/show/plain", "/show/nosuch/ann"} {
		a := n.Do("GET", path, "", "Accept", browserAccepts)
		require.Equal(t, 404, a.Status, path)
		require.Contains(t, a.Body, "No event with a page has this name: <b><bdi>"+strings.Split(path, "/")[2]+"</bdi></b>")
		servertest.RequireProblem(t, n.Do("GET", path, ""), 404, "unknown_event", "event")
	}
	open := n.Do("GET", "/show/open/ann", "", "Accept", browserAccepts)
	require.Equal(t, 200, open.Status)
	require.Contains(t, open.Body, "Who loves ann")
	for _, path := range []string{"/show/secret", "/show/secret/ann", "/show/unknown"} {
		a := n.Do("GET", path, "", "Accept", browserAccepts)
		require.Equal(t, 200, a.Status, path)
		for _, word := range []string{"idol", "Idol", "votes", "data-snapshot"} {
			require.NotContains(t, a.Body, word, path)
		}
	}
	require.Equal(t, n.Do("GET", "/show/unknown", "").Body, n.Do("GET", "/show/secret", "").Body)
}

// A goal in the address is that of the star: neither the page of all stars nor the boards of the fans have it.
func TestGoalIsTheStars(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, idols...)
	require.Equal(t, 201, n.Do("PUT", "/v1/events/bouquet", showOf("", `"{n}"`)).Status)
	goals := func(path string) int { return strings.Count(n.Require(200, "GET", path, "").Body, ` goal="5"`) }
	require.Equal(t, 1, goals("/show/bouquet/ann?me=uma&goal=5"))
	require.Zero(t, goals("/show/bouquet?me=uma&goal=5"))
}

// A page has the labels of its definitions in the language that the reader asks for, whatever the languages of its own texts
// are.
func TestShowSpeaksTheLanguagesOfItsLabels(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, idols...)
	require.Equal(t, 201, n.Do("PUT", "/v1/events/bouquet", showOf("", `"{n}"`)).Status)
	require.Equal(t, 200, n.Do("POST", "/v1/events/bouquet", `{"idol":"ann","fan":"uma","n":30}`).Status)
	for _, c := range []struct{ query, accepts, title, unit, fans, own, other string }{
		{"", "", "Idols", "votes", "Who loves ann", "en", ""},
		{"", "ja", "アイドル", "票", "annのファン", "en", "ja"},
		{"", "fr, ja;q=0.5, en;q=0.1", "アイドル", "票", "annのファン", "en", "ja"},
		{"?lang=ja-JP", "zh", "アイドル", "票", "annのファン", "zh-Hans", "ja"},
		{"?lang=en", "ja", "Idols", "votes", "Who loves ann", "en", ""},
		{"?lang=zh", "fr", "Idols", "votes", "Who loves ann", "zh-Hans", "en"},
		{"?lang=%22%3E%3Cb", "xx", "Idols", "votes", "Who loves ann", "en", ""},
	} {
		a := n.Do("GET", "/show/bouquet/ann"+c.query, "", "Accept-Language", c.accepts)
		require.Equal(t, 200, a.Status)
		for _, text := range []string{`<h1 id="title" dir="auto">` + c.title + `</h1>`, `>30 <small class="unit">` + c.unit + "<",
			`<h3 id="fans-title" dir="auto">` + c.fans + `</h3>`, `<h3 id="recent-title" dir="auto">now:ann</h3>`, `<html lang="` + c.own + `"`} {
			require.Contains(t, withoutLang.ReplaceAllString(a.Body, `dir="auto">`), text, "%+v", c)
		}
		for _, id := range []string{"title", "lead", "board-title", "back-title", "fans-title"} { // what is in another language says so
			said := ""
			if of := regexp.MustCompile(`id="` + id + `" dir="auto" lang="([^"]*)"`).FindStringSubmatch(a.Body); of != nil {
				said = of[1]
			}
			require.Equal(t, c.other, said, "%s: %+v", id, c)
		}
		require.Contains(t, a.Header.Get("Vary"), "Accept-Language")
	}
	require.Equal(t, 200, n.Do("PUT", "/v1/events/bouquet", strings.Replace(showOf("", `"{n}"`), `"show":{`,
		`"show":{"title":{"en":"Night","ko":"밤"},`, 1)).Status)
	redistest.Eventually(t, "the title of the show", func() error {
		a := n.Do("GET", "/show/bouquet?lang=ko", "")
		if !strings.Contains(a.Body, `<h1 id="title" dir="auto" lang="ko">밤</h1>`) || !strings.Contains(a.Body, "<title>밤 · Rankcast</title>") {
			return errors.New("is not there")
		}
		return nil
	})
}

// Buttons have the choices of the field, or the usual ones within its bounds, as the board writes them; where the page cannot
// fill the event, there are none.
func TestShowOffersChoices(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, append(idols, definition.Board{
		Name: "solved", Columns: definition.Columns{{Name: "n", Max: 99}, {Name: "m", Max: 9}}})...)
	button := regexp.MustCompile(`data-amount="(\d+)".*?<span class="size-count">(\d+) <span class="size-unit">([^<]*)</span>`)
	var cases []struct {
		Name    string
		Event   jsontext.Value
		Choices []int
	}
	table, err := os.ReadFile("../../web/testdata/choices.json") // also of TestShowScriptOffersTheSameChoices
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(table, &cases, json.MatchCaseInsensitiveNames(true)))
	for i, c := range cases {
		name := string(rune('a' + i))
		a := n.Do("PUT", "/v1/events/"+name, string(c.Event))
		require.Equal(t, 201, a.Status, a.Body)
		amounts := []int{}
		for _, found := range button.FindAllStringSubmatch(n.Do("GET", "/show/"+name+"/ann", "").Body, -1) {
			amount, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			amounts = append(amounts, amount)
			require.Equal(t, []string{found[1], "votes"}, found[2:])
		}
		require.Equal(t, c.Choices, amounts, c.Name)
	}
}

// The front page and the pages of boards link the page of each event that has one.
func TestShowsAreLinked(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, idols...)
	linked := func(path string) (links []string) {
		for _, a := range find(elementsOf(t, n.Do("GET", path, "").Body), "a", "class", "show-link") {
			links = append(links, a.attributes["href"]+" "+a.text)
		}
		return links
	}
	require.Empty(t, linked("/"))
	require.Equal(t, 201, n.Do("PUT", "/v1/events/bouquet", showOf("", `"{n}"`)).Status)
	roses := strings.Replace(showOf("", `1`), `"show":{`, `"show":{"title":"<b>Roses</b>",`, 1)
	require.Equal(t, 201, n.Do("PUT", "/v1/events/rose", roses).Status)
	require.Equal(t, 201, n.Do("PUT", "/v1/members/idol/ann", `{"name":"Ann"}`).Status)
	member := n.Do("GET", "/members/idol/ann?lang=en", "").Body
	require.Contains(t, member, `<a href="../../show/bouquet/ann?lang=en" dir="auto">Idols</a>`, "the pages of the star")
	for path, root := range map[string]string{"/?lang=en": "./", "/boards/idols?lang=en": "../", "/boards/fans-of:%7Bidol%7D?lang=en": "../"} {
		redistest.Eventually(t, "a page of the next second", func() error {
			want := []string{root + "show/rose?lang=en <b>Roses</b>", root + "show/bouquet?lang=en Idols"} // by title
			if links := linked(path); !slices.Equal(links, want) {
				return errors.New(path + " links " + strings.Join(links, ", "))
			}
			return nil
		})
	}

	// More than three are a list on the front page, in the order of their titles.
	for name, title := range map[string]string{"a": "Z", "b": "Y", "c": "<b>A</b>"} {
		show := strings.Replace(showOf("", `1`), `"show":{`, `"show":{"title":"`+title+`",`, 1)
		require.Equal(t, 201, n.Do("PUT", "/v1/events/"+name, show).Status)
	}
	for path, root := range map[string]string{"/?lang=en": "./", "/boards/idols?lang=en": "../"} {
		redistest.Eventually(t, "a page of the next second", func() error {
			body := n.Do("GET", path, "").Body
			if !strings.Contains(body, `<a href="`+root+`?lang=en#shows">All shows</a>`) {
				return errors.New(path + " has no link to all")
			}
			list := regexp.MustCompile(`(?s)<nav class="shows".*?</nav>`).FindString(body)
			var all []string
			for _, a := range find(elementsOf(t, list), "a", "dir", "auto") {
				all = append(all, a.text)
			}
			require.Equal(t, []string{"<b>A</b>", "<b>Roses</b>", "Idols", "Y", "Z"}, all)
			require.Len(t, linked(path), 3)
			return nil
		})
	}
}
