package pages_test

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// element is an element of a page.
type element struct {
	tag        string
	attributes map[string]string
	text       string // up to the next tag or end
}

// elementsOf are the elements of a page, in order.
func elementsOf(t *testing.T, page string) (all []element) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(page))
	open := false // no tag has ended since the last element
	for {
		switch z.Next() {
		case html.ErrorToken:
			return all
		case html.TextToken:
			if open && len(all) > 0 {
				all[len(all)-1].text += string(z.Text())
			}
		case html.EndTagToken:
			open = false
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			e := element{tag: token.Data, attributes: make(map[string]string)}
			for _, a := range token.Attr {
				e.attributes[a.Key] = a.Val
			}
			all, open = append(all, e), true
		}
	}
}

// find returns the elements of a tag that have an attribute of a value.
func find(all []element, tag, attribute, value string) (found []element) {
	for _, e := range all {
		if e.tag == tag && (attribute == "" || e.attributes[attribute] == value) {
			found = append(found, e)
		}
	}
	return found
}

// structure is what a page consists of, without its texts and values.
func structure(all []element) (tags []string) {
	for _, e := range all {
		tags = append(tags, e.tag)
	}
	return tags
}

// pagesOf are the pages with rows of the board hot:x, whatever they are named.
func pagesOf(board, member string) []string {
	at := url.PathEscape(board)
	return []string{
		"/", "/boards/" + at, "/boards/" + at + "?me=" + url.QueryEscape(member),
		"/boards/" + at + "?top=5&me=" + url.QueryEscape(member), "/overlay/" + at, "/embed/" + at, "/boards/" + at + "/story",
		"/members/star/" + url.PathEscape(member), "/show/gift", "/show/gift/" + url.PathEscape(member), "/boards/" + at + "?lang=zh",
	}
}

// fillBoards defines boards with these texts, and gives them seven members, the last of which are the given one.
func fillBoards(t *testing.T, n *servertest.Node, title, name, member string) {
	t.Helper()
	quoted := func(s string) string { return fmt.Sprintf("%q", s) }
	for board, period := range map[string]string{"stars": `,"period":"week"`, "hot": ""} {
		body := fmt.Sprintf(`{"title":%s,"description":{"en":%s},"kind":"star","display":{"unit":%s},"history":"10s"%s}`,
			quoted(title), quoted(title), quoted(title[:min(len(title), 16)]), period)
		require.Contains(t, []int{200, 201}, n.Do("PUT", "/v1/boards/"+board, body).Status)
		for i := range 7 {
			m := fmt.Sprint("m", i)
			if i == 6 {
				m = member
			}
			a := n.Do("POST", "/v1/boards/"+board+"/scores", fmt.Sprintf(`{"member":%s,"score":%d}`, quoted(m), 100-i))
			require.Equal(t, 200, a.Status, a.Body)
		}
	}
	require.NoError(t, n.Store.RecordHistory(t.Context(), "stars"))
	data := quoted(strings.NewReplacer("{", "", "}", "").Replace(title))
	a := n.Do("PUT", "/v1/events/gift", `{"show":{"board":"stars"},"updates":[{"board":"stars","member":"{star}","score":1,"data":{"text":`+
		data+`}}]}`)
	require.Equal(t, 201, a.Status, a.Body)
	require.Equal(t, 201, n.Do("PUT", "/v1/members/star/"+url.PathEscape(member),
		fmt.Sprintf(`{"name":%s,"avatar":"/a.png?x=%%27"}`, quoted(name))).Status)
}

