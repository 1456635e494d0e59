//go:build !race

package e2e

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

// volatile are the texts that differ at each run. An example matches any text of the same form.
// The first that matches counts.
var volatile = []struct {
	name string
	text *regexp.Regexp
}{
	{"time", regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)},
	{"hour", regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\dZ`)},
	{"week by its first day", regexp.MustCompile(`\d{4}-\d\d-\d\dw\b`)},
	{"date", regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`)},
	{"week", regexp.MustCompile(`\b\d{4}-W\d\d\b`)},
	{"month", regexp.MustCompile(`\b\d{4}-\d\d\b`)},
	{"year", regexp.MustCompile(`@\d{4}\b`)},
	{"uuid", regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)},
	{"random text", regexp.MustCompile(`\b([A-Z2-7]{26}|[A-Z2-7]{12})\b`)}, // crypto/rand.Text; an epoch is its start
}

// steady replaces what is volatile in a text by the name of its form.
func steady(text string) string {
	for _, v := range volatile {
		text = v.text.ReplaceAllLiteralString(text, "⟨"+v.name+"⟩")
	}
	return text
}

// matchText reports whether got is as want says, in which rest stands for any text.
func matchText(want, got string) bool {
	parts := strings.Split(steady(want), rest)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^(?s:" + strings.Join(parts, ".*") + ")$").MatchString(steady(got))
}

// matchLines compares the lines of an output. A line of want that is only rest stands for any
// lines.
func matchLines(want, got string) error {
	wants, gots := textLines(want), textLines(got)
	for i, line := range wants {
		if strings.TrimSpace(line) == rest {
			for skip := 0; skip <= len(gots)-i; skip++ {
				if matchLines(strings.Join(wants[i+1:], "\n"), strings.Join(gots[i+skip:], "\n")) == nil {
					return nil
				}
			}
			return fmt.Errorf("nothing after line %d is as the lines after …", i)
		}
		if i == len(gots) {
			return fmt.Errorf("line %d is missing: %q", i+1, line)
		}
		if !matchText(line, gots[i]) {
			return fmt.Errorf("line %d: want %q, got %q", i+1, line, gots[i])
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

// matchJSON compares a decoded value with that of an example. The error names the place.
func matchJSON(place string, want, got any) error {
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
			if err := matchJSON(place+"."+key, want[key], got[key]); err != nil {
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
			if err := matchJSON(fmt.Sprintf("%s[%d]", place, i), want[i], got[i]); err != nil {
				return err
			}
		}
		return nil
	case string:
		got, is := got.(string)
		if !is || !matchText(want, got) && !(year.MatchString(want) && year.MatchString(got)) {
			return differ()
		}
		return nil
	}
	if want != got { // a number is compared as it is written
		return differ()
	}
	return nil
}

// year is the name of a period of a year.
var year = regexp.MustCompile(`^\d{4}$`)

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

// matchValues compares texts of JSON values.
func matchValues(want, got string) error {
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
		if err := matchJSON(place, wants[i], gots[i]); err != nil {
			return err
		}
	}
	return nil
}

func TestDocsMatcher(t *testing.T) {
	t.Parallel()
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
		{`"2026"`, `"2031"`, ""},
		{`2026`, `2031`, "want 2026, got 2031"},
		{`{"epoch":"ABCDEFGHIJK2"}`, `{"epoch":"ZZZZZZZZZZZ7"}`, ""},
		{`{"epoch":"ABCDEFGHIJK2"}`, `{"epoch":""}`, "value.epoch"},
		{"{\"a\":1}\n{\"a\":2}", `{"a":1}{"a":2}`, ""},
		{"{\"a\":1}\n{\"a\":2}", `{"a":1}{"a":3}`, "value 2.a: want 2, got 3"},
		{`{"a":1}`, ``, "want 1 values, got 0"},
		{`{"a":1}`, `curl: (7) failed`, "what came is not JSON"},
		{`{"a":…}`, `{"a":1}`, "the example is not JSON"},
	} {
		err := matchValues(c.want, c.got)
		if c.says == "" {
			require.NoError(t, err, "%s and %s", c.want, c.got)
		} else {
			require.ErrorContains(t, err, c.says, "%s and %s", c.want, c.got)
		}
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
		{"until 2026-11-20\n", "until noon\n", "line 1"},
	} {
		err := matchLines(c.want, c.got)
		if c.says == "" {
			require.NoError(t, err, "%q and %q", c.want, c.got)
		} else {
			require.ErrorContains(t, err, c.says, "%q and %q", c.want, c.got)
		}
	}
}
