package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/server/client"
)

func ptr(n int64) *int64 { return &n }

// first are the first n entries of a board, 1,000 points apart.
func first(n int) (top []client.Entry) {
	for i := range n {
		top = append(top, client.Entry{Rank: int64(i + 1), Member: fmt.Sprint("m", i+1), Score: int64(1_000_000 - 1000*i)})
	}
	return top
}

// entries are entries as text: "1 ann 30, 2 bob 20".
func entries(text string) (all []client.Entry) {
	for one := range strings.SplitSeq(text, ", ") {
		var e client.Entry
		if _, err := fmt.Sscan(one, &e.Rank, &e.Member, &e.Score); err != nil {
			panic(err)
		}
		all = append(all, e)
	}
	return all
}

// Each column has its head above its values, and the own row says what it lacks in each.
func TestScreenOfColumns(t *testing.T) {
	t.Parallel()
	of := func(points, difference, goals int64) client.Columns {
		return client.Columns{{Name: "points", Value: points}, {Name: "difference", Value: difference}, {Name: "goals", Value: goals}}
	}
	b := client.Board{State: client.Live, Total: 12, Epoch: "e", Columns: []byte(`[{"name":"points","title":"Pts","order":"desc","max":200},` +
		`{"name":"difference","order":"desc","min":-999,"max":999},{"name":"goals","order":"asc","max":999,"display":{"unit":"g"}}]`),
		Top: []client.Entry{{Rank: 1, Member: "ajax", Score: 9, Columns: of(88, 40, 90)},
			{Rank: 2, Member: "psv", Score: 8, Columns: of(85, -2, 7)}},
		Me: &client.Me{Member: "me", Rank: ptr(7), Score: ptr(3), Columns: of(12, -50, 5), ToNext: ptr(1), ToNextColumns: of(2, 0, -3),
			Around: []client.Entry{{Rank: 6, Member: "x", Score: 4, Columns: of(14, -50, 8)},
				{Rank: 7, Member: "me", Score: 3, Columns: of(12, -50, 5)}}}}
	s := sized("me", 1, 80, 12, b)
	require.Equal(t, strings.Join([]string{
		"stars                                                          12 members · live",
		"  rank  member            Pts  difference  goals",
		"     1  ajax               88          40   90 g",
		"     2  psv                85          -2    7 g",
		"  ⋯",
		"     6  x                  14         -50    8 g",
		"▸    7  me                 12         -50    5 g  Pts 2, goals -3 to next",
		"",
		"q quits",
	}, "\n"), plain(s))

	// The own change arrives before the neighbours: what it lacks is told at once.
	b.Me = &client.Me{Member: "me", Rank: ptr(7), Score: ptr(3), Columns: of(14, -51, 9)}
	s.Update(b)
	require.Contains(t, plain(s), "▸    7  me                 14         -51    9 g  difference 1, goals 1 to next")
	require.Contains(t, plain(sized("nobody", 0, 80, 12, client.Board{State: client.Live, Columns: b.Columns, Top: b.Top,
		Me: &client.Me{Member: "nobody"}})), "–           –      –  not on the board")
	s.shown.Final, s.shown.Period = true, "2026-W46"
	require.Contains(t, s.closingLine(), "ajax was first with Pts 88, difference 40, goals 90 g")
}

// standing is the entry of the member "me".
func standing(rank, score int64) *client.Me {
	return &client.Me{Member: "me", Rank: &rank, Score: &score}
}

func sized(me string, around, width, height int, b client.Board) *model {
	s := newModel("stars", "http://server", me, around)
	s.Update(tea.WindowSizeMsg{Width: width, Height: height})
	b.Board = "stars"
	s.Update(b)
	return s
}

func plain(s *model) string {
	lines := s.lines()
	for i := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(lines[i]), " ")
	}
	return strings.Join(lines, "\n")
}

