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

// yamlFault names the line of an error of the YAML parser, with the words of the parser, which may name an anchor of the
// file.
func yamlFault(file []byte, err error) string {
	lines := strings.Split(string(file), "\n")
	if i := slices.IndexFunc(lines, func(line string) bool { return !utf8.ValidString(line) }); i >= 0 {
		return fmt.Sprintf("is not UTF-8 in line %d: %q", i+1, Clip(strings.TrimSpace(lines[i])))
	}
	load, ok := errors.AsType[*yaml.LoadError](err)
	if !ok || load.Mark.Line < 1 || load.Mark.Line > len(lines) {
		return "is not valid YAML: " + HideLongWords(err.Error())
	}
	reason := HideLongWords(load.Message)
	if from := load.ContextMark.Line; from > 0 && from != load.Mark.Line {
		reason += fmt.Sprintf(", %s from line %d", load.ContextMsg, from)
	}
	return fmt.Sprintf("is not valid YAML in line %d: %s: %s", load.Mark.Line, reason, Clip(strings.TrimSpace(lines[load.Mark.Line-1])))
}

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

// unknown refuses a field that the object at path does not have. what names the object.
func (f FieldValue) unknown(path, what string, fields []string) error {
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
