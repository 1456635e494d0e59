package ranking

import (
	"io"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// unsafeTexts runs a test with each id that a member may have from before the rule for new
// texts.
func unsafeTexts(t *testing.T, test func(t *testing.T, url, unsafeID string)) {
	for name, id := range map[string]string{"direction": "old\u202eid", "invisible": " \ufeff"} {
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

// A member, an instance and an event from before the rule can be read, hidden, taken back and removed.
func TestUnsafeTextsThatExist(t *testing.T) {
	t.Parallel()
	unsafeTexts(t, func(t *testing.T, url, unsafeID string) {
		s := newNode(t, url)
		ctx := t.Context()
		require.NoError(t, s.Define(ctx, definition.Set{
			Boards: []definition.Board{{Name: "b"}, {Name: "fans:{star}"}},
			Events: []definition.Event{{Name: "gift", Updates: []definition.Target{{Board: "fans:{star}", Member: "{user}", Score: "3"}}}},
		}))
		require.NoError(t, s.commitUpdates(ctx, "b",
			[]updateItem{{write{definition.Update{Member: unsafeID, Score: 7}, none}, nil, new(Outcome)}}))
		apply(t, s, "b", definition.Update{Member: "m", Score: 5})

		require.Equal(t, []string{unsafeID + " 7 #1", "m 5 #2"}, entriesOf(t, s, "b"))
		places := must(s.Places(ctx, "b", []Lookup{{Member: unsafeID, Around: 1}}))(t)
		require.EqualValues(t, 1, places.List[0].Entry.Rank)
		require.EqualValues(t, 7, must(s.Members(ctx, "b", []string{unsafeID}))(t).List[0].Score)
		require.ErrorIs(t, errorOf(s.Profile(ctx, "member", unsafeID)), ErrUnknownMember)
		require.NoError(t, s.DeleteProfile(ctx, "member", unsafeID))

		require.NoError(t, s.Hide(ctx, "b", unsafeID, Moderator{}))
		require.Equal(t, []string{"m 5 #1"}, entriesOf(t, s, "b"))
		require.NoError(t, s.Show(ctx, "b", unsafeID, Moderator{}))
		require.NoError(t, s.HideEverywhere(ctx, "member", unsafeID, Moderator{}))
		require.NoError(t, s.ShowEverywhere(ctx, "member", unsafeID, Moderator{}))
		must(s.Erase(ctx, "member", unsafeID, Moderator{Reason: "r"}))(t)
		must(s.Erasure(ctx, "member", unsafeID))(t)
		require.NoError(t, s.commitUpdates(ctx, "b", []updateItem{{write{definition.Update{Member: unsafeID, Score: 7}, setting}, nil,
			new(Outcome)}}))
		require.EqualValues(t, 7, must(s.Remove(ctx, "b", unsafeID))(t).Previous.Score)
		require.ErrorIs(t, errorOf(s.Remove(ctx, "b", unsafeID)), ErrUnknownMember)

		// An event as an older version has applied it.
		e := must(s.event(ctx, "gift"))(t)
		call := EventCall{ID: unsafeID, Fields: map[string]jsontext.Value{"star": jsontext.Value(`"` + unsafeID + `"`),
			"user": jsontext.Value(`"` + unsafeID + `"`)}}
		old := occurrence{
			id: call.ID, digest: e.Digest(call.Fields), definition: e.UpdatesDigest(),
			fields: []byte(`{"star":"` + unsafeID + `","user":"` + unsafeID + `"}`),
		}
		old.result.Updates = must(e.ExpandRecorded(call.Fields))(t)
		require.NoError(t, s.applyOccurrences(ctx, "gift", []*occurrence{&old}, func() {}))
		require.NoError(t, old.result.Outcomes[0].Err)
		require.Equal(t, []string{unsafeID + " 3 #1"}, entriesOf(t, s, "fans:"+unsafeID))
		require.NoError(t, must(s.TakeBack(ctx, "gift", unsafeID, nil, Moderator{}))(t).Outcomes[0].Err)
		require.Empty(t, entriesOf(t, s, "fans:"+unsafeID))
		require.NoError(t, s.Delete(ctx, "fans:"+unsafeID, Moderator{}))
	})
}