func TestScreen(t *testing.T) {
	t.Parallel()
	top := []client.Entry{{Rank: 1, Member: "名前🏆", Score: 1234567}, {Rank: 2, Member: "Elif Aydın", Score: -9},
		{Rank: 3, Member: "me", Score: -10}}
	live := client.Board{State: client.Live, Total: 9822, Top: top, Me: &client.Me{Member: "me", Rank: ptr(3), Score: ptr(-10),
		ToNext: ptr(1)}}
	require.Equal(t, strings.Join([]string{
		"stars                    9,822 members · live",
		"  rank  member               score",
		"     1  名前🏆           1,234,567",
		"     2  Elif Aydın              -9",
		"▸    3  me                     -10  1 to next",
		"",
		"q quits",
	}, "\n"), plain(sized("me", 0, 45, 10, live)))

	live.Me = &client.Me{Member: "far", Rank: ptr(4071), Score: ptr(-20), ToNext: ptr(1500),
		Around: entries("4070 before 1480, 4071 far -20, 4072 behind -21")}
	require.Equal(t, strings.Join([]string{
		"stars                    9,822 members · live",
		"   rank  member          score",
		"      1  名前🏆      1,234,567",
		"      2  Elif Aydın         -9",
		"      3  me                -10",
		"  ⋯",
		"  4,070  before          1,480",
		"▸ 4,071  far               -20  1,500 to next",
		"  4,072  behind            -21",
		"",
		"q quits",
	}, "\n"), plain(sized("far", 1, 45, 12, live)))
	require.NotContains(t, plain(sized("far", 0, 45, 12, live)), "before")
	require.Contains(t, plain(sized("nobody", 0, 80, 12, client.Board{State: client.Live, Top: top,
		Me: &client.Me{Member: "nobody"}})), "▸    –  nobody                    –  not on the board")
}

// However small the terminal, what is shown fits it, and the own row is there.
func TestScreenFits(t *testing.T) {
	t.Parallel()
	me := &client.Me{Member: "far", Rank: ptr(4071), Score: ptr(5), ToNext: ptr(1),
		Around: entries("4069 n1 9, 4070 n2 6, 4071 far 5, 4072 n3 4, 4073 n4 3")}
	for _, own := range []string{"far", "m1", "m9", "m30", "nobody", "nobody on an empty board", ""} {
		b := client.Board{State: client.Live, Period: "2026-W47", Ends: time.Now().AddDate(0, 0, 30), Total: 5000, Top: first(30), Me: me}
		if strings.HasPrefix(own, "nobody") {
			b.Me = &client.Me{Member: own}
		}
		if strings.HasSuffix(own, "empty board") {
			b.Total, b.Top = 0, nil
		}
		for width := 4; width < 90; width += 3 {
			for height := 1; height < 45; height++ {
				s := sized(own, 2, width, height, b)
				lines := s.lines()
				require.LessOrEqual(t, len(lines), height, "%s at %d×%d", own, width, height)
				marked := 0
				for _, l := range lines {
					if ansi.StringWidth(l) > width {
						t.Fatalf("%s at %d×%d: %q is too wide", own, width, height, l)
					}
					marked += strings.Count(ansi.Strip(l), "▸")
				}
				if own != "" && marked != 1 {
					t.Fatalf("%s at %d×%d is marked %d times:\n%s", own, width, height, marked, plain(s))
				}
			}
		}
	}
	full := plain(sized("far", 2, 80, 45, client.Board{State: client.Live, Total: 5000, Top: first(30), Me: me}))
	for _, member := range []string{" m1 ", " m30 ", " n1 ", " n4 "} {
		require.Contains(t, full, member)
	}
	// A neighbour that is among the first anyway is there once.
	for height := 1; height < 50; height++ {
		near := plain(sized("x", 2, 80, height, client.Board{State: client.Live, Top: first(30),
			Me: &client.Me{Member: "x", Rank: ptr(31), Score: ptr(1),
				Around: entries("29 m29 0, 30 m30 0, 31 x 1")}}))
		for _, member := range []string{" m29 ", " m30 ", " x "} {
			require.LessOrEqual(t, strings.Count(near, member), 1, "%d lines:\n%s", height, near)
		}
		require.Contains(t, near, " x ")
	}
}

