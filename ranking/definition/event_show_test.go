package definition

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

const shownUpdates = `"updates":[
	{"board":"idols","member":"{idol}","score":"{roses}"},
	{"board":"fans-of:{idol}","member":"{fan}","score":"{roses}"},
	{"board":"now:{idol}","member":"{fan}","score":"{roses}"},
	{"board":"cities:{city}","member":"{idol}","score":1},
	{"board":"pairs","member":"{idol} {fan}","score":1},
	{"board":"total","member":"all","score":"{roses}"},
	{"board":"both:{idol}:{city}","member":"{fan}","score":1}]`

func TestShowIsWrittenAsItIsRead(t *testing.T) {
	t.Parallel()
	const show = `"show":{"board":"idols","fans":"fans-of:{idol}","recent":"now:{idol}","title":{"en":"Votes","ja":"投票"}},`
	e, err := ParseEvent("vote", []byte(`{`+strings.Replace(show, `"ja"`, `"JA"`, 1)+shownUpdates+`}`))
	require.NoError(t, err)
	require.Equal(t, &Show{Board: "idols", Fans: "fans-of:{idol}", Recent: "now:{idol}", Title: Label{"en": "Votes", "ja": "投票"}}, e.Show)
	require.Equal(t, "idol", e.ShownField())
	b := redistest.Must(json.Marshal(e))(t)
	require.Contains(t, string(b), `{"event":"vote",`+show+`"updates":`)
	sameEvent(t, e)

	for member, want := range map[string][2]string{"s17": {"fans-of:s17", "now:s17"}, "a:b": {}, "": {}, "a@b": {}} {
		fans, recent := e.ShownBoards(member)
		require.Equal(t, want, [2]string{fans, recent}, member)
	}
	e = redistest.Must(ParseEvent("vote", []byte(`{"show":{"board":"idols"},`+shownUpdates+`}`)))(t)
	fans, recent := e.ShownBoards("s17")
	require.Empty(t, fans+recent)
}

func TestImpossibleShowsAreRefused(t *testing.T) {
	t.Parallel()
	for show, field := range map[string]string{
		`null`: "show", `[]`: "show", `"idols"`: "show",
		`{}`: "show.board", `{"fans":"fans-of:{idol}"}`: "show.board", `{"board":""}`: "show.board", `{"board":1}`: "show.board",
		`{"board":"nosuch"}`: "show.board", `{"board":"fans-of:{idol}"}`: "show.board", `{"board":"fans-of:s17"}`: "show.board",
		`{"board":"pairs"}`: "show.board", `{"board":"total"}`: "show.board",
		`{"board":"idols","fans":"nosuch:{idol}"}`: "show.fans", `{"board":"idols","fans":"fans-of:{fan}"}`: "show.fans",
		`{"board":"idols","fans":"pairs"}`: "show.fans", `{"board":"idols","fans":"cities:{city}"}`: "show.fans",
		`{"board":"idols","recent":"both:{idol}:{city}"}`: "show.recent", `{"board":"idols","recent":"idols"}`: "show.recent",
		`{"board":"idols","recent":null}`: "show.recent", `{"board":"idols","titel":"Idols"}`: "show.titel",
		`{"board":"idols","title":""}`: "show.title", `{"board":"idols","title":{"xx-":"Idols"}}`: "show.title.xx-",
		`{"board":"idols","title":"` + strings.Repeat("x", 81) + `"}`: "show.title", `{"board":"idols","title":1}`: "show.title",
	} {
		refused(t, redistest.ErrorOf(ParseEvent("vote", []byte(`{"show":`+show+`,`+shownUpdates+`}`))), field, show)
	}
	const updates = `updates: [{board: idols, member: "{idol}", score: 1}, {board: total, member: all, score: 1}]`
	for board, is := range map[string]string{"board: nosuch": `is "nosuch"`, "board: total": `is "total"`, "": "is missing",
		`fans: "fans:{idol}"`: "is missing"} {
		_, err := ParseFile([]byte(`events: {vote: {show: {` + board + `}, ` + updates + `}}`))
		require.EqualError(t, err, "events.vote.show.board: "+is+
			"; want one board that the event updates, and whose member is one field, such as {star}: idols", board)
	}
}