// Titles, names and ids stay text, whatever they hold: the pages have the same elements as with plain ones.
func TestHostileTextsStayText(t *testing.T) {
	t.Parallel()
	plain := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
	fillBoards(t, plain, "a plain title of a board", "Mia", "member")
	want := make(map[int][]string)
	for i, path := range pagesOf("stars", "member") {
		want[i] = structure(elementsOf(t, plain.Do("GET", path, "").Body))
	}
	for _, text := range []string{
		`"'><script>alert(1)</script><img src=x onerror=a()>{{.}}`, `</title></script></style><svg onload=a()>`, `-->]]><!--<b`,
		"\\\"&lt;&#60;`${a}",
	} {
		n := servertest.Start(t, redistest.Embedded(t), servertest.Config{})
		fillBoards(t, n, text, text, text)
		for i, path := range pagesOf("stars", text) {
			answer := n.Do("GET", path, "")
			require.Equal(t, 200, answer.Status, path)
			all := elementsOf(t, answer.Body)
			require.Equal(t, want[i], structure(all), "%q on %s", text, path)
			for _, e := range all {
				for name := range e.attributes {
					require.False(t, strings.HasPrefix(name, "on"), "%s of %s", name, e.tag)
				}
				require.NotContains(t, e.attributes["href"], "javascript:")
			}
		}
		all := elementsOf(t, n.Do("GET", "/boards/stars?me="+url.QueryEscape(text), "").Body)
		require.Equal(t, text+" · Rankcast", find(all, "title", "", "")[0].text)
		require.Equal(t, text, find(all, "meta", "property", "og:title")[0].attributes["content"])
		require.Equal(t, text, find(all, "meta", "property", "og:description")[0].attributes["content"])
		require.Equal(t, text, find(all, "h1", "id", "name")[0].text)
		rows := find(all, "bdi", "", "")
		require.Equal(t, text, rows[len(rows)-1].text)
		card := n.Do("GET", "/boards/stars/card.png", "")
		require.Equal(t, 200, card.Status)
		require.True(t, strings.HasPrefix(card.Body, "\x89PNG"))
	}
}