// Where equals have one rank, a neighbour's says nothing of whether it is shown above.
func TestScreenOfTies(t *testing.T) {
	t.Parallel()
	// Six members have the first three ranks, and the own one is the seventh.
	dense := entries("1 a 9, 1 b 9, 2 c 8, 2 d 8, 3 e 7, 3 f 7, 3 me 7, 4 g 6, 4 h 6")
	b := client.Board{State: client.Live, Total: 9, Top: dense[:4], Me: &client.Me{Member: "me", Rank: ptr(3), Score: ptr(7),
		ToNext: ptr(0), Around: dense[4:]}}
	require.Equal(t, strings.Join([]string{
		"stars               9 members · live",
		"  rank  member      score",
		"     1  a               9",
		"     1  b               9",
		"     2  c               8",
		"     2  d               8",
		"  ⋯",
		"     3  e               7",
		"     3  f               7",
		"▸    3  me              7  0 to next",
		"     4  g               6",
		"     4  h               6",
		"",
		"q quits",
	}, "\n"), plain(sized("me", 2, 36, 20, b)))

	// Whatever has room: each member once, and the own one always. All have one rank.
	for _, shown := range []int{1, 4, 6, 9} {
		for height := 1; height < 20; height++ {
			b.Top, b.Me.Around = slices.Clone(dense[:shown]), slices.Clone(dense[4:])
			for i := range b.Top {
				b.Top[i].Rank = 1
			}
			for i := range b.Me.Around {
				b.Me.Around[i].Rank = 1
			}
			list := plain(sized("me", 2, 36, height, b))
			for _, e := range dense {
				require.LessOrEqual(t, strings.Count(list, " 1  "+e.Member+" "), 1, "%d of the first in %d lines:\n%s", shown, height, list)
				if height > 15 && (shown >= 4 || e.Member > "d" || e.Member == "a") {
					require.Contains(t, list, " 1  "+e.Member+" ", "%d of the first in %d lines", shown, height)
				}
			}
			require.Contains(t, list, "▸    1  me ")
		}
	}
}

// One's own place comes after the first entries: that is no entering.
func TestOwnPlaceIsNotNewAtFirst(t *testing.T) {
	t.Parallel()
	s := newModel("stars", "http://server", "me", 0)
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 20})
	s.Update(client.Board{Board: "stars", State: client.Connecting})
	s.Update(client.Board{Board: "stars", State: client.Live, Epoch: "e", Top: first(3)})
	s.Update(client.Board{Board: "stars", State: client.Live, Epoch: "e", Top: first(3),
		Me: standing(50, 1)})
	require.NotContains(t, plain(s), "new")
}

// A place that comes without neighbours, as on an own change, keeps those that
// were known.
func TestScreenKeepsNeighbours(t *testing.T) {
	t.Parallel()
	around := entries("48 a 9, 49 b 7, 50 me 5, 51 c 3")
	s := sized("me", 2, 80, 20, client.Board{State: client.Live, Epoch: "e", Top: first(4),
		Me: &client.Me{Member: "me", Rank: ptr(50), Score: ptr(5), ToNext: ptr(2), Around: around}})
	s.Update(client.Board{State: client.Live, Epoch: "e", Top: first(4), Me: standing(49, 8)})
	list := plain(s)
	for _, want := range []string{"48  a", "49  me", "8  ▲1  1 to next", "50  b", "51  c"} {
		require.Contains(t, list, want)
	}
	s.Update(client.Board{State: client.Live, Epoch: "e", Top: first(4), Me: standing(20, 80)})
	require.NotContains(t, plain(s), "48  a", "elsewhere they are others")
}

