package definition

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

func TestDefaultsAreThoseOfFieldsThatApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given Board
		want  string
	}{
		"a plain board": {
			Board{Name: "stars"},
			`{"board":"stars","mode":"sum","order":"desc","ties":"first","kind":"member"}`,
		},
		"weeks": {
			Board{Name: "stars", Period: "week", Timezone: "Asia/Shanghai"},
			`{"board":"stars","mode":"sum","order":"desc","ties":"first","period":"week","timezone":"Asia/Shanghai",` +
				`"week_starts":"monday","day_starts_at":"00:00","keep":8,"kind":"member"}`,
		},
		"hours": {
			Board{Name: "h", Period: "hour", Keep: new(0)},
			`{"board":"h","mode":"sum","order":"desc","ties":"first","period":"hour","timezone":"UTC","keep":0,"kind":"member"}`,
		},
		"a duration": {
			Board{Name: "d", Period: "48h", Base: time.Date(2026, 1, 1, 8, 0, 0, 0, time.FixedZone("", 8*3600))},
			`{"board":"d","mode":"sum","order":"desc","ties":"first","period":"2d","base":"2026-01-01T00:00:00.000Z","keep":8,"kind":"member"}`,
		},
		"a family": {
			Board{Name: "fans:{star}", Period: "day", Retain: 30 * day, Kind: "user"},
			`{"board":"fans:{star}","mode":"sum","order":"desc","ties":"first","period":"day","timezone":"UTC",` +
				`"day_starts_at":"00:00","keep":8,"retain":"30d","max_instances":100000,"kind":"user"}`,
		},
		"an activity": {
			Board{Name: "cup", Starts: time.Date(2026, 11, 20, 4, 0, 0, 0, time.UTC), Ends: time.Date(2026, 11, 22, 4, 0, 0, 5e8,
				time.UTC), Min: new(int64(0)), Max: new(int64(-0)), MaxChange: 100},
			`{"board":"cup","mode":"sum","order":"desc","ties":"first","starts":"2026-11-20T04:00:00.000Z",` +
				`"ends":"2026-11-22T04:00:00.500Z","min":0,"max":0,"max_change":100,"kind":"member"}`,
		},
		"laps": {
			Board{Name: "laps", Mode: Best, Order: Asc, TieSpan: 36 * time.Hour, Display: Display{Unit: Label{"": "s"}, Decimals: 3,
				Format: "time_ms"}},
			`{"board":"laps","mode":"best","order":"asc","ties":"first","tie_span":"36h","kind":"member","display":{"unit":"s",` +
				`"decimals":3,"format":"time_ms"}}`,
		},
	} {
		d := redistest.Must(c.given.Normalize())(t, name)
		b := redistest.Must(json.Marshal(d))(t, name)
		require.Equal(t, c.want, string(b), name)
		again := redistest.Must(ParseBoard(d.Name, b))(t, name)
		require.Equal(t, d, again, name)
	}
}

// boardFields are the fields that an error offers.
var boardFields = namesOf(boardReaders)

// Every field is read, and no other.
func TestEveryFieldIsRead(t *testing.T) {
	t.Parallel()
	var names []string
	for f := range reflect.TypeFor[Board]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	require.ElementsMatch(t, names, append(boardFields, "board"))
	for _, name := range boardFields {
		_, err := ParseBoard("stars", []byte(`{"`+name+`":null}`))
		refused(t, err, name)
		require.Contains(t, err.Error(), "is null")
	}
}