// A page has what anonymous may read: rows, own row, title, links to other boards; and a family's instance its own title.
func TestPagesHaveTheirRows(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, at string) {
		n := servertest.Start(t, at, servertest.Config{},
			definition.Board{Name: "fans:{star}", Title: definition.Label{"en": "Fans of {star}", "zh": "{star}的粉丝"}, Kind: "user"})
		fillBoards(t, n, "Stars of the week", "Mia Torres", "s17")
		require.Equal(t, 200, n.Do("POST", "/v1/boards/fans:s17/scores", `{"member":"mochi","score":1234}`).Status)

		body := n.Do("GET", "/boards/stars?top=5&me=s17", "").Body
		all := elementsOf(t, body)
		board := find(all, "live-leaderboard", "id", "leaderboard")[0].attributes
		require.Equal(t, map[string]string{"id": "leaderboard", "moments": "", "pickable": "", "data-most": "1000", "board": "stars",
			"top": "5", "me": "s17", "around": "2", "heading": ""}, board)
		require.Len(t, find(all, "tr", "data-podium", "2"), 1)
		table := find(all, "table", "class", "first-rows")[0].attributes
		require.Equal(t, framesOf(t, n.Addr, `"board":"stars","top":5,"me":"s17","around":2`), []string{table["data-snapshot"], table["data-me"]})
		require.Len(t, find(all, "td", "class", "first-score"), 7, "five, the member, and a neighbour that is not among the five")
		require.Equal(t, "http://"+n.Addr+"/boards/stars", find(all, "meta", "property", "og:url")[0].attributes["content"])
		require.Equal(t, "http://"+n.Addr+"/boards/stars/card.png", find(all, "meta", "name", "twitter:image")[0].attributes["content"])
		require.Equal(t, "page", find(all, "a", "title", "stars")[0].attributes["aria-current"])

		story := elementsOf(t, n.Do("GET", "/boards/stars/story?me=s17", "").Body)
		names := find(story, "bdi", "class", "standing-name")
		require.Len(t, names, 7)
		require.Equal(t, "Mia Torres", names[6].text)
		require.Equal(t, "94 ", find(story, "span", "class", "standing-score")[6].text)
		require.Equal(t, "Stars of the wee", find(story, "small", "class", "unit")[6].text)
		require.Len(t, find(story, "li", "class", "place"), 7)
		require.Equal(t, "../../boards/stars?me=s17", find(story, "a", "id", "board-link")[0].attributes["href"])
		require.Equal(t, "http://"+n.Addr+"/boards/stars/story", find(story, "meta", "property", "og:url")[0].attributes["content"])
		page := n.Do("GET", "/members/star/s17", "")
		require.Equal(t, 200, page.Status)
		member := elementsOf(t, page.Body)
		require.Equal(t, "Mia Torres", find(member, "meta", "property", "og:title")[0].attributes["content"])
		require.Equal(t, "http://"+n.Addr+"/members/star/s17", find(member, "meta", "property", "og:url")[0].attributes["content"])
		require.Equal(t, "../../boards/stars?me=s17", find(member, "a", "title", "stars")[0].attributes["href"])
		require.Equal(t, "94 ", find(member, "span", "class", "score")[0].text)
		require.Len(t, find(member, "li", "class", "member-board"), 2, "stars and hot")
		for path, id := range map[string]string{"/members/star/nobody": "nobody", "/members/star/%3Cb%3E": "&lt;b&gt;",
			"/members/no%20kind/x": "x"} {
			missing := n.Do("GET", path, "", "If-None-Match", "*")
			require.Equal(t, 404, missing.Status, path)
			require.Contains(t, missing.Body, "<bdi>"+id+"</bdi>")
			require.Contains(t, missing.Body, "Nobody with this id")
		}
		require.Equal(t, 200, n.Do("PUT", "/v1/events/gift",
			`{"show":{"board":"stars","fans":"fans:{star}"},"updates":[{"board":"stars","member":"{star}","score":1},`+
				`{"board":"fans:{star}","member":"{user}","score":1}]}`).Status)
		require.Contains(t, n.Do("GET", "/boards/fans:s17/story", "").Body, "This board records no history")

		require.Contains(t, n.Do("GET", "/boards/fans:s17", "").Body, `<h1 id="name">Fans of Mia Torres</h1>`)
		require.Contains(t, n.Do("GET", "/boards/fans:s17?lang=zh", "").Body, `<h1 id="name">Mia Torres的粉丝</h1>`)
		star := n.Do("GET", "/show/gift/s17", "").Body
		require.Contains(t, star, `<h2 id="star-name" tabindex="-1">Mia Torres</h2>`)
		require.Contains(t, star, `<h3 id="fans-title" dir="auto">Fans of Mia Torres</h3>`)
		require.Contains(t, star, `<meta property="og:url" content="http://`+n.Addr+`/show/gift/s17">`)
		// with room for why there is no score
		for path, me := range map[string]string{"/show/gift/nobody": "nobody", "/show/gift/s17?me=mia": "mia"} {
			require.Contains(t, n.Do("GET", path, "").Body, "<bdi>"+me+"</bdi> <small></small>")
		}
		require.Contains(t, n.Do("GET", "/", "").Body, `title="stars">Stars of the week</a>`)
		nobody := elementsOf(t, n.Do("GET", "/embed/stars?me=nobody", "").Body)
		table = find(nobody, "table", "class", "first-rows")[0].attributes
		require.Equal(t, framesOf(t, n.Addr, `"board":"stars","top":10,"me":"nobody","around":1`),
			[]string{table["data-snapshot"], table["data-me"]})
		for _, path := range []string{"/boards/fans:%7Bstar%7D", "/boards/nosuch", "/overlay/stars?mode=compact"} {
			require.NotContains(t, n.Do("GET", path, "", "Accept", "text/html").Body, "data-snapshot=", path)
		}
	})
}

// framesOf are the first snapshot and the first frame of the followed member that a subscription gets, without the life of
// the snapshot, which a page has not.
func framesOf(t *testing.T, addr, wish string) []string {
	t.Helper()
	s := servertest.Dial(t, addr)
	s.Send(`{"type":"subscribe","id":"a",%s,"info":true}`, wish)
	frames := make([]string, 2)
	for frames[0] == "" || frames[1] == "" {
		frame, err := s.Raw()
		require.NoError(t, err)
		switch {
		case bytes.HasPrefix(frame, []byte(`{"type":"snapshot"`)):
			frames[0] = string(regexp.MustCompile(`"life":"[^"]+"`).ReplaceAll(frame, []byte(`"life":""`)))
		case bytes.HasPrefix(frame, []byte(`{"type":"me"`)):
			frames[1] = string(frame)
		}
	}
	return frames
}