// Neighbours that were known are not given ranks that they may not have.
func TestScreenKeepsNoNeighboursThatTie(t *testing.T) {
	t.Parallel()
	apart := entries("48 a 9, 49 b 7, 50 me 5, 51 c 3")
	shared := entries("48 a 7, 48 b 7, 50 me 5, 51 c 3")
	dense := entries("49 a 7, 49 b 7, 50 me 5, 50 c 5, 51 d 3")
	climbs := entries("49 b 3, 50 me 5, 51 c 7")
	arrived := entries("49 b 5, 50 me 5, 51 c 3")
	for _, c := range []struct {
		name        string
		around      []client.Entry
		rank, score int64
		want        []string // neighbours that are kept, and the own entry between them
		toNext      *int64
	}{
		{"up", apart, 49, 8, []string{"48 a", "49 me", "50 b", "51 c"}, ptr(1)},
		{"down", apart, 51, 1, []string{"48 a", "49 b", "50 c", "51 me"}, ptr(2)},
		{"to the first that is known", apart, 48, 10, []string{"48 me", "49 a", "50 b", "51 c"}, nil},
		{"without a change of place", apart, 50, 6, []string{"48 a", "49 b", "50 me", "51 c"}, ptr(1)},
		{"up where less is better", climbs, 49, 2, []string{"49 me", "50 b", "51 c"}, nil},
		{"up among equals that have ranks of their own", arrived, 49, 6, []string{"49 me", "50 b", "51 c"}, nil},
		{"level with one above", apart, 49, 7, nil, nil},
		{"level with one below", apart, 50, 3, nil, nil},
		{"while others moved", apart, 49, 6, nil, nil},
		{"while others moved, where less is better", climbs, 49, 4, nil, nil},
		{"past equals that share a rank", shared, 48, 8, nil, nil},
		{"below those that share a rank", shared, 51, 2, nil, nil},
		{"up from equals that leave no gap", dense, 49, 8, nil, nil},
		{"between equals that leave no gap", dense, 50, 6, nil, nil},
		{"down from equals that leave no gap", dense, 51, 4, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newModel("b", "", "me", 1)
			got := s.keepNeighbours(&client.Me{Member: "me", Rank: ptr(50), Score: ptr(5), ToNext: ptr(2), Around: c.around},
				&client.Me{Member: "me", Rank: &c.rank, Score: &c.score})
			var kept []string
			for _, e := range got.Around {
				kept = append(kept, fmt.Sprint(e.Rank, " ", e.Member))
			}
			require.Equal(t, c.want, kept)
			require.Equal(t, c.toNext, got.ToNext)
		})
	}

	// The next frame that has them brings them back.
	s := sized("me", 2, 80, 20, client.Board{State: client.Live, Epoch: "e", Top: first(4),
		Me: &client.Me{Member: "me", Rank: ptr(50), Score: ptr(5), ToNext: ptr(2), Around: dense}})
	s.Update(client.Board{State: client.Live, Epoch: "e", Top: first(4), Me: standing(49, 7)})
	require.Contains(t, plain(s), "▸   49  me ")
	require.NotContains(t, plain(s), " b ")
	require.NotContains(t, plain(s), "to next")
	dense = []client.Entry{dense[0], dense[1], {Rank: 49, Member: "me", Score: 7}, dense[3], dense[4]}
	s.Update(client.Board{State: client.Live, Epoch: "e", Top: first(4), Me: &client.Me{Member: "me", Rank: ptr(49), Score: ptr(7),
		ToNext: ptr(0), Around: dense}})
	for _, want := range []string{"49  a ", "49  b ", "▸   49  me ", "0 to next", "50  c ", "51  d "} {
		require.Contains(t, plain(s), want)
	}
}

// What moved stands out for a moment, by colour and by a sign.
func TestScreenShowsWhatMoved(t *testing.T) {
	t.Parallel()
	s := sized("me", 0, 80, 20, client.Board{State: client.Live, Epoch: "e", Top: first(4),
		Me: standing(50, 1)})
	require.NotContains(t, plain(s), "new", "what was there first did not move")
	now := time.Now()
	next := client.Board{State: client.Live, Epoch: "e", Top: entries("1 m3 2000000, 2 m1 1000000, 3 x 999500, 4 m2 999000"),
		Me: standing(51, 1)}
	require.True(t, s.apply(next, now))
	list := plain(s)
	for _, want := range []string{"m3                2,000,000  ▲2", "m1                1,000,000  ▼1",
		"x                   999,500  new", "m2                  999,000  ▼2", "me                        1  ▼1"} {
		require.Contains(t, list, want)
	}
	green := ansi.NewStyle().ForegroundColor(ansi.Green).String()
	require.Contains(t, strings.Join(s.lines(), "\n"), green+"     1  m3")
	require.False(t, s.apply(next, now), "the same again is no move")
	for _, m := range s.changes {
		require.Equal(t, now.Add(highlightFor), m.until)
	}
	for member, m := range s.changes {
		m.until = now.Add(-time.Second)
		s.changes[member] = m
	}
	s.Update(fadeMsg{})
	require.NotContains(t, plain(s), "▲")

	// After a while away everything may be elsewhere: nothing stands out.
	s.apply(client.Board{State: client.Away, Epoch: "e", Top: next.Top}, now)
	require.False(t, s.apply(client.Board{State: client.Live, Epoch: "e", Top: first(4)}, now))
}

