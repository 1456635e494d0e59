package definition

import (
	"errors"
	"fmt"
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
