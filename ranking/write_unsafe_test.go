package ranking

import (
	"io"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// unsafeTexts runs a test with each kind of id that is no text of TextFault.
func unsafeTexts(t *testing.T, test func(t *testing.T, url, unsafeID string)) {
	for name, id := range map[string]string{"direction": "an\u202eid", "invisible": " \ufeff"} {
		t.Run(name, func(t *testing.T) {
			redistest.OnEngines(t, func(t *testing.T, url string) { test(t, url, id) })
		})
	}
}

// No write creates a text that changes the text around it.
func TestWritesRefuseUnsafeTexts(t *testing.T) {
	t.Parallel()
	unsafeTexts(t, func(t *testing.T, url, unsafeID string) {
		s := newNode(t, url)
		ctx := t.Context()
		event := definition.Event{Name: "gift", Updates: []definition.Target{{Board: "fans:{star}", Member: "{user}", Score: "1"}}}
		require.NoError(t, s.Define(ctx, definition.Set{Boards: []definition.Board{{Name: "b"}, {Name: "fans:{star}"}},
			Events: []definition.Event{event}}))

		refused(t, apply(t, s, "b", definition.Update{Member: unsafeID, Score: 1}).Err, "member")
		refused(t, apply(t, s, "b", definition.Update{Member: "m", Score: 1, ID: unsafeID}).Err, "id")
		refused(t, errorOf(s.Apply(ctx, "fans:"+unsafeID, []definition.Update{{Member: "m", Score: 1}})), "board")
		refused(t, errorOf(s.SetScore(ctx, "b", unsafeID, 1, Moderator{Reason: "r"})), "member")
		refused(t, errorOf(s.SetScore(ctx, "b", "m", 1, Moderator{Reason: unsafeID})), "reason")
		refused(t, s.Hide(ctx, "b", "m", Moderator{By: unsafeID}), "by")
		for field, p := range map[string]Profile{"name": {Name: unsafeID}, "avatar": {Avatar: "/" + unsafeID}} {
			refused(t, errorOf(s.SetProfile(ctx, "member", "m", p)), field)
		}
		refused(t, errorOf(s.SetProfile(ctx, "member", unsafeID, Profile{Name: "n"})), "member")
		for field, call := range map[string]EventCall{
			"star": {Fields: map[string]jsontext.Value{"star": jsontext.Value(`"` + unsafeID + `"`), "user": jsontext.Value(`"u"`)}},
			"user": {Fields: map[string]jsontext.Value{"star": jsontext.Value(`"s"`), "user": jsontext.Value(`"` + unsafeID + `"`)}},
			"id":   {ID: unsafeID, Fields: map[string]jsontext.Value{"star": jsontext.Value(`"s"`), "user": jsontext.Value(`"u"`)}},
		} {
			h := must(s.ApplyEvents(ctx, "gift", []EventCall{call}))(t)
			refused(t, h[0].Err, field)
		}
		refused(t, s.DefineBoard(ctx, definition.Board{Name: "c", Display: definition.Display{Unit: definition.Label{"": "\u2066p"}}},
			Moderator{}), "display.unit")
		event.Name, event.Updates[0].Member = "other", unsafeID
		refused(t, s.DefineEvent(ctx, event, Moderator{}), "updates[0].member")
		refused(t, errorOf(s.Import(ctx, "fans:"+unsafeID, func() (Row, error) { return Row{}, io.EOF })), "board")
		refused(t, s.Hide(ctx, "b", unsafeID, Moderator{}), "member")
		refused(t, errorOf(s.Erase(ctx, "member", unsafeID, Moderator{Reason: "r"})), "member")
		refused(t, errorOf(s.Remove(ctx, "b", unsafeID)), "member")

		require.Empty(t, entriesOf(t, s, "b"))
		require.Empty(t, must(s.Instances(ctx, "fans:{star}", "", 10))(t).Names)
		require.Empty(t, must(s.Audit(ctx, "", 10))(t))
	})
}

// An import refuses the rows of such members one by one, and takes the others.
func TestImportRefusesUnsafeMembers(t *testing.T) {
	t.Parallel()
	unsafeTexts(t, func(t *testing.T, url, unsafeID string) {
		s := newNode(t, url)
		define(t, s, definition.Board{Name: "b"})
		list := []Row{{Line: 1, Member: "a", Score: 2}, {Line: 2, Member: unsafeID, Score: 2}, {Line: 3, Member: "c", Score: 1}}
		done, err := s.Import(t.Context(), "b", func() (row Row, err error) {
			if len(list) == 0 {
				return row, io.EOF
			}
			row, list = list[0], list[1:]
			return row, nil
		})
		require.NoError(t, err)
		require.EqualValues(t, 2, done.Rows)
		require.EqualValues(t, 1, done.Refused)
		require.EqualValues(t, 2, done.First[0].Line)
		refused(t, done.First[0].Err, "member")
		require.Equal(t, []string{"a 2 #1", "c 1 #2"}, entriesOf(t, s, "b"))
	})
}
