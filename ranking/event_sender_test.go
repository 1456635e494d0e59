package ranking_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// sentGift is a gift that viewers may send, to the stars that have a profile.
var sentGift = definition.Event{Name: "gift", Sender: "user",
	Rules: definition.FieldRules{"star": {Kind: "star"}, "flowers": {Min: new(int64(1)), Max: new(int64(99))}},
	Updates: []definition.Target{
		{Board: "stars", Member: "{star}", Score: "{flowers}"},
		{Board: "fans:{star}", Member: "{user}", Score: "{flowers}"},
		{Board: "hour", Member: "{user}", Score: "{flowers}"},
	}}

// sentGifts defines sentGift, and the stars s17 and s18.
func sentGifts(t testing.TB, url string) *ranking.Store {
	t.Helper()
	s := open(t, url)
	require.NoError(t, s.Define(t.Context(), definition.Set{
		Boards: []definition.Board{{Name: "stars"}, {Name: "fans:{star}"}, {Name: "hour", Window: time.Hour, Refresh: definition.Live}},
		Events: []definition.Event{sentGift}}))
	for _, star := range []string{"s17", "s18"} {
		must(s.SetProfile(t.Context(), "star", star, ranking.Profile{Name: star}))(t)
	}
	return s
}

// by makes a call of a viewer; "" is an anonymous caller.
func by(sub string, o ranking.EventCall) ranking.EventCall {
	o.Sender = &ranking.Sender{Sub: sub}
	return o
}

// fails checks that an occurrence was refused, with a FieldError at a field.
func fails(t testing.TB, h ranking.EventResult, kind error, field, reason string) {
	t.Helper()
	require.Contains(t, ranking.Refuses(t, field, kind, h.Err).Reason, reason)
}

// What a viewer may not send is refused, changes nothing and is not published. The others of its batch count.
func TestGiftsThatAViewerMayNotSend(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, feed := sentGifts(t, url), listen(t, url, "gift")
		now := time.Now().UTC().Format(time.RFC3339)
		wrong := []struct {
			call   ranking.EventCall
			kind   error
			field  string
			reason string
		}{
			{by("u4", gift("1", "s17", "u4", -3)), definition.ErrOutOfRange, "flowers", "is -3; want 1 to 99"},
			{by("u4", gift("2", "s17", "u4", 0)), definition.ErrOutOfRange, "flowers", "is 0; want 1 to 99"},
			{by("u4", gift("3", "s17", "u4", 100)), definition.ErrOutOfRange, "flowers", "is 100; want 1 to 99"},
			{by("u4", gift("4", "s17", "u4", definition.MaxScore)), definition.ErrOutOfRange, "flowers", "want 1 to 99"},
			{by("u4", gift("5", "s999", "u4", 3)), definition.ErrInvalid, "star", `is "s999", which has no profile of the kind star`},
			{by("u4", gift("6", "s17", "u5", 3)), definition.ErrForbidden, "user", `is "u5", but the token is for "u4"`},
			{by("u4", ranking.Occurs("7", "star", "s17", "user", "u4", "flowers", 3, "at", now)), definition.ErrForbidden, "at",
				"only keys may set"},
			{by("", ranking.Occurs("8", "star", "s17", "user", "u4", "flowers", 3, "at", now)), definition.ErrForbidden, "at", "only keys may set"},
			{by("", gift("9", "s999", "u4", 3)), definition.ErrInvalid, "star", "has no profile"},
			{by("", gift("10", "s17", "u4", 1000)), definition.ErrOutOfRange, "flowers", "want 1 to 99"},
			{gift("11", "s17", "u4", 100), definition.ErrOutOfRange, "flowers", "is 100; want 1 to 99"}, // rules hold for keys too
			{gift("12", "s999", "u4", 3), definition.ErrInvalid, "star", "has no profile"},
		}
		for _, c := range wrong {
			fails(t, happen(t, s, "gift", c.call)[0], c.kind, c.field, c.reason)
		}
		require.Zero(t, must(s.Instances(t.Context(), "fans:{star}", "", 10))(t).Total)
		for _, board := range []string{"stars", "hour"} {
			require.Empty(t, scores(t, s, board))
		}
		require.Empty(t, feed.items(t))

		var batch []ranking.EventCall
		for i, c := range wrong {
			batch = append(batch, c.call, by("u4", gift(fmt.Sprint("good", i), "s17", "u4", 2)))
		}
		for i, h := range happen(t, s, "gift", batch...) {
			if c := wrong[i/2]; i%2 == 0 {
				fails(t, h, c.kind, c.field, c.reason)
			} else {
				require.NoError(t, h.Err)
			}
		}
		n := int64(2 * len(wrong))
		require.Equal(t, map[string]int64{"s17": n}, scores(t, s, "stars"))
		require.Equal(t, map[string]int64{"u4": n}, scores(t, s, "hour"))
		require.Len(t, feed.items(t), len(wrong))

		// A refused id is not used up.
		require.False(t, happen(t, s, "gift", by("u4", gift("1", "s17", "u4", 1)))[0].Outcomes[0].Result.Duplicate)
		// A trusted caller sends for anybody, and at any time.
		require.NoError(t, happen(t, s, "gift", ranking.Occurs("", "star", "s17", "user", "u9", "flowers", 3, "at", now))[0].Err)
		// An anonymous caller chooses the sender.
		require.NoError(t, happen(t, s, "gift", by("", gift("", "s17", "u8", 3)))[0].Err)
		require.Equal(t, map[string]int64{"u4": n + 1, "u8": 3, "u9": 3}, scores(t, s, "hour"))
	})
}

