//go:build !race

package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rest is what an example writes in place of what it leaves out.
const rest = "…"

// volatile are the forms of the texts that differ at each run. An example matches any text of the
// same form. The first form that matches counts; the last one is rest.
var volatile = []string{
	`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`, // a time
	`\d{4}-\d\d-\d\dT\d\dZ`, // an hour
	`\d{4}-\d\d-\d\dw\b`,    // a week by its first day
	`\b\d{4}-\d\d-\d\d\b`,   // a date
	`\b\d{4}-W\d\d\b`,       // a week
	`\b\d{4}-\d\d\b`,        // a month
	`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`, // a uuid
	`\b(?:[A-Z2-7]{26}|[A-Z2-7]{12})\b`,               // crypto/rand.Text; an epoch is its start
	rest,
}

var anyVolatile = regexp.MustCompile("(" + strings.Join(volatile, ")|(") + ")")

// matcher compares the actual output with the expected output of one block. It maps each volatile
// text of the expected output to the actual text in its place, which must be the same each time.
type matcher map[string]string

// text compares a text with that of an example, in which rest stands for any text.
func (m matcher) text(want, got string) error {
	differ := fmt.Errorf("want %q, got %q", want, got)
	var pattern strings.Builder
	var names []string // of the groups of pattern
	end := 0
	for _, at := range anyVolatile.FindAllStringSubmatchIndex(want, -1) {
		pattern.WriteString(regexp.QuoteMeta(want[end:at[0]]))
		end = at[1]
		name := want[at[0]:at[1]]
		if name == rest {
			pattern.WriteString(".*")
			continue
		}
		for form := range volatile {
			if at[2+2*form] >= 0 { // the group of the form
				pattern.WriteString("(" + volatile[form] + ")")
			}
		}
		names = append(names, name)
	}
	pattern.WriteString(regexp.QuoteMeta(want[end:]))
	found := regexp.MustCompile("^(?s:" + pattern.String() + ")$").FindStringSubmatch(got)
	if found == nil {
		return differ
	}
	for i, name := range names {
		if before, known := m[name]; known && before != found[i+1] {
			return fmt.Errorf("%w: %s stands for %s, and stood for %s before", differ, name, found[i+1], before)
		}
		m[name] = found[i+1]
	}
	return nil
}

