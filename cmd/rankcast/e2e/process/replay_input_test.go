//go:build !race

package process

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

func TestReplayReadsWhatWasRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text string
		args       []string
		path, body string
	}{
		"CSV": {"a.csv", "member,score,more\nann,3,x\n\"b,\"\"b\",-4,\n", []string{"--board", "b:1"},
			"POST /v1/boards/b:1/scores", `{"updates":[{"member":"ann","score":3,"id":"p-2"},{"member":"b,\"b","score":-4,"id":"p-3"}]}`},
		"CSV with a mark, op and ids": {"a.csv", "\ufeffmember,score,op,id\r\nann,3,best,x1\r\n\r\nbob,4,,\r\n", []string{"--board", "b"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"ann","score":3,"op":"best","id":"x1"},{"member":"bob","score":4,"id":"p-4"}]}`},
		"names of its own": {"a.csv", "who,points,how,key\nann,3,last,x1\n", []string{"--board", "b", "--member", "who", "--score",
			"points", "--op", "how", "--id", "key"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"ann","score":3,"op":"last","id":"x1"}]}`},
		"a line of several lines": {"a.csv", "member,score,text\nann,3,\"a\nb\nc\"\nbob,4,d\n", []string{"--board", "b"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"ann","score":3,"id":"p-2"},{"member":"bob","score":4,"id":"p-5"}]}`},
		"NDJSON": {"a.ndjson", "{\"member\":\"ann\",\"score\":3,\"x\":[1]}\n\n{\"member\":\"17\",\"score\":4,\"id\":\"i\",\"op\":\"sum\"}",
			[]string{"--board", "b"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"ann","score":3,"id":"p-1"},{"member":"17","score":4,"op":"sum","id":"i"}]}`},
		"from a line on": {"a.csv", "member,score\nann,3\nbob,4\n", []string{"--board", "b", "--from", "3"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"bob","score":4,"id":"p-3"}]}`},
		"events, CSV": {"a.csv", "id,star,user,flowers,less,n,at,more\ng1,17,007,3,-1,2,soon,x\n,s18,u5,4,0,2.50,1795161600000,\n",
			[]string{"--event", "gift", "--numbers", "n"},
			"POST /v1/events/gift",
			`{"events":[{"at":"soon","flowers":3,"id":"g1","less":-1,"n":2,"star":"17","user":"007"},{"at":"1795161600000",` +
				`"flowers":4,"id":"p-3","less":0,"n":2.50,"star":"s18","user":"u5"}]}`},
		"events, CSV at speed": {"a.csv", "at,star,user,flowers,less,n\n2026-11-20,s17,u,3,4,5\n",
			[]string{"--event", "gift", "--speed", "1", "--id", "user"},
			"POST /v1/events/gift", `{"events":[{"at":"2026-11-20","flowers":3,"id":"u","less":4,"n":"5","star":"s17","user":"u"}]}`},
		"events, NDJSON": {"a", `{"star":"s17","user":"u","flowers":3,"less":4,"at":{"deep":[1,2.50,null]},"n":true,"more":7}`,
			[]string{"--event", "gift"},
			"POST /v1/events/gift", `{"events":[{"at":{"deep":[1,2.50,null]},"flowers":3,"id":"p-1","less":4,"n":true,"star":"s17","user":"u"}]}`},
		"at speed": {"a.csv", "member,score,at\nann,3,2026-11-20T08:00:00Z\nbob,4,2026-11-20T08:00:00+00:00\n",
			[]string{"--board", "b", "--speed", "1"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"ann","score":3,"id":"p-2"},{"member":"bob","score":4,"id":"p-3"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			f := startFake(t, nil)
			got := e2etest.Run(t, "", append([]string{"replay", e2etest.Write(t, c.file, c.text),
				"--id-prefix", "p", "--server", f.URL}, c.args...)...)
			require.Zero(t, got.Code, got.Stderr)
			require.Equal(t, []string{c.path}, f.paths)
			require.JSONEq(t, c.body, f.bodies[0])
			require.Empty(t, got.Stderr)
		})
	}
}

// The command names the line of each fault before it sends anything.
func TestReplayRefusesBadInput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70_000)
	for name, c := range map[string]struct {
		text string
		args []string
		says string
	}{
		"no member column": {"who,score\nann,3\n", nil,
			"line 1: member: is no column here; there are who, score; name it with --member COLUMN"},
		"no score column": {"member,points\nann,3\n", nil,
			"line 1: score: is no column here; there are member, points; name it with --score COLUMN"},
		"no time column":     {"member,score\nann,3\n", []string{"--speed", "2"}, "line 1: at: is no column"},
		"no column given":    {"member,score\nann,3\n", []string{"--op", "how"}, "line 1: how: is no column"},
		"a column twice":     {"member,score,score\nann,3,4\n", nil, "line 1: score: is given twice"},
		"too few fields":     {"member,score\nann,3\nbob\n", nil, "line 3: has 1 fields; want 2"},
		"a stray quote":      {"member,score\nann,3\nb\"ob,4\n", nil, `line 3: bare "`},
		"no member":          {"member,score\nann,3\n,4\n", nil, "line 3: member: is missing"},
		"no score":           {"member,score\nann,\n", nil, "line 2: score: is missing"},
		"a score in words":   {"member,score\nann,three\n", nil, `line 2: score: is "three"; want a number`},
		"a fraction":         {"member,score\nann,1.5\n", nil, "line 2: score: is 1.5; want an integer: send seconds as milliseconds"},
		"a score too large":  {"member,score\nann,9007199254740992\n", nil, "line 2: score: is 9007199254740992"},
		"a long member":      {"member,score\n" + long[:129] + ",3\n", nil, "line 2: member: has 129 bytes"},
		"a control":          {"member,score\na\x01,3\n", nil, "line 2: member: has the control character U+0001"},
		"not UTF-8":          {"member,score\na\xff,3\n", nil, "line 2: is not UTF-8"},
		"an op":              {"member,score,op\nann,3,most\n", nil, `line 2: op: is "most"`},
		"a time":             {"member,score,at\nann,3,soon\n", []string{"--speed", "2"}, `line 2: at: is "soon"`},
		"no time":            {"member,score,at\nann,3,2026-11-20\nbob,4,\n", []string{"--speed", "2"}, "line 3: at: is missing"},
		"a quote left open":  {"member,score\nann,3\n\"" + strings.Repeat(long, 3) + ",3\n", nil, "line 3: is over 65536 bytes"},
		"a long line":        {`{"member":"ann","score":1}` + "\n" + `{"member":"` + long + `"}`, nil, "line 2: is over 65536 bytes"},
		"not JSON":           {`{"member":"ann","score":1}` + "\n" + `{"member":`, nil, "line 2: is not valid JSON"},
		"not an object":      {`{"member":"ann","score":1}` + "\n7\n", nil, "line 2: is no JSON object"},
		"a field twice":      {`{"member":"ann","score":1,"score":2}`, nil, "line 1: is not valid JSON"},
		"a list":             {`[{"member":"ann","score":1}]`, nil, "line 1: is a JSON list"},
		"a member by number": {`{"member":17,"score":1}`, nil, "line 1: member: is 17; want a string"},
		"an id by number":    {`{"member":"a","score":1,"id":7}`, nil, "line 1: id: is 7; want a string"},
		"a score as text":    {`{"member":"a","score":"1"}`, nil, `line 1: score: is "1"; want an integer`},
		"nothing":            {"", nil, "has no lines to send"},
		"a head alone":       {"member,score\n", nil, "has no lines to send"},
		"beyond its end":     {"member,score\nann,3\n", []string{"--from", "3"}, "it ends with line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			f := startFake(t, nil)
			got := e2etest.Run(t, "", append([]string{"replay", e2etest.Write(t, "in", c.text), "--board", "b", "--server", f.URL}, c.args...)...)
			got.Fails(t, 1, c.says)
			require.Empty(t, f.bodies)
		})
	}
	const event = "star,user,flowers,less,n,at\ns17,u,3,4,5,6\n"
	for name, c := range map[string]struct {
		text, says string
		args       []string
	}{
		"no column for a field":   {"star,user,flowers,less,n\n", "line 1: at: is no column", nil},
		"nothing for a field":     {event + "s17,,3,4,5,6\n", "line 3: user: is missing; event gift has at, flowers, less, n, star, user", nil},
		"no number":               {event + "s17,u,three,4,5,6\n", `line 3: flowers: is "three"; want a number`, nil},
		"a fraction":              {event + "s17,u,1.5,4,5,6\n", "line 3: flowers: is 1.5; want an integer: send seconds as milliseconds", nil},
		"a score too large":       {event + "s17,u,3,9007199254740992,5,6\n", "line 3: less: is 9007199254740992", nil},
		"a part that none can be": {event + "s:17,u,3,4,5,6\n", "line 3: star: has ':', which no part may have", nil},
		"a long member":           {event + "s17," + long[:129] + ",3,4,5,6\n", "line 3: user: has 129 bytes", nil},
		"data too long":           {event + "s17,u,3,4,5," + long[:250] + "\n", "line 3: at: makes the data on board givers", nil},
		"text as a number":        {event, "--numbers: star is text", []string{"--numbers", "star"}},
		"a number that is nowhere": {event, "--numbers: what is no field of event gift; its fields are at, flowers, less, n, star, user",
			[]string{"--numbers", "what"}},
		"a field of another type": {`{"star":17,"user":"u","flowers":3,"less":4,"n":5,"at":6}`, "line 1: star: is 17; want a string", nil},
		"a field too few":         {`{"star":"s17","user":"u","flowers":3,"less":4,"n":5}`, "line 1: at: is missing", nil},
		"null":                    {`{"star":"s17","user":"u","flowers":3,"less":4,"n":5,"at":null}`, "line 1: at: is null", nil},
	} {
		t.Run("event, "+name, func(t *testing.T) {
			f := startFake(t, nil)
			got := e2etest.Run(t, "", append([]string{"replay", e2etest.Write(t, "in", c.text), "--event", "gift", "--server", f.URL}, c.args...)...)
			got.Fails(t, 1, c.says)
			require.Empty(t, f.bodies)
		})
	}
	f := startFake(t, nil)
	f.event = `{"event":"gift","updates":[{"board":"b","member":"m","score":1,"shards":2}]}`
	got := e2etest.Run(t, "", "replay", e2etest.Write(t, "in", event), "--event", "gift", "--server", f.URL)
	got.Fails(t, 1, `this version cannot decode the definition of event "gift": updates[0].shards`)
	require.Empty(t, f.bodies)
	for _, args := range [][]string{{"replay", "x"}, {"replay", "x", "--board", "b", "--event", "e"},
		{"replay", "x", "--board", "b", "--batch", "1001"}, {"replay", "x", "--board", "b", "--speed=-1"}} {
		require.Equal(t, 80, e2etest.Run(t, "", args...).Code, args)
	}
	require.Contains(t, e2etest.Run(t, "", "replay", "/nowhere.csv", "--board", "b").Stderr, "nowhere")
}

// The help says that a board or an event is wanted, and shows both; so does a run that
// has neither.
func TestReplayWantsOneTarget(t *testing.T) {
	t.Parallel()
	help := e2etest.Run(t, "", "replay", "--help").Stdout
	require.Contains(t, help, "Usage: rankcast replay <file> [flags]")
	require.Contains(t, help, "Needs either --board or --event.")
	require.Contains(t, help, "rankcast replay gifts.csv --event gift")
	for want, args := range map[string][]string{
		"give one of --board=NAME and --event=NAME":  {"replay", "x"},
		"--board and --event can't be used together": {"replay", "x", "--board", "b", "--event", "e"},
	} {
		got := e2etest.Run(t, "", args...)
		got.Fails(t, 80, want)
	}
	require.Equal(t, 80, e2etest.Run(t, "", "replay", "x", "--board", "").Code)
}