// An event whose definition leaves something open is refused as a whole.
func TestEventsThatNeedAKey(t *testing.T) {
	t.Parallel()
	s := sentGifts(t, redistest.Embedded(t))
	send := func(sub string, with func(*definition.Event)) error {
		e := sentGift
		with(&e)
		require.NoError(t, s.DefineEvent(t.Context(), e, ranking.Moderator{}))
		return errorOf(s.ApplyEvents(t.Context(), "gift", []ranking.EventCall{gift("", "s17", "u4", 3), by(sub, gift("", "s17", "u4", 3))}))
	}
	open := func(e *definition.Event) { e.Sender, e.Rules = "", nil }
	unsigned := func(e *definition.Event) {
		e.Sender, e.Rules = "", definition.FieldRules{"star": sentGift.Rules["star"], "flowers": sentGift.Rules["flowers"],
			"user": {Kind: "star"}}
	}
	require.ErrorIs(t, send("u4", open), definition.ErrForbidden)
	require.ErrorIs(t, send("", open), definition.ErrForbidden)
	require.ErrorIs(t, send("u4", unsigned), definition.ErrForbidden)
	require.EqualError(t, send("u4", func(e *definition.Event) { e.Rules = definition.FieldRules{"star": {Kind: "star"}} }),
		"event: the definition of the event does not give flowers both min and max, so only keys may send it")
	require.Empty(t, scores(t, s, "stars"))
	require.NoError(t, send("u4", func(*definition.Event) {}))
	require.NoError(t, send("", unsigned))
}

// Callers who choose the same id do not get in each other's way: each has a space of its own.
func TestRequestIDsOfSenders(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := sentGifts(t, url)
		long := strings.Repeat("x", definition.MaxIDBytes)
		subs := []string{"u4", "u5", long, "*", ""}
		for _, id := range []string{"1", long} {
			calls := []ranking.EventCall{gift(id, "s17", "u4", 1)}
			for _, sub := range subs {
				user := sub
				if sub == "" {
					user = "u4"
				}
				calls = append(calls, by(sub, gift(id, "s17", user, 1)))
			}
			before := scores(t, s, "stars")["s17"]
			for i, c := range calls {
				h := happen(t, s, "gift", c)[0]
				require.NoError(t, h.Err)
				for _, o := range h.Outcomes {
					require.NoError(t, o.Err)
					require.False(t, o.Result.Duplicate, "call %d", i)
				}
			}
			require.Equal(t, before+int64(len(calls)), scores(t, s, "stars")["s17"])
			for _, h := range happen(t, s, "gift", calls...) {
				require.NoError(t, h.Err)
				require.True(t, h.Outcomes[0].Result.Duplicate)
			}
			for _, c := range calls {
				c.Fields = map[string]jsontext.Value{"star": jsontext.Value(`"s18"`), "user": c.Fields["user"], "flowers": c.Fields["flowers"]}
				fails(t, happen(t, s, "gift", c)[0], definition.ErrIDMismatch, "id", "another event")
			}
			require.Equal(t, before+int64(len(calls)), scores(t, s, "stars")["s17"])
		}
		require.NotContains(t, scores(t, s, "stars"), "s18")
		// No caller can send the form in which the store keeps the id of another.
		for _, id := range []string{"1\x1f*", "1\x1f" + definition.Digest([]byte("u4"))} {
			for _, c := range []ranking.EventCall{gift(id, "s17", "u4", 1), by("u5", gift(id, "s17", "u5", 1))} {
				fails(t, happen(t, s, "gift", c)[0], definition.ErrInvalid, "id", "control character")
			}
		}
	})
}