func TestImpossibleDefinitionsAreRefused(t *testing.T) {
	t.Parallel()
	for body, field := range map[string]string{
		// Not of a board at all.
		``: "body", `{`: "body", `[]`: "body", `null`: "body", `"sum"`: "body", `{} {}`: "body", `{}]`: "body", "{\"kind\":\"\xff\"}": "kind",
		`{"modes":"sum"}`: "modes", `{"a b":1}`: `["a b"]`, `{"":1}`: `[""]`, `{"replicas":2}`: "replicas", `{"Mode":"sum"}`: "Mode",
		`{"mode":"sum","mode":"sum"}`: "mode", `{"display":{"unit":"a","unit":"b"}}`: "display.unit", `{"board":"other"}`: "board",
		`{"board":1}`: "board",
		// Of the wrong type.
		`{"mode":1}`: "mode", `{"mode":""}`: "mode", `{"mode":["sum"]}`: "mode", `{"mode":true}`: "mode", `{"base":20260101}`: "base",
		`{"keep":"8","period":"day"}`: "keep",
		`{"keep":8.0,"period":"day"}`: "keep", `{"keep":1e1,"period":"day"}`: "keep", `{"keep":true,"period":"day"}`: "keep",
		`{"retain":3600}`: "retain", `{"display":"ms"}`: "display",
		`{"min":"0"}`: "min", `{"max":1.5}`: "max", `{"max_change":"1"}`: "max_change", `{"max_instances":"1"}`: "max_instances",
		`{"display":{"decimals":"2"}}`:         "display.decimals",
		`{"day_starts_at":240,"period":"day"}`: "day_starts_at", `{"starts":false}`: "starts", `{"ends":0}`: "ends",
		`{"tie_span":60}`: "tie_span", `{"member_ttl":7}`: "member_ttl", `{"mode":"best","limit":"3"}`: "limit", `{"kind":7}`: "kind",
		// Out of range, or no such word.
		`{"mode":"most"}`: "mode", `{"order":"up"}`: "order", `{"ties":"split"}`: "ties", `{"period":"fortnight"}`: "period",
		`{"period":"Week"}`:                             "period",
		`{"period":"0s","base":"2026-01-01T00:00:00Z"}`: "period", `{"period":"3661d","base":"2026-01-01T00:00:00Z"}`: "period",
		`{"period":"1h30m","base":"2026-01-01T00:00:00Z"}`: "period",
		`{"period":"2d","base":"2026-01-01"}`:              "base", `{"period":"2d","base":"1969-01-01T00:00:00Z"}`: "base",
		`{"period":"2d","base":"0001-01-01T00:00:00Z"}`: "base",
		`{"period":"day","timezone":"Local"}`:           "timezone", `{"period":"day","timezone":"Mars/Olympus"}`: "timezone",
		`{"period":"day","timezone":"../UTC"}`:    "timezone",
		`{"period":"day","timezone":"localtime"}`: "timezone", `{"period":"day","timezone":"right/UTC"}`: "timezone",
		`{"period":"day","timezone":"Europe//Berlin"}`: "timezone", `{"period":"day","timezone":"Factory"}`: "timezone",
		`{"period":"day","timezone":"utc"}`: "timezone", `{"period":"day","timezone":""}`: "timezone",
		`{"period":"week","week_starts":"Monday"}`: "week_starts", `{"period":"day","day_starts_at":"24:00"}`: "day_starts_at",
		`{"period":"day","day_starts_at":"4:00"}`: "day_starts_at",
		`{"period":"day","keep":-1}`:              "keep", `{"period":"day","keep":1001}`: "keep", `{"retain":"0s"}`: "retain",
		`{"retain":"36601d"}`: "retain", `{"retain":"1w"}`: "retain", `{"tie_span":"1ms"}`: "tie_span", `{"member_ttl":"0s"}`: "member_ttl",
		`{"mode":"best","limit":0}`: "limit", `{"mode":"best","limit":10000001}`: "limit", `{"limit":3}`: "limit",
		`{"starts":"2026-01-01T00:00:00"}`: "starts", `{"ends":"never"}`: "ends", `{"min":9007199254740992}`: "min",
		`{"max":-9007199254740992}`: "max", `{"max":123456789012345678901234567890}`: "max",
		`{"max_change":0}`: "max_change", `{"max_change":-1}`: "max_change", `{"max_change":9007199254740992}`: "max_change",
		`{"kind":"User"}`: "kind", `{"kind":"` + strings.Repeat("a", 33) + `"}`: "kind",
		`{"display":{"unit":"seventeen letters"}}`: "display.unit", `{"display":{"unit":"\u0007"}}`: "display.unit",
		`{"display":{"unit":""}}`: "display.unit", `{"display":{"decimals":7}}`: "display.decimals",
		`{"display":{"unit":"vote|votes|all votes"}}`: "display.unit", `{"display":{"unit":"vote|"}}`: "display.unit",
		`{"display":{"unit":"vote|seventeen letters"}}`: "display.unit",
		`{"display":{"decimals":-1}}`:                   "display.decimals", `{"display":{"format":"time"}}`: "display.format",
		`{"display":{"colour":"red"}}`: "display.colour",
		`{"ids":"599s"}`:               "ids", `{"ids":"169h"}`: "ids", `{"ids":"0s"}`: "ids", `{"ids":600}`: "ids", `{"ids":"1.5h"}`: "ids",
		`{"ids":"long"}`:   "ids",
		`{"history":"9s"}`: "history", `{"history":"86401s"}`: "history", `{"history":"36601d"}`: "history",
		`{"shards":1}`: "shards", `{"shards":17}`: "shards", `{"shards":"2"}`: "shards", `{"shards":0}`: "shards",
		`{"shards":2,"window":"1h"}`: "window", `{"shards":2,"member_ttl":"1h"}`: "member_ttl",
		`{"shards":2,"mode":"best","limit":3}`: "limit", `{"shards":2,"ties":"dense"}`: "ties", `{"shards":2,"history":"1m"}`: "history",
		`{"shards":2,"tie_span":"7d"}`: "tie_span", `{"shards":2,"union":{"of":["a"]}}`: "shards",
		`{"history":60}`: "history", `{"history":"1.5m"}`: "history", `{"history":"live"}`: "history",
		// Each good, but not together.
		`{"period":"36h"}`: "base", `{"base":"2026-01-01T00:00:00Z"}`: "base", `{"period":"week","base":"2026-01-01T00:00:00Z"}`: "base",
		`{"timezone":"UTC"}`: "timezone", `{"period":"36h","base":"2026-01-01T00:00:00Z","timezone":"UTC"}`: "timezone",
		`{"week_starts":"monday"}`: "week_starts", `{"period":"month","week_starts":"monday"}`: "week_starts",
		`{"day_starts_at":"04:00"}`: "day_starts_at", `{"period":"hour","day_starts_at":"04:00"}`: "day_starts_at",
		`{"period":"36h","base":"2026-01-01T00:00:00Z","day_starts_at":"04:00"}`: "day_starts_at",
		`{"keep":8}`: "keep", `{"keep":0}`: "keep", `{"period":"day","retain":"7d"}`: "retain",
		`{"period":"day","tie_span":"7d"}`: "tie_span", `{"ties":"member","tie_span":"7d"}`: "tie_span",
		`{"starts":"2026-01-01T00:00:00Z","ends":"2026-01-02T00:00:00Z","tie_span":"7d"}`: "tie_span", `{"max_instances":10}`: "max_instances",
		`{"starts":"2026-01-01T00:00:00Z","ends":"2026-01-01T00:00:00Z"}`: "ends",
		`{"starts":"2026-01-02T00:00:00Z","ends":"2026-01-01T00:00:00Z"}`: "ends", `{"min":1,"max":0}`: "max",
		`{"period":"1h","base":"2026-01-02T00:00:00Z","ends":"2026-01-02T00:00:00Z"}`: "ends",
	} {
		refused(t, redistest.ErrorOf(ParseBoard("stars", []byte(body))), field, "body %s", body)
	}
	for body, field := range map[string]string{`{"max_instances":0}`: "max_instances",
		`{"max_instances":10000001}`: "max_instances", `{"max_instances":-1}`: "max_instances"} {
		refused(t, redistest.ErrorOf(ParseBoard("fans:{star}", []byte(body))), field, "body %s", body)
	}
	refused(t, redistest.ErrorOf(ParseBoard("Fans", []byte(`{}`))), "board")
}