func TestScreenSaysHowThingsAre(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 8, 15, 30, 0, time.Local)
	for _, c := range []struct {
		board client.Board
		says  string
	}{
		{client.Board{State: client.Connecting, Err: errors.New("refused")}, "http://server: refused"},
		{client.Board{State: client.Connecting}, "connecting"},
		{client.Board{State: client.Stale, Top: first(1), AsOf: at}, "Redis away since 08:15:30"},
		{client.Board{State: client.Stale}, "Redis away"},
		{client.Board{State: client.Away, Top: first(1), AsOf: at}, "reconnecting as of 08:15:30"},
		{client.Board{State: client.Live, Period: "2026-W47"}, "stars · 2026-W47"},
		{client.Board{State: client.Live, Top: []client.Entry{{Rank: 1, Member: "\x1b[2Ja\u202eb\n", Score: 1}}}, "\uFFFD[2Ja\uFFFDb\uFFFD"},
		{client.Board{State: client.Live, Top: []client.Entry{{Rank: 1, Member: "u4", Score: 1, Name: "A\u202enn"}}}, "1  A\uFFFDnn"},
	} {
		require.Contains(t, plain(sized("", 0, 80, 20, c.board)), c.says)
	}
}

func TestScreenShowsPeriods(t *testing.T) {
	t.Parallel()
	now := time.Now()
	year, month, day := now.Date()
	ends := time.Date(year, month, day+40, 0, 0, 0, 0, time.Local)
	open := client.Board{State: client.Live, Period: "2026-W47", Ends: ends, Epoch: "e", Total: 9821, Top: first(2)}
	title := func(width int, b client.Board) string {
		line, _, _ := strings.Cut(plain(sized("", 0, width, 20, b)), "\n")
		return strings.Join(strings.Fields(line), " ")
	}
	until := clockTime(ends, now)
	require.Equal(t, "stars · 2026-W47, until "+until+" 9,821 members · live", title(80, open))
	require.Equal(t, "stars · 2026-W47 9,821 members · live", title(40, open))
	require.Equal(t, "stars · 2026-W47 live", title(30, open))
	require.Equal(t, "stars live", title(20, open))
	require.Equal(t, "s… live", title(7, open))
	closed := open
	closed.Final = true
	require.Equal(t, "stars · 2026-W47, ended "+until+" 9,821 members · final", title(80, closed))
	activity := open
	activity.Period = ""
	require.Equal(t, "stars · until "+until+" 9,821 members · live", title(80, activity))
	// The end is told in the zone of the board, whatever the zone of the terminal is.
	for _, zone := range []string{"Asia/Tokyo", "America/New_York", "UTC"} {
		loc, err := time.LoadLocation(zone)
		require.NoError(t, err)
		far := open
		// clockTime leaves out the seconds of a full minute.
		far.Timezone, far.Ends = zone, now.Add(72*time.Hour).Truncate(time.Minute).Add(30*time.Second)
		require.Contains(t, title(90, far), "until "+far.Ends.In(loc).Format("Mon 15:04:05 ")+zone+" ")
	}
	named := newModel("stars@2026-W47", "http://server", "", 0)
	named.Update(tea.WindowSizeMsg{Width: 80, Height: 20})
	named.Update(closed)
	require.Contains(t, plain(named), "stars@2026-W47, ended "+until)

	// The turn: the list starts anew, and how it ended before stays to be read.
	s := sized("", 0, 60, 12, open)
	s.Update(closed)
	require.NotContains(t, plain(s), "is over")
	s.Update(client.Board{State: client.Live, Period: "2026-W48", Ends: ends.AddDate(0, 0, 7), Epoch: "e"})
	require.Contains(t, plain(s), "stars · 2026-W48, until ")
	require.Contains(t, plain(s), "no scores yet")
	require.Contains(t, plain(s), "2026-W47 is over: m1 was first with 1,000,000 · q quits")
	s.Update(client.Board{State: client.Live, Period: "2026-W48", Ends: ends.AddDate(0, 0, 7), Epoch: "e", Total: 1, Top: first(1)})
	require.Contains(t, plain(s), "2026-W47 is over")
	require.NotContains(t, plain(s), "no scores yet")
	s.Update(client.Board{State: client.Live, Period: "2026-W49"})
	require.NotContains(t, plain(s), "is over", "how the last one ended was not seen")
	s = sized("", 0, 60, 12, client.Board{State: client.Live, Period: "1", Final: true})
	require.False(t, s.apply(client.Board{State: client.Live, Period: "2", Top: first(2)}, now), "what is new with the period did not move")
	require.Contains(t, plain(s), "1 is over · q quits")
}