// A take-back is of the occurrence of one sender, and its line in the audit says whose.
func TestTakeBackOfASender(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := sentGifts(t, url)
		senders := []*ranking.Sender{nil, {Sub: "u4"}, {Sub: "u5"}, {}}
		flowers := int64(0)
		for i, sender := range senders {
			c := gift("1", "s17", "u4", 1<<i)
			if sender != nil && sender.Sub != "" {
				c = gift("1", "s17", sender.Sub, 1<<i)
			}
			c.Sender = sender
			require.NoError(t, happen(t, s, "gift", c)[0].Err)
			flowers += 1 << i
		}
		_, err := s.TakeBack(t.Context(), "gift", "1", &ranking.Sender{Sub: "u6"}, ranking.Moderator{})
		require.ErrorIs(t, err, definition.ErrUnknownEvent)
		_, err = s.TakeBack(t.Context(), "gift", "1", &ranking.Sender{Sub: "u\x1f"}, ranking.Moderator{})
		require.ErrorIs(t, err, definition.ErrInvalid)
		// The rules of the event may be narrower by now.
		narrow := sentGift
		narrow.Rules = definition.FieldRules{"flowers": {Max: new(int64(0))}}
		require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{narrow}}))
		for i, sender := range senders {
			for again := range 2 {
				took := must(s.TakeBack(t.Context(), "gift", "1", sender, ranking.Moderator{By: "desk"}))(t)
				require.Equal(t, again > 0, took.Before)
			}
			if flowers -= 1 << i; flowers > 0 {
				require.Equal(t, map[string]int64{"s17": flowers}, scores(t, s, "stars"))
			}
		}
		require.Empty(t, scores(t, s, "stars"))
		lines := must(s.Audit(t.Context(), "", 10))(t)
		require.Len(t, lines, len(senders))
		for i, sender := range senders {
			line := lines[len(lines)-1-i]
			require.Equal(t, "1", line.ID)
			if sender == nil {
				require.Nil(t, line.Sub)
			} else {
				require.Equal(t, &sender.Sub, line.Sub)
			}
		}
	})
}

// A node accepts a member whose profile another node has set a moment ago, and refuses one whose profile
// is gone, also for a retry.
func TestProfilesThatAnEventNeeds(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		a, b := sentGifts(t, url), open(t, url)
		send := func(s *ranking.Store, star string) ranking.EventResult {
			return happen(t, s, "gift", by("u4", gift("to "+star, star, "u4", 3)))[0]
		}
		fails(t, send(b, "s19"), definition.ErrInvalid, "star", "has no profile")
		must(a.SetProfile(t.Context(), "star", "s19", ranking.Profile{Avatar: "/a.png"}))(t)
		require.NoError(t, send(b, "s19").Err)
		require.True(t, send(a, "s19").Outcomes[0].Result.Duplicate)
		must(a.SetProfile(t.Context(), "user", "s20", ranking.Profile{Name: "of another kind"}))(t)
		fails(t, send(a, "s20"), definition.ErrInvalid, "star", "has no profile")
		require.NoError(t, a.DeleteProfile(t.Context(), "star", "s19"))
		fails(t, send(a, "s19"), definition.ErrInvalid, "star", "has no profile")
	})
}
