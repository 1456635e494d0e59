package definition

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// yamlFault words an error of the YAML parser: the line, and the slip that leads to it. The parser
// gives its errors no codes, so yamlFault compares their texts. TestSlipsInAFile has a file for
// each text, and fails when a new version of the parser words one differently.
func yamlFault(file []byte, err error) string {
	lines := strings.Split(string(file), "\n")
	if i := slices.IndexFunc(lines, func(line string) bool { return !utf8.ValidString(line) }); i >= 0 {
		return fmt.Sprintf("is not UTF-8 in line %d: %q", i+1, quoteLine(lines[i]))
	}
	load, ok := errors.AsType[*yaml.LoadError](err)
	if !ok || load.Mark.Line < 1 {
		return fmt.Sprintf("is not valid YAML: %v", err)
	}
	text := func(n int) string {
		if n < 1 || n > len(lines) {
			return ""
		}
		return strings.TrimRight(lines[n-1], "\r")
	}
	at, from := load.Mark.Line, load.ContextMark.Line
	if from < 1 {
		from = at
	}
	before := at - 1
	for before > 0 && blank.MatchString(text(before)) {
		before--
	}
	if strings.Contains(load.ContextMsg, "quoted scalar") && !strings.Contains(load.Message, "found unexpected") {
		return fmt.Sprintf("has a \\ in line %d with which no escape of YAML begins; want the character itself, or \\\\ for a \\: %s",
			at, quoteLine(text(at)))
	}
	for _, n := range []int{at, before} {
		if line := " " + text(n); noSpace.MatchString(line) && !bareFamily.MatchString(line) {
			return fmt.Sprintf("lacks a space after the colon in line %d: %s", n, quoteLine(line))
		}
	}
	switch message := load.Message; {
	case strings.Contains(message, "cannot start any token"):
		rest := []rune(text(at))
		if i := load.Mark.Column - 1; i >= 0 && i < len(rest) {
			if rest[i] == '\t' {
				return fmt.Sprintf("has a tab in line %d; want spaces", at)
			}
			return fmt.Sprintf("has a value in line %d that begins with %q; want quotes around it", at, rest[i])
		}
	case strings.Contains(message, "mapping values are not allowed"):
		if line := text(before); bareWord.MatchString(line) || bareBoard.MatchString(line) {
			return fmt.Sprintf("lacks a colon in line %d: %s", before, quoteLine(line)) + withColon(line)
		}
		return fmt.Sprintf("has one colon too many in line %d: %s; want braces around several fields, such as {mode: best}", at, quoteLine(text(at)))
	case strings.Contains(message, "expected alphabetic or numeric character"):
		return fmt.Sprintf("has a * or an & without quotes in line %d; want \"*\"", at)
	case strings.Contains(message, "could not find expected ':'"):
		return fmt.Sprintf("lacks a colon in line %d: %s", from, quoteLine(text(from))) + withColon(text(from))
	case strings.Contains(load.ContextMsg, "quoted scalar"):
		return fmt.Sprintf("has a quote in line %d that is never closed: %s", from, quoteLine(text(from)))
	case strings.Contains(load.ContextMsg, "flow mapping"), strings.Contains(load.ContextMsg, "flow sequence"):
		for n := from; n <= at; n++ {
			if name := bareFamily.FindStringSubmatch(text(n)); name != nil {
				return fmt.Sprintf("has a name with braces and no quotes in line %d; want %q", n, name[1])
			}
		}
		return fmt.Sprintf("lacks a comma between two fields, or a closing brace, in line %d: %s", from, quoteLine(text(from)))
	case strings.Contains(message, "did not find expected key"), strings.Contains(message, "document start"):
		return fmt.Sprintf("is not valid YAML in line %d: %s; compare its indentation and braces with the lines around it", at, quoteLine(text(at)))
	}
	return fmt.Sprintf("is not valid YAML in line %d: %s", at, load.Message)
}

var (
	noSpace  = regexp.MustCompile(`[{,\s]("[^"]*"|[A-Za-z0-9._-]+):[{[]`) // laps:{mode: best}
	blank    = regexp.MustCompile(`^\s*(#.*)?$`)
	bareWord = regexp.MustCompile(`^\s*[A-Za-z0-9._-]+(\s+[A-Za-z0-9._-]+)?\s*(#.*)?$`) // points, or mode best
)

// bareBoard is a name and its fields without a colon between them.
var bareBoard = regexp.MustCompile(`^\s*([a-z0-9][a-z0-9._-]*)\s+(\{[^{}]*\})`)

// withColon is what a line wants that is a bareBoard; "" for any other line.
func withColon(line string) string {
	if parts := bareBoard.FindStringSubmatch(line); parts != nil {
		return "; want " + parts[1] + ": " + Clip(parts[2])
	}
	return ""
}

// bareFamily is a family without quotes where a brace ends its name.
var bareFamily = regexp.MustCompile(`[{,\s]([a-z0-9][a-z0-9._-]*(:\{[a-z0-9_]+\})+)`)

func quoteLine(line string) string { return Clip(strings.TrimSpace(line)) }

// assignment matches a field and its value with a wrong separator between them.
var assignment = regexp.MustCompile(`^([a-z_]+)(\s*[:=]\s*|\s+)(\S.*)$`)

// lacksColon refuses a text that is one of the fields and its value, without a colon and a
// space between them: mode best, mode:best, mode = best. path is that of the object. It
// returns nil for any other text.
func (v Value) lacksColon(path, text string, fields []string) error {
	parts := assignment.FindStringSubmatch(text)
	if parts == nil || !slices.Contains(fields, parts[1]) {
		return nil
	}
	return Invalid(FieldPath(path, parts[1]), fmt.Sprintf("lacks a colon and a space%s; want %s: %s", v.inLine(), parts[1], Clip(parts[3])))
}

// Unknown refuses a field that the object at path does not have. what names the object.
func (f FieldValue) Unknown(path, what string, fields []string) error {
	if err := f.lacksColon(path, f.Name, fields); err != nil {
		return err
	}
	return f.Refuse("is not a field of %s; want %s", what, either(fields))
}

// either lists words: one of a, b, c for many, a, b or c for few.
func either(words []string) string {
	const few = 6
	if n := len(words); n > 1 && n <= few {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	} else if n > few {
		return "one of " + strings.Join(words, ", ")
	}
	return strings.Join(words, "")
}

// inLine names the line of a value of YAML, after a space; "" for JSON.
func (v Value) inLine() string {
	if v.line == 0 {
		return ""
	}
	return fmt.Sprintf(" in line %d", v.line)
}

// hint is what want adds for a value of YAML that is likely a slip.
func (v Value) hint(want string) string {
	switch {
	case v.line == 0:
		return ""
	case v.Kind == '[' && !strings.HasPrefix(want, "a list"):
		return "; omit the hyphens or brackets" + v.inLine()
	case v.Kind == '{' && want == "a string" && len(v.Fields) == 1 && v.Fields[0].Kind == 'n':
		return fmt.Sprintf("; put quotes around \"{%s}\"%s", Clip(v.Fields[0].Name), v.inLine())
	}
	return ""
}