// lines compares the lines of an output. A line of want that is only rest stands for any lines.
func (m matcher) lines(want, got string) error {
	wants, gots := textLines(want), textLines(got)
	for i, line := range wants {
		if strings.TrimSpace(line) == rest {
			for skip := 0; skip <= len(gots)-i; skip++ {
				if maps.Clone(m).lines(strings.Join(wants[i+1:], "\n"), strings.Join(gots[i+skip:], "\n")) == nil {
					return nil
				}
			}
			return fmt.Errorf("nothing after line %d is as the lines after …", i)
		}
		if i == len(gots) {
			return fmt.Errorf("line %d is missing: %q", i+1, line)
		}
		if err := m.text(line, gots[i]); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if len(gots) > len(wants) {
		return fmt.Errorf("line %d is too much: %q", len(wants)+1, gots[len(wants)])
	}
	return nil
}

// textLines splits a text into lines, without space at their ends and empty lines at its end.
func textLines(text string) []string {
	text = strings.TrimRight(text, " \t\r\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return lines
}

// json compares a decoded value with that of an example. The error names the place.
func (m matcher) json(place string, want, got any) error {
	if want == rest {
		return nil
	}
	differ := func() error {
		return fmt.Errorf("%s: want %s, got %s", place, asJSON(want), asJSON(got))
	}
	switch want := want.(type) {
	case map[string]any:
		got, is := got.(map[string]any)
		if !is {
			return differ()
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if key == rest {
				continue
			}
			if _, has := got[key]; !has {
				return fmt.Errorf("%s.%s is missing", place, key)
			}
			if err := m.json(place+"."+key, want[key], got[key]); err != nil {
				return err
			}
		}
		if _, more := want[rest]; more {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(got)) {
			if _, has := want[key]; !has {
				return fmt.Errorf("%s.%s is too much: %s", place, key, asJSON(got[key]))
			}
		}
		return nil
	case []any:
		got, is := got.([]any)
		if !is {
			return differ()
		}
		if len(want) > 0 && want[len(want)-1] == rest {
			want = want[:len(want)-1]
			got = got[:min(len(want), len(got))]
		}
		if len(want) != len(got) {
			return fmt.Errorf("%s: want %d elements, got %d: %s", place, len(want), len(got), asJSON(got))
		}
		for i := range want {
			if err := m.json(fmt.Sprintf("%s[%d]", place, i), want[i], got[i]); err != nil {
				return err
			}
		}
		return nil
	case string:
		got, is := got.(string)
		if !is {
			return differ()
		}
		if err := m.text(want, got); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		return nil
	}
	if want != got { // a number is compared as it is written
		return differ()
	}
	return nil
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// values decodes a text of JSON values.
func values(text string) ([]any, error) {
	var all []any
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		d.UseNumber()
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

// values compares texts of JSON values.
func (m matcher) values(want, got string) error {
	wants, err := values(want)
	if err != nil {
		return fmt.Errorf("the example is not JSON: %w", err)
	}
	gots, err := values(got)
	if err != nil {
		return fmt.Errorf("what came is not JSON: %w", err)
	}
	if len(wants) != len(gots) {
		return fmt.Errorf("want %d values, got %d", len(wants), len(gots))
	}
	for i := range wants {
		place := "value"
		if len(wants) > 1 {
			place = fmt.Sprintf("value %d", i+1)
		}
		if err := m.json(place, wants[i], gots[i]); err != nil {
			return err
		}
	}
	return nil
}

func TestDocsMatcher(t *testing.T) {
	t.Parallel()
	says := func(err error, says, want, got string) {
		t.Helper()
		if says == "" {
			require.NoError(t, err, "%q and %q", want, got)
		} else {
			require.ErrorContains(t, err, says, "%q and %q", want, got)
		}
	}
	for _, c := range []struct{ want, got, says string }{
		{`{"a":1,"b":[true,null]}`, "{\n  \"b\": [true, null],\n  \"a\": 1\n}\n", ""},
		{`{"a":1}`, `{"a":2}`, "value.a: want 1, got 2"},
		{`{"a":1}`, `{"a":"1"}`, "value.a: want 1, got \"1\""},
		{`{"a":"1"}`, `{"a":1}`, "value.a: want \"1\", got 1"},
		{`{"a":1}`, `{"a":1,"b":2}`, "value.b is too much: 2"},
		{`{"a":1,"b":2}`, `{"a":1}`, "value.b is missing"},
		{`{"a":null}`, `{}`, "value.a is missing"},
		{`{"a":1,"…":"…"}`, `{"a":1,"b":2}`, ""},
		{`{"a":1,"…":"…"}`, `{"a":3,"b":2}`, "value.a: want 1, got 3"},
		{`{"a":"…"}`, `{"a":{"b":[]}}`, ""},
		{`{"a":"…"}`, `{}`, "value.a is missing"},
		{`[1,"…"]`, `[1,2,3]`, ""},
		{`[1,"…"]`, `[1]`, ""},
		{`[1,"…"]`, `[]`, "want 1 elements, got 0"},
		{`[1,"…"]`, `[2,1]`, "value[0]: want 1, got 2"},
		{`[1]`, `[1,2]`, "want 1 elements, got 2"},
		{`[]`, `{}`, "value: want [], got {}"},
		{`{"top":[{"rank":1}]}`, `{"top":[{"rank":2}]}`, "value.top[0].rank: want 1, got 2"},
		{`"a… b"`, `"a long b"`, ""},
		{`"a… b"`, `"a long c"`, "want"},
		{`"a.b"`, `"axb"`, "want"},
		{`"2026-11-20T12:00:00Z"`, `"2031-01-02T03:04:05.678+08:00"`, ""},
		{`"2026-11-20T12:00:00Z"`, `"2031-01-02"`, "want"},
		{`"2026-11-20"`, `"2031-01-02"`, ""},
		{`"2026-W47"`, `"2031-W01"`, ""},
		{`"2026-W47"`, `"2031-01"`, "want"},
		{`"stars@2026-W47"`, `"stars@2031-W01"`, ""},
		{`"stars@2026-W47"`, `"laps@2031-W01"`, "want"},
		{`{"member":"1234"}`, `{"member":"9999"}`, "value.member: want"},
		{`{"period":"2026"}`, `{"period":"2031"}`, "value.period: want"},
		{`["2026-W47","2026-W47"]`, `["2031-W01","2031-W01"]`, ""},
		{`["2026-W47","2026-W46"]`, `["2031-W01","2031-W01"]`, ""},
		{`["2026-W47","a@2026-W47"]`, `["2031-W01","a@2031-W02"]`,
			"value[1]: want \"a@2026-W47\", got \"a@2031-W02\": 2026-W47 stands for 2031-W02, and stood for 2031-W01 before"},
		{"{\"a\":\"2026-11-20\"}\n{\"a\":\"2026-11-20\"}", `{"a":"2031-01-02"}{"a":"2031-01-03"}`, "value 2.a: want"},
		{`2026`, `2031`, "want 2026, got 2031"},
		{`{"epoch":"ABCDEFGHIJK2"}`, `{"epoch":"ZZZZZZZZZZZ7"}`, ""},
		{`{"epoch":"ABCDEFGHIJK2"}`, `{"epoch":""}`, "value.epoch"},
		{"{\"a\":1}\n{\"a\":2}", `{"a":1}{"a":2}`, ""},
		{"{\"a\":1}\n{\"a\":2}", `{"a":1}{"a":3}`, "value 2.a: want 2, got 3"},
		{`{"a":1}`, ``, "want 1 values, got 0"},
		{`{"a":1}`, `curl: (7) failed`, "what came is not JSON"},
		{`{"a":…}`, `{"a":1}`, "the example is not JSON"},
	} {
		says(matcher{}.values(c.want, c.got), c.says, c.want, c.got)
	}
	for _, c := range []struct{ want, got, says string }{
		{"a\nb\n", "a  \nb\n\n", ""},
		{"a\nb\n", "a\n", `line 2 is missing: "b"`},
		{"a\n", "a\nb\n", `line 2 is too much: "b"`},
		{"a\n", "b\n", `line 1: want "a", got "b"`},
		{"a\n", "", `line 1 is missing: "a"`},
		{"", "a\n", `line 1 is too much: "a"`},
		{"a\n…\nd\n", "a\nb\nc\nd\n", ""},
		{"a\n…\nd\n", "a\nd\n", ""},
		{"a\n…\nd\n", "a\nb\nc\n", "nothing after line 1"},
		{"…\nb\n", "a\nb\nc\n", "nothing after line 0"},
		{"…\n", "", ""},
		{"took … ms\n", "took 12 ms\n", ""},
		{"took … ms\n", "took 12 s\n", "line 1"},
		{"at 2026-11-20T12:00:00Z (2026-W47)\n", "at 2031-01-02T03:04:05Z (2031-W01)\n", ""},
		{"2026-11-20 to 2026-11-20\n", "2031-01-02 to 2031-01-02\n", ""},
		{"2026-11-20 to 2026-11-20\n", "2031-01-02 to 2031-01-03\n", "line 1"},
		{"2026-11-20\n…\n2026-11-20\n", "2031-01-02\n2031-01-03\n", "nothing after line 1"},
		{"until 2026-11-20\n", "until noon\n", "line 1"},
	} {
		says(matcher{}.lines(c.want, c.got), c.says, c.want, c.got)
	}
}
