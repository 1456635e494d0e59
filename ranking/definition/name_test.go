package definition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

func TestNamesAreTakenApart(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct {
		Name
		instance, slot string
	}{
		"stars":                        {Name{"stars", []string{}, ""}, "stars", "stars/0"},
		"f1-2026.drivers_x":            {Name{"f1-2026.drivers_x", []string{}, ""}, "f1-2026.drivers_x", "f1-2026.drivers_x/0"},
		"fans:s17":                     {Name{"fans", []string{"s17"}, ""}, "fans:s17", "fans/1"},
		"hot:moba:phone":               {Name{"hot", []string{"moba", "phone"}, ""}, "hot:moba:phone", "hot/2"},
		"fans:S 17\u2009日本":            {Name{"fans", []string{"S 17\u2009日本"}, ""}, "fans:S 17\u2009日本", "fans/1"},
		"stars@2026-W46":               {Name{"stars", []string{}, "2026-W46"}, "stars", "stars/0"},
		"fans:s17@-1":                  {Name{"fans", []string{"s17"}, "-1"}, "fans:s17", "fans/1"},
		"stars@2026-11-20T06:30Z":      {Name{"stars", []string{}, "2026-11-20T06:30Z"}, "stars", "stars/0"},
		"a:1:2:3:4:5:6:7:8":            {Name{"a", []string{"1", "2", "3", "4", "5", "6", "7", "8"}, ""}, "a:1:2:3:4:5:6:7:8", "a/8"},
		"a:" + strings.Repeat("b", 64): {Name{"a", []string{strings.Repeat("b", 64)}, ""}, "a:" + strings.Repeat("b", 64), "a/1"},
	} {
		n := redistest.Must(ParseName(s))(t, "%q", s)
		require.Equal(t, want.Name, n, "%q", s)
		require.Equal(t, want.instance, n.Instance(), "%q", s)
		require.Equal(t, want.slot, n.Slot(), "%q", s)
		require.Equal(t, s, Qualify(n.Instance(), n.Period), "%q", s)
	}
	for _, s := range []string{
		"", ":", "@", "Stars", "-stars", "stärs", "st ars", "a/b", strings.Repeat("a", 65), "fans:", ":s17", "fans::s17", "fans:s17:",
		"fans:{star}", "fans:a/b", "fans:a}", "fans:a\x00b", "fans:a\x7f", "fans:a\u0085", "fans:\xff", "fans:" + strings.Repeat("b", 65),
		"a:1:2:3:4:5:6:7:8:9", "stars@", "stars@a b", "stars@2026@2027", "fans@1:s17/", "stars@" + strings.Repeat("1", 33),
	} {
		refused(t, redistest.ErrorOf(ParseName(s)), "board", "%q", s)
	}
}

// An error about a name quotes what was read, wherever the name stands.
func TestErrorsQuoteNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Stars", "my stars", ""} {
		want := fmt.Sprintf("is %q; want 1 to 64 characters of a-z 0-9 . _ - starting with a letter or digit", name)
		require.EqualError(t, redistest.ErrorOf(ParseName(name)), "board: "+want)
		require.EqualError(t, redistest.ErrorOf(ParseName(name+":s17")), "board: "+want)
		require.ErrorContains(t, CheckBoard(name), "board: "+want)
		require.ErrorContains(t, redistest.ErrorOf(ParseEvent(name, []byte(`{"updates":[]}`))), "event: "+want)
		require.ErrorContains(t, redistest.ErrorOf(ParseEvent("e", []byte(`{"updates":[{"board":"`+name+`:x","member":"m","score":1}]}`))),
			"updates[0].board: "+want)
		require.ErrorContains(t, redistest.ErrorOf(ParseBoard("b", []byte(`{"union":{"of":["`+name+`:x"]}}`))), "union.of[0]: "+want)
	}
}

// Where a board belongs, a family is told from a name that is none.
func TestAFamilyIsNoBoard(t *testing.T) {
	t.Parallel()
	for s, family := range map[string]bool{
		"fans:{star}": true, "fans:{star}@-1": true, "hot:{genre}:{device}": true,
		"fans:{star}:x": false, "fans:{Star}": false, "fans:a}": false, "fans:{a}:{a}": false, "fans:a/b": false,
	} {
		_, err := ParseName(s)
		refused(t, err, "board", s)
		require.Equal(t, family, strings.Contains(err.Error(), "is a family; name one of its boards, as fans:s17"), err)
	}
}

func TestTemplatesAreTakenApart(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]FamilyName{
		"stars":                             {"stars", []string{}},
		"fans:{star}":                       {"fans", []string{"star"}},
		"hot:{genre}:{dev_1}":               {"hot", []string{"genre", "dev_1"}},
		"a:{a}:{b}:{c}:{d}:{e}:{f}:{g}:{h}": {"a", []string{"a", "b", "c", "d", "e", "f", "g", "h"}},
	} {
		got := redistest.Must(ParseFamilyName(s))(t, "%q", s)
		require.Equal(t, want, got, "%q", s)
		require.Equal(t, got.Slot(), Board{Name: s}.Slot(), "%q", s)
		require.Equal(t, len(got.Placeholders) > 0, Board{Name: s}.Family(), "%q", s)
	}
	for _, s := range []string{
		"", "fans:", "fans:star", "fans:{star", "fans:star}", "fans:{}", "fans:{Star}", "fans:{1}", "fans:{a}:{a}", "fans:{a}{b}",
		"{star}", "x:{{a}}",
		"fans:{a}@-1", "stars@2026", "a:{a}:{b}:{c}:{d}:{e}:{f}:{g}:{h}:{i}", "fans:{" + strings.Repeat("a", 33) + "}",
	} {
		refused(t, CheckBoard(s), "board", "%q", s)
	}
}

// A name has one reading: what it is made of makes it again, and the slot is that
// of the definition whose placeholders it fills.
func TestNamesRoundTrip(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 100, func(t *rapid.T) {
		base := rapid.StringMatching(`[a-z0-9][a-z0-9._-]{0,63}`).Draw(t, "base")
		isPart := func(s string) bool { return partFault(s) == "" }
		parts := rapid.SliceOfN(rapid.StringMatching(`[^:@/{}\p{Cc}\p{Cs}]{1,16}`).Filter(isPart), 0, maxParts).Draw(t, "parts")
		period := rapid.StringMatching(`|[0-9TZWw:-]{1,20}`).Draw(t, "period")
		n := redistest.Must(ParseName(Qualify(strings.Join(append([]string{base}, parts...), ":"), period)))(t)
		require.Equal(t, Name{base, parts, period}, n)

		d := Board{Name: base}
		for i := range parts {
			d.Name += ":{p" + string(rune('a'+i)) + "}"
		}
		require.Equal(t, d.Slot(), n.Slot())
	})
}