// What no file can say can be said in Go, and is refused all the same.
func TestImpossibleValuesAreRefused(t *testing.T) {
	t.Parallel()
	for field, d := range map[string]Board{
		"retain":        {Name: "b", Retain: time.Millisecond},
		"tie_span":      {Name: "b", TieSpan: -time.Second},
		"member_ttl":    {Name: "b", MemberTTL: time.Millisecond},
		"limit":         {Name: "b", Mode: Best, Limit: -1},
		"starts":        {Name: "b", Starts: time.Unix(0, 1000)},
		"ends":          {Name: "b", Ends: time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"min":           {Name: "b", Min: new(int64(-MaxScore - 1))},
		"max":           {Name: "b", Max: new(int64(MaxScore + 1))},
		"max_change":    {Name: "b", MaxChange: -1},
		"max_instances": {Name: "b:{x}", MaxInstances: -1},
		"history":       {Name: "b", History: 10*time.Second + time.Millisecond},
		"keep":          {Name: "b", Period: "day", Keep: new(-1)},
	} {
		refused(t, redistest.ErrorOf(d.Normalize()), field)
	}
}

func TestWhatMayGoTogether(t *testing.T) {
	t.Parallel()
	for board, bodies := range map[string][]string{
		"stars": {
			`{"board":"stars"}`, ` {"starts":"2026-01-01T00:00:00Z","tie_span":"7d"} `,
			`{"ends":"2026-01-01T00:00:00Z","tie_span":"7d","retain":"1s"}`,
			`{"period":"day","ends":"2026-01-01T00:00:00Z","retain":"7d"}`, `{"retain":"36600d"}`,
			`{"period":"3660d","base":"2026-01-01T00:00:00Z"}`,
			`{"min":-9007199254740991,"max":9007199254740991,"max_change":9007199254740991}`, `{"min":5,"max":5}`, `{"ids":"10m"}`,
			`{"ids":"7d","window":"1h"}`, `{"history":"10s"}`, `{"history":"1d","window":"1h"}`, `{"min":-0}`, `{"display":{}}`,
			`{"display":{"unit":"日本語日本語日本語日本語日本語日"}}`,
			`{"period":"week","timezone":"Etc/GMT+5","week_starts":"sunday","day_starts_at":"23:59","keep":1000}`,
			`{"period":"year","timezone":"America/Argentina/Buenos_Aires"}`,
		},
		"fans:{star}": {`{"period":"day","retain":"7d"}`, `{"max_instances":10000000}`, `{"board":"fans:{star}","retain":"1d"}`},
	} {
		for _, body := range bodies {
			redistest.Must(ParseBoard(board, []byte(body)))(t, "%s %s", board, body)
		}
	}
}

func TestWhatReordersABoard(t *testing.T) {
	t.Parallel()
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	week := Board{Name: "b", Period: "week"}
	for _, c := range []struct {
		was, is Board
		field   string
	}{
		{Board{Name: "b"}, Board{Name: "b", Order: Asc}, "order"},
		{Board{Name: "b"}, Board{Name: "b", Ties: ByMember}, "ties"},
		{Board{Name: "b"}, week, "period"},
		{week, Board{Name: "b", Period: "7d", Base: base}, "period"},
		{Board{Name: "b", Period: "1d", Base: base}, Board{Name: "b", Period: "1d", Base: base.Add(time.Hour)}, "base"},
		{week, Board{Name: "b", Period: "week", Timezone: "Asia/Tokyo"}, "timezone"},
		{week, Board{Name: "b", Period: "week", WeekStarts: "sunday"}, "week_starts"},
		{week, Board{Name: "b", Period: "week", DayStartsAt: "04:00"}, "day_starts_at"},
		{week, Board{Name: "b", Period: "week", Timezone: "UTC", WeekStarts: "monday", DayStartsAt: "00:00", Mode: Best}, ""},
		{Board{Name: "b", Period: "24h", Base: base}, Board{Name: "b", Period: "1d", Base: base.In(time.FixedZone("", 3600))}, ""},
		{week, Board{Name: "b", Period: "week", Mode: Last, Keep: new(0), Starts: base, Ends: base.Add(time.Hour), Retain: day,
			Min: new(int64(1)), Max: new(int64(2)), MaxChange: 3, Kind: "x", Title: Label{"": "T"}, Icon: "/i.png",
			Display: Display{Unit: Label{"": "x"}}, History: time.Minute}, ""},
		{Board{Name: "b", TieSpan: day}, Board{Name: "b"}, ""},
		{Board{Name: "b:{x}", MaxInstances: 1}, Board{Name: "b:{y}"}, ""},
	} {
		was := redistest.Must(c.was.Normalize())(t)
		is := redistest.Must(c.is.Normalize())(t)
		require.Equal(t, c.field, is.IncompatibleField(was), "%+v", c)
		require.Equal(t, c.field, was.IncompatibleField(is), "%+v", c)
	}
}

func TestReckoning(t *testing.T) {
	t.Parallel()
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d := redistest.Must(Board{Name: "b", Period: "36h", Base: base}.Normalize())(t)
	kind, length, from, _, _, _ := d.calendarOf()
	require.Equal(t, "", kind)
	require.Equal(t, 36*time.Hour, length)
	require.Equal(t, base, from)

	for word, want := range map[string]time.Weekday{"": time.Monday, "monday": time.Monday, "saturday": time.Saturday, "sunday": time.Sunday} {
		d := redistest.Must(Board{Name: "b", Period: "week", Timezone: "Asia/Kolkata", WeekStarts: word, DayStartsAt: "04:30"}.Normalize())(t)
		kind, length, _, loc, weekStarts, dayStarts := d.calendarOf()
		require.Equal(t, "week", kind)
		require.Zero(t, length)
		require.Equal(t, "Asia/Kolkata", loc.String())
		require.Equal(t, want, weekStarts)
		require.Equal(t, 4*time.Hour+30*time.Minute, dayStarts)
	}
}

func TestBoundsOfABoard(t *testing.T) {
	t.Parallel()
	low, high, change := Board{}.ScoreBounds()
	require.EqualValues(t, []int64{-MaxScore, MaxScore, 2 * MaxScore}, []int64{low, high, change})
	low, high, change = Board{Min: new(int64(0)), Max: new(int64(9)), MaxChange: 3}.ScoreBounds()
	require.EqualValues(t, []int64{0, 9, 3}, []int64{low, high, change})
}

// anyDefinition draws definitions that are refused and such that are not.
func anyDefinition(t *rapid.T) Board {
	maybe := func(label string) bool { return rapid.IntRange(0, 3).Draw(t, label+"?") == 0 }
	word := func(label string, words ...string) string {
		return rapid.SampledFrom(append([]string{"", "", ""}, words...)).Draw(t, label)
	}
	moment := func(label string) time.Time {
		if !maybe(label) {
			return time.Time{}
		}
		return time.UnixMilli(rapid.Int64Range(0, maxTime.UnixMilli()-1).Draw(t, label))
	}
	seconds := func(label string) time.Duration {
		if !maybe(label) {
			return 0
		}
		return time.Duration(rapid.Int64Range(1, int64(maxDuration/time.Second)).Draw(t, label)) * time.Second
	}
	label := func(name string, texts ...string) Label {
		switch {
		case !maybe(name):
			return nil
		case maybe(name + " of one language"):
			return Label{"": rapid.SampledFrom(texts).Draw(t, name)}
		}
		l := make(Label)
		for range rapid.IntRange(0, 3).Draw(t, name+" languages") {
			l[rapid.SampledFrom([]string{"en", "zh", "zh-hant-TW", "PT-br", "iw", "x"}).Draw(t,
				name+" language")] = rapid.SampledFrom(texts).Draw(t, name)
		}
		return l
	}
	d := Board{
		Name:        rapid.SampledFrom([]string{"stars", "fans:{star}", "hot:{genre}:{device}"}).Draw(t, "board"),
		Mode:        Mode(word("mode", "sum", "best", "last")),
		Order:       Order(word("order", "desc", "asc")),
		Ties:        Ties(word("ties", "first", "shared", "dense", "member")),
		Period:      word("period", "hour", "day", "week", "month", "year", "36h", "7d", "90m"),
		Timezone:    word("timezone", "UTC", "Asia/Shanghai"),
		WeekStarts:  word("week_starts", weekdays...),
		DayStartsAt: word("day_starts_at", "00:00", "04:00"),
		Base:        moment("base"),
		Starts:      moment("starts"),
		Ends:        moment("ends"),
		Retain:      seconds("retain"),
		MemberTTL:   seconds("member_ttl"),
		TieSpan:     seconds("tie_span"),
		Kind:        word("kind", "star", "user"),
		Title:       label("title", "Stars", "{star}", "Fans of {star}!", "{genre} on {device}", "\"<b>&{"),
		Description: label("description", "What counts", "{star}{star}"),
		Icon:        word("icon", "/icon.svg", "https://example.org/i.png", "http://example.org/i.png"),
		Display: Display{Unit: label("unit", "€", "\"\\", "vote|votes"), Decimals: rapid.IntRange(0, 6).Draw(t, "decimals"),
			Format: word("format", "time_ms")},
	}
	if maybe("keep") {
		d.Keep = new(rapid.IntRange(0, maxKeep).Draw(t, "keep"))
	}
	if maybe("min") {
		d.Min = new(rapid.Int64Range(-MaxScore, MaxScore).Draw(t, "min"))
	}
	if maybe("max") {
		d.Max = new(rapid.Int64Range(-MaxScore, MaxScore).Draw(t, "max"))
	}
	if maybe("limit") {
		d.Limit = rapid.Int64Range(1, maxLimit).Draw(t, "limit")
	}
	if maybe("max_change") {
		d.MaxChange = rapid.Int64Range(1, MaxScore).Draw(t, "max_change")
	}
	if maybe("history") {
		d.History = time.Duration(rapid.Int64Range(9, 86401).Draw(t, "history")) * time.Second
	}
	if maybe("ids") {
		d.IDs = time.Duration(rapid.Int64Range(599, 604801).Draw(t, "ids")) * time.Second
	}
	if maybe("max_instances") {
		d.MaxInstances = rapid.IntRange(1, maxInstances).Draw(t, "max_instances")
	}
	return d
}

// The law of definitions: normalizing twice is normalizing once, and JSON says all.
func TestDefinitionsRoundTrip(t *testing.T) {
	t.Parallel()
	accepted := 0 // about one in eleven; that none is would be chance in a few draws
	proptest.Check(t, 2000, func(t *rapid.T) {
		given := anyDefinition(t)
		d, err := given.Normalize()
		if err != nil {
			var fe *FieldError
			require.ErrorAs(t, err, &fe)
			field, _, _ := strings.Cut(fe.Field, ".") // of a path such as title.zh
			require.Contains(t, boardFields, field)
			return
		}
		accepted++
		sameDefinition(t, d)
	})
	require.NotZero(t, accepted)
}

func sameDefinition(t require.TestingT, d Board) {
	again := redistest.Must(d.Normalize())(t)
	require.Equal(t, d, again)
	b := redistest.Must(json.Marshal(d))(t)
	parsed := redistest.Must(ParseBoard(d.Name, b))(t, string(b))
	require.Equal(t, d, parsed)
	var decoded Board
	require.NoError(t, json.Unmarshal(b, &decoded))
	require.Equal(t, d, decoded)
	require.Empty(t, d.IncompatibleField(decoded))
}

func TestDefinitionsAreDecodedWithTheirNames(t *testing.T) {
	t.Parallel()
	var d Board
	require.NoError(t, json.Unmarshal([]byte(`{"period":"day","board":"stars"}`), &d))
	require.Equal(t, "stars", d.Name)
	require.Equal(t, "UTC", d.Timezone)
	for body, field := range map[string]string{`{}`: "board", `{"board":null}`: "board", `{"board":"A"}`: "board",
		`{"board":"a","x":1}`: "x", `[]`: "body"} {
		refused(t, json.Unmarshal([]byte(body), &d), field, body)
	}
}