func TestClock(t *testing.T) {
	t.Parallel()
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	require.NoError(t, err)
	at := func(text string) time.Time {
		at, err := time.ParseInLocation("2006-01-02 15:04:05", text, shanghai)
		require.NoError(t, err)
		return at
	}
	now := at("2026-11-20 15:30:00").UTC() // a Friday
	for text, want := range map[string]string{
		"2026-11-20 00:00:00": "00:00 Asia/Shanghai", "2026-11-20 23:59:59": "23:59:59 Asia/Shanghai",
		"2026-11-21 00:00:00": "Sat 00:00 Asia/Shanghai", "2026-11-23 00:00:00": "Mon 00:00 Asia/Shanghai",
		"2026-11-26 23:59:00": "Thu 23:59 Asia/Shanghai", "2026-11-27 00:00:00": "27 Nov 00:00 Asia/Shanghai",
		"2026-12-31 08:00:00": "31 Dec 08:00 Asia/Shanghai", "2027-01-01 00:00:00": "1 Jan 2027",
		"2026-11-19 23:59:00": "Thu 23:59 Asia/Shanghai", "2026-11-14 00:00:00": "Sat 00:00 Asia/Shanghai",
		"2026-11-13 23:00:00": "13 Nov 23:00 Asia/Shanghai", "2025-12-31 00:00:00": "31 Dec 2025",
	} {
		require.Equal(t, want, clockTime(at(text), now))
	}
	require.Equal(t, "Fri 00:00 Asia/Shanghai", clockTime(at("2027-01-01 00:00:00"), at("2026-12-28 12:00:00")),
		"near by, over the year's end too")
	unnamed := time.FixedZone("", 7*3600)
	require.Equal(t, "16:00 +0700", clockTime(time.Date(2026, 11, 20, 16, 0, 0, 0, unnamed), now))
}

// A name that is written from right to left stands between the rank and the score: a blank of the other
// direction follows it, also where it is cut.
func TestScreenSeparatesNames(t *testing.T) {
	t.Parallel()
	const name = "שלום לכולם"
	b := client.Board{State: client.Live, Final: true, Period: "2026-W47", Top: []client.Entry{{Rank: 1, Member: name, Score: 100},
		{Rank: 2, Member: "ann", Score: 9}}}
	for width, cut := range map[int]string{80: name + "      ", 20: "שלו…"} {
		screen := plain(sized("", 0, width, 20, b))
		require.Regexp(t, "(?m)^     1  "+cut+"\u2800   +100$", screen)
		require.Regexp(t, "(?m)^     2  ann +9$", screen)
		var rows []string
		for line := range strings.Lines(screen) {
			if strings.Contains(line, "1  ש") || strings.Contains(line, "ann") {
				rows = append(rows, strings.TrimRight(line, "\n"))
			}
		}
		require.Len(t, rows, 2)
		require.Equal(t, ansi.StringWidth(rows[0]), ansi.StringWidth(rows[1]), "the scores end in one column")
	}
	s := newModel("fans:"+name, "http://server", "", 0)
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 20})
	s.Update(b)
	require.Regexp(t, "^fans:"+name+"\u2800 · 2026-W47 +0 members · final\n", plain(s))
	require.Equal(t, "2026-W47 is over: \u2068"+name+"\u2069 was first with 100", s.closingLine())
}

// The terminal shows each score and each name of the tables that all surfaces share.
func TestScreenShowsTheTables(t *testing.T) {
	t.Parallel()
	var scores []struct {
		Score   int64
		Display json.RawMessage
		Text    string
	}
	var names []struct{ Name string }
	for file, into := range map[string]any{"cases.json": &scores, "names.json": &names} {
		b, err := os.ReadFile("../../../../ranking/scoretext/testdata/" + file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, into))
	}
	for _, c := range scores {
		gap := ptr(c.Score)
		b := client.Board{State: client.Live, Total: 2, Top: []client.Entry{{Rank: 1, Member: "ana", Score: c.Score},
			{Rank: 2, Member: "me", Score: c.Score}}, Display: jsontext.Value(c.Display), Me: &client.Me{Member: "me", Rank: ptr(2),
			Score: gap, ToNext: gap}}
		screen := plain(sized("me", 0, 120, 20, b))
		require.Regexp(t, `(?m)^     1  ana +`+regexp.QuoteMeta(c.Text)+`$`, screen)
		require.Regexp(t, `(?m)^▸    2  me +`+regexp.QuoteMeta(c.Text)+`  \S+ to next$`, screen)
	}
	require.NotEmpty(t, names)
	for _, c := range names {
		b := client.Board{State: client.Live, Total: 1, Top: []client.Entry{{Rank: 1, Member: c.Name, Score: 7}}}
		require.Contains(t, plain(sized("", 0, 200, 20, b)), "     1  "+c.Name)
	}
}
